"""What turns a proxy event into a call of the service, and its result or error into a response."""

import base64
import hashlib
import json
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder, Route
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from lambdas import errors, wiring
from lambdas.observability import count_refusal, logger
from lambdas.registry import Participant

MAX_BODY_BYTES = 64 * 1024  # the longest translation fits, even with every character escaped
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

Event = dict[str, Any]


class ProxyEvent(APIGatewayProxyEvent):
    """A proxy event that parses its headers once; the base class parses all of them at every access."""

    def __init__(self, data: Event) -> None:
        super().__init__(data)
        self._headers = {name.lower(): value for name, value in (data.get("headers") or {}).items()}

    @property
    def headers(self) -> dict[str, str]:
        return self._headers

    @property
    def resolved_headers_field(self) -> dict[str, str]:
        return self._headers


class Resolver(APIGatewayRestResolver):
    """A resolver for one thread, which also reads the current request.

    The base class keeps the current event in a class attribute. All threads would share it, and every assignment would
    invalidate the interpreter's caches for the class. It also calls a route through a chain of middleware, which would
    cost a tenth of a round; no route here has any.
    """

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG002 (Lambda passes it)
        self._event = ProxyEvent(dict(event))
        try:
            return self._build_response(self._resolve())
        finally:
            self.context.clear()

    def _call_route(self, route: Route, route_arguments: dict[str, str]) -> ResponseBuilder[ProxyEvent]:
        try:
            return ResponseBuilder(route.func(**route_arguments), self._serializer, route)
        except Exception as error:
            handled = self._call_exception_handler(error, route)
            if handled is None:
                raise
            return handled

    @property
    def current_event(self) -> ProxyEvent:  # type: ignore[override] # an attribute there
        return self._event

    def participant(self) -> Participant:
        """Return the participant whose API key came with the request.

        If API Gateway names the key that it has checked and metered, that one counts: a request can carry the header
        several times, and gateway and function might each pick a different one.
        """
        context = self.current_event.raw_event.get("requestContext") or {}
        checked = (context.get("identity") or {}).get("apiKey")
        return wiring.service().authenticate(checked or self.header("x-api-key"))

    def header(self, name: str) -> str | None:
        return self.current_event.headers.get(name)

    def wants(self, kind: str) -> bool:
        """Return whether the client asks for text of this kind: by the query, or else by its Accept header."""
        asked = (self.current_event.query_string_parameters or {}).get("format")
        return asked == kind if asked else (self.header("accept") or "").startswith(f"text/{kind}")

    def body(self) -> "RequestBody":
        """Parse the JSON object in the body of the request; raise BadRequestError if it is none."""
        return RequestBody(_json_object(self.current_event.raw_event))

    @property
    def route_name(self) -> str:
        """The method and the path template, as in the list of routes."""
        return f"{self.current_event.raw_event.get('httpMethod')} {self.current_event.raw_event.get('resource')}"

    @property
    def request_id(self) -> str:
        context = self.current_event.raw_event.get("requestContext") or {}
        return str(context.get("requestId") or "")


class RequestBody:
    """The JSON object that a request carries."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def texts(self, *names: str) -> list[str]:
        """Return the named fields; raise BadRequestError unless all of them are strings."""
        values = [self._fields.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, str):
                raise errors.BadRequestError(f"the field {name} is missing or not a string")
        return [value for value in values if isinstance(value, str)]

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a field, or the default if it is absent; raise BadRequestError unless it is a boolean."""
        value = self._fields.get(name, default)
        if not isinstance(value, bool):
            raise errors.BadRequestError(f"the field {name} is not true or false")
        return value

    def number(self, name: str) -> float | None:
        """Return a field, or None if it is absent or null; raise BadRequestError unless it is a number."""
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise errors.BadRequestError(f"the field {name} is not a number")
        try:
            return float(value)
        except OverflowError:
            raise errors.BadRequestError(f"the field {name} is out of range") from None


