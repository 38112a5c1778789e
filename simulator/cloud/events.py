"""REST proxy events: what API Gateway hands to a function, and what it makes of the function's answer."""

import base64
import binascii
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from simulator.cloud.messages import Request, Response
from simulator.cloud.template import Function, Route

ACCOUNT = "123456789012"
API = "local"


class MalformedAnswerError(Exception):
    """A function returned something that is not a proxy response."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the Python runtime passes to a handler beside the event."""

    function_name: str
    memory_limit_in_mb: int
    aws_request_id: str
    deadline: float  # on the monotonic clock

    function_version = "$LATEST"
    log_stream_name = "local"
    identity = None
    client_context = None

    @classmethod
    def begin(cls, function: Function, request_id: str) -> "Context":
        return cls(function.name, function.memory, request_id, time.monotonic() + function.timeout)

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.deadline - time.monotonic()) * 1_000))


def proxy_event(
    request: Request, route: Route, parameters: Mapping[str, str], *, stage: str, request_id: str, key: str | None
) -> dict[str, Any]:
    """The event of one request. The path and its parameters stay percent-encoded, as in a genuine REST API."""
    headers = _many(request.headers)
    query = _many(parse_qsl(request.query, keep_blank_values=True)) if request.query else {}
    now = time.time()
    identity = {**_UNKNOWN_IDENTITY, "sourceIp": request.source_ip, "userAgent": request.last_headers.get("user-agent")}
    if key is not None:
        identity |= {"apiKey": key, "apiKeyId": "local"}
    return {
        "resource": route.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": _last(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last(query) or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": dict(parameters) or None,
        "stageVariables": None,
        "requestContext": {
            "resourceId": "local",
            "resourcePath": route.path,
            "operationName": None,
            "httpMethod": request.method,
            "extendedRequestId": request_id,
            "requestTime": _clock_time(int(now)),
            "requestTimeEpoch": int(now * 1_000),
            "path": request.path,
            "accountId": ACCOUNT,
            "protocol": request.protocol,
            "stage": stage,
            "domainPrefix": API,
            "domainName": request.last_headers.get("host"),
            "deploymentId": "local",
            "requestId": request_id,
            "identity": identity,
            "apiId": API,
        },
        # without binary media types, API Gateway takes every body for UTF-8 text and replaces what is not
        "body": request.body.decode("utf-8", "replace") if request.body else None,
        "isBase64Encoded": False,
    }


@lru_cache(maxsize=1)
def _clock_time(second: int) -> str:
    return time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(second))


_UNKNOWN_IDENTITY: dict[str, str | None] = dict.fromkeys(
    (
        "cognitoIdentityPoolId",
        "accountId",
        "cognitoIdentityId",
        "caller",
        "principalOrgId",
        "accessKey",
        "cognitoAuthenticationType",
        "cognitoAuthenticationProvider",
        "userArn",
        "user",
    )
)


def _many(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def _last(grouped: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in grouped.items()}


def http_response(answer: object) -> Response:
    """What a function returned, as HTTP; whatever is no proxy response is refused, as API Gateway does with a 502."""
    if not isinstance(answer, dict) or not set(answer) <= _ANSWER_FIELDS:
        raise MalformedAnswerError("not a proxy response")
    status = answer.get("statusCode")
    if isinstance(status, bool) or not isinstance(status, int | str) or not str(status).isdecimal():
        raise MalformedAnswerError("no status code")
    if not 100 <= int(status) <= 599:
        raise MalformedAnswerError(f"{status} is no status code")
    return Response(int(status), _answer_headers(answer), _answer_body(answer))


_ANSWER_FIELDS = {"statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded", "cookies"}


def _answer_headers(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    single, many = answer.get("headers") or {}, answer.get("multiValueHeaders") or {}
    if not isinstance(single, dict) or not isinstance(many, dict):
        raise MalformedAnswerError("headers are not a map")
    several = {str(name).lower(): (str(name), values) for name, values in many.items()}
    several = {**{str(name).lower(): (str(name), [value]) for name, value in single.items()}, **several}
    several.setdefault("content-type", ("Content-Type", ["application/json"]))
    pairs = [
        (name, str(value)) for low, (name, values) in several.items() if low not in _SET_BY_SERVER for value in values
    ]
    if _LINE_BREAK.search("".join(name + value for name, value in pairs)):
        raise MalformedAnswerError("a header with a line break")
    return pairs


_LINE_BREAK = re.compile(r"[\r\n]")
_SET_BY_SERVER = {"content-length", "connection", "date", "transfer-encoding"}


def _answer_body(answer: Mapping[str, Any]) -> bytes:
    body = answer.get("body") or ""
    if not isinstance(body, str):
        raise MalformedAnswerError("the body is not a string")
    if not answer.get("isBase64Encoded"):
        return body.encode("utf-8", "replace")
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        raise MalformedAnswerError("the body is not base64") from None
