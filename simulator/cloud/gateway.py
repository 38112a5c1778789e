"""What API Gateway does between a request and a function: route, key, throttle, quota, validation, refusal.

The order and the answers are API Gateway's; everything that could be configured comes from the template.
"""

import gzip
import importlib
import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lambdas.errors import UnavailableError
from simulator.cloud.events import Context, MalformedAnswerError, http_response, proxy_event
from simulator.cloud.messages import Refusal, Request, Response, accepts_gzip
from simulator.cloud.models import compile_model
from simulator.cloud.template import Function, Route, Template
from simulator.cloud.throttle import Gate, Verdict

log = logging.getLogger(__name__)

Handler = Callable[[dict[str, Any], Context], object]
KeyCheck = Callable[[str], bool]  # may raise UnavailableError

FAST = 5  # of gzip's nine levels: a large board in milliseconds, and hardly larger than with the slowest
FUNCTION_PAYLOAD = 6 * 1024 * 1024  # what Lambda takes and gives in one call, as JSON

# what the server refuses, in the words of API Gateway
REFUSALS = {
    Refusal.TOO_LARGE: "REQUEST_TOO_LARGE",
    Refusal.BUSY: "THROTTLED",
    Refusal.APPLICATION_TIMEOUT: "INTEGRATION_TIMEOUT",
}


def load_handlers(template: Template) -> dict[str, Handler]:
    """The entry points of all functions that answer requests, imported as the Lambda runtime would."""
    handlers = {}
    for name in {route.function for route in template.routes}:
        module, _, attribute = template.functions[name].handler.rpartition(".")
        handlers[name] = getattr(importlib.import_module(module), attribute)
    return handlers


class Match(NamedTuple):
    """A route that fits a request, and what its parameters are there."""

    route: Route
    parameters: Mapping[str, str]


