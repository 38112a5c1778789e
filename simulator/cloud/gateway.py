"""What API Gateway does between a request and a function: routing, API keys, throttling, quotas and validation.

The order of the checks and the responses are those of API Gateway. Every setting comes from the template.
"""

import gzip
import importlib
import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lambdas.cache import SingleFlightCache
from lambdas.errors import UnavailableError
from lambdas.service import OUT_OF_DOMAIN_PATH
from simulator.cloud.connections import network_of
from simulator.cloud.events import LambdaContext, MalformedProxyResponseError, http_response, proxy_event
from simulator.cloud.file_downloads import download
from simulator.cloud.http_messages import HttpRequest, HttpResponse, RejectionReason, accepts_gzip
from simulator.cloud.rate_limiter import Admission, RateLimiter
from simulator.cloud.request_models import compile_model
from simulator.cloud.template import FunctionResource, Route, SamTemplate

log = logging.getLogger(__name__)

Handler = Callable[[dict[str, Any], LambdaContext], object]
KeyCheck = Callable[[str], bool]  # may raise UnavailableError

GZIP_LEVEL = 5  # of 9: compresses a large board in milliseconds, to hardly more bytes than level 9
MAX_COMPRESSED_BODIES = 20  # kept, because many visitors ask for the same leaderboard and page
MAX_LAMBDA_PAYLOAD_BYTES = 6 * 1024 * 1024  # of the event and of the response, as JSON

# the types of gateway responses for what the server rejects
RESPONSE_TYPES = {
    RejectionReason.TOO_LARGE: "REQUEST_TOO_LARGE",
    RejectionReason.BUSY: "THROTTLED",
    RejectionReason.APPLICATION_TIMEOUT: "INTEGRATION_TIMEOUT",
}


def load_handlers(template: SamTemplate) -> dict[str, Handler]:
    """Import the handlers of all functions that respond to requests, as the Lambda runtime does."""
    handlers = {}
    for name in {route.function for route in template.routes}:
        module, _, attribute = template.functions[name].handler.rpartition(".")
        handlers[name] = getattr(importlib.import_module(module), attribute)
    return handlers


class RouteMatch(NamedTuple):
    """The route of a request, with the values of its path parameters."""

    route: Route
    parameters: Mapping[str, str]


