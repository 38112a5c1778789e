"""Events and responses of the Lambda proxy integration."""

import json

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from simulator.cloud.events import LambdaContext, MalformedProxyResponseError, http_response, proxy_event
from simulator.cloud.http_messages import HttpRequest
from simulator.cloud.template import FunctionResource, Route

ROUTE = Route("POST", "/v1/runs/{run}/translations", "F", key_required=True, schema=None, body_required=False)
REQUEST = HttpRequest(
    method="POST",
    path="/v1/runs/r%201/translations",
    query="a=1&a=2&b=",
    headers=[("Host", "localhost:8000"), ("X-Twice", "one"), ("x-api-key", "sesame"), ("X-Twice", "two")],
    body="größe".encode(),
    source_ip="127.0.0.1",
)


def event_for(request: HttpRequest) -> dict[str, object]:
    return proxy_event(request, ROUTE, {"run": "r%201"}, stage="local", request_id="id-1", key="sesame")


def test_an_event_is_that_of_a_rest_api_to_powertools() -> None:
    event = APIGatewayProxyEvent(json.loads(json.dumps(event_for(REQUEST))))
    assert event.resource == "/v1/runs/{run}/translations"
    assert event.path == "/v1/runs/r%201/translations"
    assert event.http_method == "POST"
    assert event.path_parameters == {"run": "r%201"}
    assert event.headers["x-api-key"] == "sesame"
    assert event.headers["x-twice"] == "two"
    assert event.multi_value_headers["X-Twice"] == ["one", "two"]
    assert event.query_string_parameters == {"a": "2", "b": ""}
    assert event.multi_value_query_string_parameters == {"a": ["1", "2"], "b": [""]}
    assert event.body == "größe"
    assert event.is_base64_encoded is False
    context = event.request_context
    assert (context.request_id, context.stage, context.resource_path) == ("id-1", "local", ROUTE.path)
    assert (context.identity.source_ip, context.identity.api_key) == ("127.0.0.1", "sesame")
    assert context.domain_name == "localhost:8000"


def test_absent_parts_are_null() -> None:
    bare = HttpRequest("GET", "/health", "", [("Host", "x")], b"", "::1")
    event = proxy_event(bare, ROUTE, {}, stage="local", request_id="id-1", key=None)
    for field in ("body", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters"):
        assert event[field] is None
    assert "apiKey" not in event["requestContext"]["identity"]


def test_invalid_utf_8_is_replaced() -> None:
    odd = HttpRequest("POST", "/", "", [], b"\xff{}", "::1")
    assert event_for(odd)["body"] == "\ufffd{}"


def test_the_context_has_the_remaining_time_of_the_function() -> None:
    context = LambdaContext.start(FunctionResource("F", "a.b", timeout=10, memory=512, environment={}), "id-1")
    assert 9_000 < context.get_remaining_time_in_millis() <= 10_000
    assert context.invoked_function_arn.endswith(":function:F")
    assert (context.function_name, context.memory_limit_in_mb) == ("F", 512)


def test_a_proxy_response_becomes_an_http_response() -> None:
    response = http_response(
        {
            "statusCode": 201,
            "headers": {"A": "single", "Content-Length": "99", "B": "kept"},
            "multiValueHeaders": {"a": ["1", "2"]},
            "body": "größe",
            "isBase64Encoded": False,
        }
    )
    assert response.status == 201
    assert response.headers == [("a", "1"), ("a", "2"), ("B", "kept"), ("Content-Type", "application/json")]
    assert response.body == "größe".encode()


def test_a_base64_body_is_decoded() -> None:
    assert http_response({"statusCode": 200, "body": "AP8=", "isBase64Encoded": True}).body == b"\x00\xff"


def test_a_status_code_alone_is_a_proxy_response() -> None:
    assert http_response({"statusCode": "204"}).status == 204


@pytest.mark.parametrize(
    "result",
    [
        None,
        "text",
        {},
        {"statusCode": "ok"},
        {"statusCode": True},
        {"statusCode": 99},
        {"statusCode": 200, "body": {"not": "a string"}},
        {"statusCode": 200, "message": "unknown field"},
        {"statusCode": 200, "headers": ["not a map"]},
        {"statusCode": 200, "headers": {"A": "b\r\nSet-Cookie: c"}},
        {"statusCode": 200, "body": "not base64!", "isBase64Encoded": True},
    ],
)
def test_a_malformed_proxy_response_is_refused(result: object) -> None:
    with pytest.raises(MalformedProxyResponseError):
        http_response(result)