class LambdaFunction:
    """A Lambda function: its routes, and a resolver for each thread that calls it."""

    def __init__(self, routes: Callable[[Resolver], None]) -> None:
        self._routes = routes
        self._threads = threading.local()

    def __call__(self, event: Event, context: Any) -> dict[str, Any]:
        app: Resolver | None = getattr(self._threads, "app", None)
        if app is None:
            app = self._threads.app = Resolver(serializer=to_json)
            self._routes(app)
            _add_error_handlers(app)
        response = app.resolve(event, context)
        if logger.log_level <= logging.DEBUG:  # powertools builds a log line before it looks at the level
            logger.debug("request", route=app.route_name, status=response["statusCode"])
        return response


to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_response(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    """Return a JSON response that no cache may store."""
    return Response(status, "application/json", to_json(body), {**HEADERS, **headers} if headers else HEADERS)


def revalidated_response(
    app: Resolver, body: str, content_type: str, more_headers: Mapping[str, str] | None = None
) -> Response[str]:
    """Return a response that clients may cache but must revalidate: it is sent again only if its ETag has changed."""
    etag = _etag(body)
    caching = {"Cache-Control": "private, no-cache", "ETag": etag, "Vary": "Accept, x-api-key"}
    headers = {**HEADERS, **caching, **(more_headers or {})}
    known = [each.strip().removeprefix("W/") for each in (app.header("if-none-match") or "").split(",")]
    if etag in known or "*" in known:
        return Response(304, headers=headers)
    return Response(200, content_type=content_type, body=body, headers=headers)


@lru_cache(maxsize=32)  # the files of the page and the leaderboards are the same strings in many responses
def _etag(body: str) -> str:
    return f'"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'


def _json_object(event: Mapping[str, Any]) -> dict[str, Any]:
    body: str | bytes = event.get("body") or ""
    in_base64 = bool(event.get("isBase64Encoded"))
    # count characters first: a body that has too many need not be encoded to be measured
    limit = MAX_BODY_BYTES * 4 // 3 if in_base64 else MAX_BODY_BYTES
    if len(body) > limit or (isinstance(body, str) and len(body.encode(errors="surrogatepass")) > limit):
        raise errors.TooLargeError(f"the body of a request has at most {MAX_BODY_BYTES:,} bytes")
    try:
        parsed = json.loads(base64.b64decode(body, validate=True) if in_base64 else body)
    except (ValueError, RecursionError):  # not base64, not UTF-8, not JSON, or nested too deeply
        raise errors.BadRequestError("the body of the request is not JSON in UTF-8") from None
    if not isinstance(parsed, dict):
        raise errors.BadRequestError("the body of the request is not a JSON object")
    return parsed


def _add_error_handlers(app: Resolver) -> None:
    """Map every exception to a response. No other place does."""

    def error_response(error: errors.ServiceError) -> Response[str]:
        count_refusal(app.route_name, error.code)
        retry = {"Retry-After": str(error.retry_after)} if error.retry_after else None
        return json_response(error.as_dict(app.request_id), error.status, retry)

    def on_service_error(error: errors.ServiceError) -> Response[str]:
        if error.status >= 500:
            _log_failure(error, app.request_id)
        return error_response(error)

    def on_bug(error: Exception) -> Response[str]:
        _log_failure(error, app.request_id)
        return error_response(errors.InternalError())

    def on_unknown_path(_: Exception) -> Response[str]:
        return error_response(errors.NotFoundError())

    app.exception_handler(errors.ServiceError)(on_service_error)
    app.exception_handler(Exception)(on_bug)
    app.not_found(on_unknown_path)


def _log_failure(error: BaseException, request_id: str) -> None:
    """Log the types and places of an error, but not its text, which could quote a reference or a translation."""
    chain, cause = [], error.__cause__
    while cause is not None:
        chain.append(type(cause).__name__)
        cause = cause.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger.error(
        "request failed", failure=type(error).__name__, caused_by=chain, where=where, failed_request=request_id
    )