class RouteTable:
    """Finds the route of a request. A literal segment takes precedence over a parameter."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = sorted(
            ((route.method, route.path.split("/"), route) for route in routes),
            key=lambda entry: [segment.startswith("{") for segment in entry[1]],
        )

    def match(self, method: str, path: str) -> RouteMatch | None:
        """Return the matching route, or None."""
        segments = path.split("/")
        for route_method, pattern, route in self._routes:
            if route_method == method and len(pattern) == len(segments):
                parameters = _match_segments(pattern, segments)
                if parameters is not None:
                    return RouteMatch(route, parameters)
        return None


def _match_segments(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
    parameters = {}
    for expected, segment in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            if not segment:
                return None
            parameters[expected[1:-1]] = segment
        elif expected != segment:
            return None
    return parameters


class Gateway:
    """The REST API of the template, as an application for the server. The handlers run in this process."""

    def __init__(
        self,
        template: SamTemplate,
        handlers: Mapping[str, Handler],
        is_known_key: KeyCheck,
        *,
        rate_limiter: RateLimiter | None = None,
        out_of_domain: Mapping[str, Path] | None = None,
    ) -> None:
        """Put the API in front of functions.

        Args:
            template: The template that describes the API.
            handlers: The handlers of the functions, by logical id.
            is_known_key: Returns whether an API key is known.
            rate_limiter: Limits that replace those of the template.
            out_of_domain: Gzip files of the out-of-domain text by language, which are sent instead of what the function
                responds. A function could not return them: its responses are limited.
        """
        self._out_of_domain = out_of_domain or {}
        self._routes = RouteTable(template.routes)
        self._functions: Mapping[str, FunctionResource] = template.functions
        self._gateway_responses = template.gateway_responses
        self._stage = template.stage
        self._minimum_compression_size = template.minimum_compression_size
        self._handlers = handlers
        self._is_known_key = is_known_key
        self._rate_limiter = rate_limiter or RateLimiter(
            stage=template.stage_throttle,
            per_key=template.key_throttle,
            quota=template.key_quota,
            methods=template.method_throttles,
            rejections=template.rejection_throttle,
        )
        self._compressed: SingleFlightCache[bytes, bytes] = SingleFlightCache(MAX_COMPRESSED_BODIES)
        self._models = {route: compile_model(route.schema) for route in template.routes if route.schema is not None}

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Route, authenticate, throttle, validate and call the function, in API Gateway's order."""
        request_id = _new_request_id()
        match = self._authenticated_route(request, request_id)
        if isinstance(match, HttpResponse):
            return match
        route = match.route
        key = request.headers_by_name.get("x-api-key") if route.key_required else None
        throttled = self._throttle(route, key, request_id)
        if throttled is not None:
            return throttled
        if not self._has_valid_body(route, request):
            return self._gateway_response("BAD_REQUEST_BODY", 400, request_id)
        if route.path == OUT_OF_DOMAIN_PATH and match.parameters["language"] in self._out_of_domain:
            return download(self._out_of_domain[match.parameters["language"]], request)
        event = proxy_event(request, route, match.parameters, stage=self._stage, request_id=request_id, key=key)
        if len(request.body) > MAX_LAMBDA_PAYLOAD_BYTES // 6 and len(json.dumps(event)) > MAX_LAMBDA_PAYLOAD_BYTES:
            return self._gateway_response("REQUEST_TOO_LARGE", 413, request_id)
        return self._compress(self._call(self._functions[route.function], event, request_id), request)

    def reject_early(self, request: HttpRequest) -> HttpResponse | None:
        """Return the rejection of a request without a route or a valid key, or None. Needs no body."""
        match = self._authenticated_route(request, _new_request_id())
        return match if isinstance(match, HttpResponse) else None

    def reject(self, reason: RejectionReason) -> HttpResponse:
        """Return the response of API Gateway for a request that the server rejects."""
        default = "DEFAULT_4XX" if reason.value < 500 else "DEFAULT_5XX"
        return self._gateway_response(RESPONSE_TYPES.get(reason, default), reason.value, _new_request_id())

    def _authenticated_route(self, request: HttpRequest, request_id: str) -> RouteMatch | HttpResponse:
        """Return the route of a request with a valid key, or the response that rejects it."""
        match = self._routes.match(request.method, request.path)
        if match is None:
            return self._rejection("MISSING_AUTHENTICATION_TOKEN", request, request_id)
        key = request.headers_by_name.get("x-api-key")
        try:
            known = not match.route.key_required or (key is not None and self._is_known_key(key))
        except UnavailableError as unavailable:  # a key that cannot be looked up is not accepted
            return _unavailable_response(unavailable, request_id)
        return match if known else self._rejection("INVALID_API_KEY", request, request_id)

    def _rejection(self, kind: str, request: HttpRequest, request_id: str) -> HttpResponse:
        """Return the response to a request without a route or a valid key, of which an address may send only some."""
        if self._rate_limiter.admit_rejection(network_of(request.source_ip)) is Admission.THROTTLED:
            return self._gateway_response("THROTTLED", 429, request_id)
        return self._gateway_response(kind, 403, request_id)

    def _throttle(self, route: Route, key: str | None, request_id: str) -> HttpResponse | None:
        """Return the response to a request beyond the limits, or None."""
        admission = self._rate_limiter.admit(key, (route.method, route.path))
        if admission is Admission.ADMITTED:
            return None
        kind = "THROTTLED" if admission is Admission.THROTTLED else "QUOTA_EXCEEDED"
        return self._gateway_response(kind, 429, request_id)

    def _has_valid_body(self, route: Route, request: HttpRequest) -> bool:
        """Return whether the body matches the request model.

        Like API Gateway, this checks only a body whose content type is JSON or missing; the function checks the rest.
        """
        media_type = (
            (request.headers_by_name.get("content-type") or "application/json").partition(";")[0].strip().lower()
        )
        is_valid = self._models.get(route)
        if is_valid is None or media_type != "application/json":
            return True
        if not request.body:
            return not route.body_required
        try:
            document = json.loads(request.body.decode("utf-8"))
        except (ValueError, RecursionError):  # not UTF-8, not JSON, or nested too deeply
            return False
        return is_valid(document)

    def _call(self, function: FunctionResource, event: dict[str, Any], request_id: str) -> HttpResponse:
        try:
            response = http_response(self._handlers[function.name](event, LambdaContext.start(function, request_id)))
        except MalformedProxyResponseError as malformed:
            log.error("%s returned a malformed proxy response: %s", function.name, malformed)
            return self._gateway_response("DEFAULT_5XX", 502, request_id)
        except Exception:
            log.exception("%s raised an exception", function.name)
            return self._gateway_response("DEFAULT_5XX", 502, request_id)
        if len(response.body) > MAX_LAMBDA_PAYLOAD_BYTES:
            return self._gateway_response("DEFAULT_5XX", 502, request_id)
        return response._replace(headers=[*response.headers, ("x-amzn-RequestId", request_id)])

    def _compress(self, response: HttpResponse, request: HttpRequest) -> HttpResponse:
        minimum = self._minimum_compression_size
        if minimum is None or len(response.body) < minimum or not accepts_gzip(request):
            return response
        headers = [*response.headers, ("Content-Encoding", "gzip")]
        body = self._compressed.get(response.body, lambda body: gzip.compress(body, GZIP_LEVEL, mtime=0))
        assert body is not None, "gzip compresses everything"
        return response._replace(headers=headers, body=body)

    def _gateway_response(self, kind: str, default_status: int, request_id: str) -> HttpResponse:
        """Return a response of the gateway itself, of a type such as ``THROTTLED``, as the template words it."""
        default = "DEFAULT_4XX" if default_status < 500 else "DEFAULT_5XX"
        wording = self._gateway_responses.get(kind) or self._gateway_responses[default]
        headers = [
            ("Content-Type", "application/json"),
            ("x-amzn-RequestId", request_id),
            ("x-amzn-ErrorType", kind),
            *wording.headers.items(),
        ]
        body = wording.body.replace("$context.requestId", request_id)
        return HttpResponse(wording.status or default_status, headers, body.encode())


def _new_request_id() -> str:
    """Return a random UUID, as ``uuid.uuid4`` does in four times the time. No one must be unable to guess it."""
    digits = f"{random.getrandbits(128) & _UUID_MASK | _UUID_VERSION:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_UUID_MASK, _UUID_VERSION = ~(0xF000_C000 << 48), 0x4000_8000 << 48  # version 4, variant 2 (RFC 9562)


def _unavailable_response(error: UnavailableError, request_id: str) -> HttpResponse:
    headers = [
        ("Content-Type", "application/json"),
        ("x-amzn-RequestId", request_id),
        ("Retry-After", str(error.retry_after)),
    ]
    return HttpResponse(error.status, headers, json.dumps(error.as_dict(request_id)).encode())