class Routes:
    """Finds the route of a request; a literal segment goes before a parameter."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = sorted(
            ((route.method, route.path.split("/"), route) for route in routes),
            key=lambda entry: [segment.startswith("{") for segment in entry[1]],
        )

    def match(self, method: str, path: str) -> Match | None:
        segments = path.split("/")
        for known, pattern, route in self._routes:
            if known == method and len(pattern) == len(segments):
                parameters = _fit(pattern, segments)
                if parameters is not None:
                    return Match(route, parameters)
        return None


def _fit(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
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
    """An application for the server: the REST API of the template over handlers in this process."""

    def __init__(
        self, template: Template, handlers: Mapping[str, Handler], knows_key: KeyCheck, *, gate: Gate | None = None
    ) -> None:
        self._routes = Routes(template.routes)
        self._functions: Mapping[str, Function] = template.functions
        self._refusals = template.gateway_responses
        self._stage = template.stage
        self._compressed_from = template.compressed_from
        self._handlers = handlers
        self._knows_key = knows_key
        self._gate = gate or Gate(template.stage_rate, template.key_rate, template.key_quota, template.own_rates)
        self._models = {route: compile_model(route.schema) for route in template.routes if route.schema is not None}

    def answer(self, request: Request) -> Response:
        """Route, check, meter and call, in API Gateway's order."""
        request_id = str(uuid.uuid4())
        found = self._identify(request, request_id)
        if isinstance(found, Response):
            return found
        route = found.route
        key = request.last_headers.get("x-api-key") if route.key_required else None
        refusal = self._refuse_entry(route, key, request_id)
        if refusal is not None:
            return refusal
        if not self._valid(route, request):
            return self._refuse("BAD_REQUEST_BODY", 400, request_id)
        event = proxy_event(request, route, found.parameters, stage=self._stage, request_id=request_id, key=key)
        if len(request.body) > FUNCTION_PAYLOAD // 6 and len(json.dumps(event)) > FUNCTION_PAYLOAD:
            return self._refuse("REQUEST_TOO_LARGE", 413, request_id)
        return self._compress(self._call(self._functions[route.function], event, request_id), request)

    def admit(self, request: Request) -> Response | None:
        """The refusal of a request without a route or a key, for which its body is not needed."""
        found = self._identify(request, str(uuid.uuid4()))
        return found if isinstance(found, Response) else None

    def _identify(self, request: Request, request_id: str) -> Match | Response:
        """What is asked for, by somebody who may.

        A wrong key counts against the stage: once that is used up, wrong and right keys are answered alike, so nobody
        can guess faster than everybody together may ask.
        """
        found = self._routes.match(request.method, request.path)
        if found is None:
            return self._refuse("MISSING_AUTHENTICATION_TOKEN", 403, request_id)
        key = request.last_headers.get("x-api-key")
        try:
            known = not found.route.key_required or (key is not None and self._knows_key(key))
        except UnavailableError as unavailable:  # unknown is not known: nobody passes unchecked
            return _unavailable(unavailable, request_id)
        if known:
            return found
        refusal = self._refuse_entry(found.route, None, request_id)
        return refusal or self._refuse("INVALID_API_KEY", 403, request_id)

    def refuse(self, refusal: Refusal) -> Response:
        """Word a refusal of the server as API Gateway would."""
        default = "DEFAULT_4XX" if refusal.value < 500 else "DEFAULT_5XX"
        return self._refuse(REFUSALS.get(refusal, default), refusal.value, str(uuid.uuid4()))

    def _refuse_entry(self, route: Route, key: str | None, request_id: str) -> Response | None:
        """Refuse who comes too often."""
        verdict = self._gate.enter(key, (route.method, route.path))
        if verdict is Verdict.PASS:
            return None
        return self._refuse("THROTTLED" if verdict is Verdict.THROTTLED else "QUOTA_EXCEEDED", 429, request_id)

    def _valid(self, route: Route, request: Request) -> bool:
        """API Gateway checks what claims to be JSON (or claims nothing); the function has to refuse the rest."""
        media_type = (request.last_headers.get("content-type") or "application/json").partition(";")[0].strip().lower()
        fits = self._models.get(route)
        if fits is None or media_type != "application/json":
            return True
        if not request.body:
            return not route.body_required
        try:
            document = json.loads(request.body.decode("utf-8"))
        except (ValueError, RecursionError):  # not UTF-8, not JSON, or nested beyond reason
            return False
        return fits(document)

    def _call(self, function: Function, event: dict[str, Any], request_id: str) -> Response:
        try:
            answer = http_response(self._handlers[function.name](event, Context.begin(function, request_id)))
        except MalformedAnswerError as malformed:
            log.error("%s returned a malformed answer: %s", function.name, malformed)
            return self._refuse("DEFAULT_5XX", 502, request_id)
        except Exception:
            log.exception("%s raised an exception", function.name)
            return self._refuse("DEFAULT_5XX", 502, request_id)
        if len(answer.body) > FUNCTION_PAYLOAD:
            return self._refuse("DEFAULT_5XX", 502, request_id)
        return answer._replace(headers=[*answer.headers, ("x-amzn-RequestId", request_id)])

    def _compress(self, answer: Response, request: Request) -> Response:
        if self._compressed_from is None or len(answer.body) < self._compressed_from or not accepts_gzip(request):
            return answer
        headers = [*answer.headers, ("Content-Encoding", "gzip")]
        return answer._replace(headers=headers, body=gzip.compress(answer.body, FAST, mtime=0))

    def _refuse(self, kind: str, natural_status: int, request_id: str) -> Response:
        wording = self._refusals.get(kind) or self._refusals["DEFAULT_4XX" if natural_status < 500 else "DEFAULT_5XX"]
        headers = [
            ("Content-Type", "application/json"),
            ("x-amzn-RequestId", request_id),
            ("x-amzn-ErrorType", kind),
            *wording.headers.items(),
        ]
        body = wording.body.replace("$context.requestId", request_id)
        return Response(wording.status or natural_status, headers, body.encode())


def _unavailable(error: UnavailableError, request_id: str) -> Response:
    headers = [
        ("Content-Type", "application/json"),
        ("x-amzn-RequestId", request_id),
        ("Retry-After", str(error.retry_after)),
    ]
    return Response(error.status, headers, json.dumps(error.as_dict(request_id)).encode())
