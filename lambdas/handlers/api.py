"""From a proxy event to the service and back: bodies, keys, and the one place that turns errors into responses."""

import base64
import hashlib
import json
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from lambdas import errors, wiring
from lambdas.observability import count_refusal, logger, tracer
from lambdas.registry import Participant

MAX_BODY_BYTES = 64 * 1024  # a translation of the longest kind, with every character written as an escape
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

Event = dict[str, Any]


class ProxyEvent(APIGatewayProxyEvent):
    """A proxy event whose headers are read once. (As it comes, it reads all of them at every look at one.)"""

    @cached_property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in (self.raw_event.get("headers") or {}).items()}

    @property
    def resolved_headers_field(self) -> dict[str, str]:
        return self.headers


class Request(APIGatewayRestResolver):
    """A resolver for one thread. As it comes, it keeps the current event in a class, where all threads would share it,
    and where every change makes the interpreter forget what it knows of the class.
    """

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG002 (Lambda gives it)
        self._event = ProxyEvent(dict(event))
        try:
            return self._build_response(self._resolve())
        finally:
            self.context.clear()

    @property
    def current_event(self) -> ProxyEvent:  # type: ignore[override] # there it is an attribute, which all would share
        return self._event

    def participant(self) -> Participant:
        """Whose key came with the request: the one that API Gateway has checked and metered, if it names one.

        A request can carry the header several times, and two readers need not choose the same.
        """
        context = self.current_event.raw_event.get("requestContext") or {}
        checked = (context.get("identity") or {}).get("apiKey")
        return wiring.service().authenticate(checked or self.header("x-api-key"))

    def header(self, name: str) -> str | None:
        return self.current_event.headers.get(name)

    def wants(self, kind: str) -> bool:
        """Is the answer asked for as ``kind`` of text, by the query or else by what the client accepts?"""
        asked = (self.current_event.query_string_parameters or {}).get("format")
        return asked == kind if asked else (self.header("accept") or "").startswith(f"text/{kind}")

    def text_fields(self, *names: str) -> list[str]:
        """The named fields of a JSON object, which must all be strings."""
        body = _json_object(self.current_event.raw_event)
        values = [body.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, str):
                raise errors.BadRequestError(f"the field {name} is missing or not a string")
        return [value for value in values if isinstance(value, str)]

    @property
    def route_name(self) -> str:
        """Method and template of the path, as they are in the list of routes."""
        return f"{self.current_event.raw_event.get('httpMethod')} {self.current_event.raw_event.get('resource')}"

    @property
    def request_id(self) -> str:
        context = self.current_event.raw_event.get("requestContext") or {}
        return str(context.get("requestId") or "")


class Function:
    """A Lambda function: its routes, and a resolver for each thread that calls it."""

    def __init__(self, routes: Callable[[Request], None]) -> None:
        self._routes = routes
        self._threads = threading.local()
        self._call: Callable[[Event, Any], dict[str, Any]] = self._resolve
        if not tracer.disabled:  # it is outside Lambda, where its wrapper would still cost a sixth of a request
            self._call = tracer.capture_lambda_handler(capture_response=False, capture_error=False)(self._resolve)

    def __call__(self, event: Event, context: Any) -> dict[str, Any]:
        return self._call(event, context)

    def _resolve(self, event: Event, context: Any) -> dict[str, Any]:
        request: Request | None = getattr(self._threads, "request", None)
        if request is None:
            request = self._threads.request = Request(serializer=to_json)
            self._routes(request)
            _map_errors(request)
        response = request.resolve(event, context)
        if logger.log_level <= logging.DEBUG:  # what is written costs more than to see that it is not
            logger.debug("request", route=request.route_name, status=response["statusCode"])
        return response


to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response[str]:
    """A JSON response that nobody on the way keeps."""
    return Response(status, content_type="application/json", body=to_json(body), headers={**HEADERS, **(headers or {})})


def revisited(request: Request, body: str, content_type: str, more: Mapping[str, str] | None = None) -> Response[str]:
    """A response that a client may keep, and ask about: it is sent again only if it has changed."""
    etag = f'"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'
    kept = {"Cache-Control": "private, no-cache", "ETag": etag, "Vary": "Accept, x-api-key"}
    headers = {**HEADERS, **kept, **(more or {})}
    known = [each.strip().removeprefix("W/") for each in (request.header("if-none-match") or "").split(",")]
    if etag in known or "*" in known:
        return Response(304, headers=headers)
    return Response(200, content_type=content_type, body=body, headers=headers)


def _json_object(event: Mapping[str, Any]) -> dict[str, Any]:
    body: str | bytes = event.get("body") or ""
    in_base64 = bool(event.get("isBase64Encoded"))
    # characters first: what is too long in those need not be encoded to be measured
    limit = MAX_BODY_BYTES * 4 // 3 if in_base64 else MAX_BODY_BYTES
    if len(body) > limit or (isinstance(body, str) and len(body.encode(errors="surrogatepass")) > limit):
        raise errors.TooLargeError(f"the body of a request has at most {MAX_BODY_BYTES:,} bytes")
    try:
        parsed = json.loads(base64.b64decode(body, validate=True) if in_base64 else body)
    except (ValueError, RecursionError):  # not base64, not UTF-8, not JSON, or nested without end
        raise errors.BadRequestError("the body of the request is not JSON in UTF-8") from None
    if not isinstance(parsed, dict):
        raise errors.BadRequestError("the body of the request is not a JSON object")
    return parsed


def _map_errors(request: Request) -> None:
    """The one place that maps exceptions to responses."""

    def refuse(error: errors.ServiceError) -> Response[str]:
        count_refusal(request.route_name, error.code)
        retry = {"Retry-After": str(error.retry_after)} if error.retry_after else None
        return answer(error.as_dict(request.request_id), error.status, retry)

    def refused(error: errors.ServiceError) -> Response[str]:
        if error.status >= 500:
            _log_failure(error, request.request_id)
        return refuse(error)

    def failed(error: Exception) -> Response[str]:
        _log_failure(error, request.request_id)
        return refuse(errors.InternalError())

    def not_found(_: Exception) -> Response[str]:
        return refuse(errors.NotFoundError())

    request.exception_handler(errors.ServiceError)(refused)
    request.exception_handler(Exception)(failed)
    request.not_found(not_found)


def _log_failure(error: BaseException, request_id: str) -> None:
    """Where it happened, but not what the exception says: its text could quote a reference or a translation."""
    chain, cause = [], error.__cause__
    while cause is not None:
        chain.append(type(cause).__name__)
        cause = cause.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger.error(
        "request failed", failure=type(error).__name__, caused_by=chain, where=where, failed_request=request_id
    )
