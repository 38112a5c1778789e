"""The Lambda proxy integration of API Gateway: the event that a function receives, and the response that it returns."""

import base64
import binascii
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from simulator.cloud.http_messages import HttpRequest, HttpResponse
from simulator.cloud.template import FunctionResource, Route

ACCOUNT_ID = "123456789012"
API_ID = "local"


class MalformedProxyResponseError(Exception):
    """A function returned a value that is not a proxy response."""


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """The context that the Python runtime passes to a handler with the event."""

    function_name: str
    memory_limit_in_mb: int
    aws_request_id: str
    deadline: float  # on the monotonic clock

    function_version = "$LATEST"
    log_stream_name = "local"
    identity = None
    client_context = None

    @classmethod
    def start(cls, function: FunctionResource, request_id: str) -> "LambdaContext":
        return cls(function.name, function.memory, request_id, time.monotonic() + function.timeout)

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:us-east-1:{ACCOUNT_ID}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.deadline - time.monotonic()) * 1_000))


def proxy_event(
    request: HttpRequest, route: Route, parameters: Mapping[str, str], *, stage: str, request_id: str, key: str | None
) -> dict[str, Any]:
    """Return the event for one request. The path and its parameters stay percent-encoded, as in a real REST API."""
    headers = _group(request.headers)
    query = _group(parse_qsl(request.query, keep_blank_values=True)) if request.query else {}
    now = time.time()
    identity = {
        **_UNKNOWN_IDENTITY,
        "sourceIp": request.source_ip,
        "userAgent": request.headers_by_name.get("user-agent"),
    }
    if key is not None:
        identity |= {"apiKey": key, "apiKeyId": "local"}
    return {
        "resource": route.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": _last_values(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last_values(query) or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": dict(parameters) or None,
        "stageVariables": None,
        "requestContext": {
            "resourceId": "local",
            "resourcePath": route.path,
            "operationName": None,
            "httpMethod": request.method,
            "extendedRequestId": request_id,
            "requestTime": _request_time(int(now)),
            "requestTimeEpoch": int(now * 1_000),
            "path": request.path,
            "accountId": ACCOUNT_ID,
            "protocol": request.protocol,
            "stage": stage,
            "domainPrefix": API_ID,
            "domainName": request.headers_by_name.get("host"),
            "deploymentId": "local",
            "requestId": request_id,
            "identity": identity,
            "apiId": API_ID,
        },
        # Without binary media types, API Gateway decodes every body as UTF-8 and replaces invalid bytes.
        "body": request.body.decode("utf-8", "replace") if request.body else None,
        "isBase64Encoded": False,
    }


@lru_cache(maxsize=1)
def _request_time(second: int) -> str:
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


def _group(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def _last_values(grouped: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in grouped.items()}


def http_response(result: object) -> HttpResponse:
    """Convert the result of a function to an HTTP response.

    Raises:
        MalformedProxyResponseError: The result is not a proxy response. API Gateway responds to that with a 502.
    """
    if not isinstance(result, dict) or not set(result) <= _RESPONSE_FIELDS:
        raise MalformedProxyResponseError("not a proxy response")
    status = result.get("statusCode")
    if isinstance(status, bool) or not isinstance(status, int | str) or not str(status).isdecimal():
        raise MalformedProxyResponseError("it has no status code")
    if not 100 <= int(status) <= 599:
        raise MalformedProxyResponseError(f"{status} is not a status code")
    return HttpResponse(int(status), _response_headers(result), _response_body(result))


_RESPONSE_FIELDS = {"statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded", "cookies"}


def _response_headers(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    single, many = result.get("headers") or {}, result.get("multiValueHeaders") or {}
    if not isinstance(single, dict) or not isinstance(many, dict):
        raise MalformedProxyResponseError("its headers are not a map")
    by_name = {str(name).lower(): (str(name), [value]) for name, value in single.items()}
    by_name |= {str(name).lower(): (str(name), values) for name, values in many.items()}
    by_name.setdefault("content-type", ("Content-Type", ["application/json"]))
    pairs = [
        (name, str(value)) for low, (name, values) in by_name.items() if low not in _SET_BY_SERVER for value in values
    ]
    if _LINE_BREAK.search("".join(name + value for name, value in pairs)):
        raise MalformedProxyResponseError("a header contains a line break")
    return pairs


_LINE_BREAK = re.compile(r"[\r\n]")
_SET_BY_SERVER = {"content-length", "connection", "date", "transfer-encoding"}


def _response_body(result: Mapping[str, Any]) -> bytes:
    body = result.get("body") or ""
    if not isinstance(body, str):
        raise MalformedProxyResponseError("its body is not a string")
    if not result.get("isBase64Encoded"):
        return body.encode("utf-8", "replace")
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        raise MalformedProxyResponseError("its body is not base64") from None
