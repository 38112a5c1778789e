"""Proxy events and proxy responses."""

import json

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from simulator.cloud.events import Context, MalformedAnswerError, http_response, proxy_event
from simulator.cloud.messages import Request
from simulator.cloud.template import Function, Route

ROUTE = Route("POST", "/v1/runs/{run}/translations", "F", key_required=True, schema=None, body_required=False)
REQUEST = Request(
    method="POST",
    path="/v1/runs/r%201/translations",
    query="a=1&a=2&b=",
    headers=[("Host", "localhost:8000"), ("X-Twice", "one"), ("x-api-key", "sesame"), ("X-Twice", "two")],
    body="größe".encode(),
    source_ip="127.0.0.1",
)


def event_of(request: Request) -> dict[str, object]:
    return proxy_event(request, ROUTE, {"run": "r%201"}, stage="local", request_id="id-1", key="sesame")


def test_an_event_is_what_powertools_expects_of_a_rest_api() -> None:
    event = APIGatewayProxyEvent(json.loads(json.dumps(event_of(REQUEST))))
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


def test_what_is_absent_is_null_as_in_api_gateway() -> None:
    bare = Request("GET", "/health", "", [("Host", "x")], b"", "::1")
    event = proxy_event(bare, ROUTE, {}, stage="local", request_id="id-1", key=None)
    for field in ("body", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters"):
        assert event[field] is None
    assert "apiKey" not in event["requestContext"]["identity"]


def test_bytes_that_are_not_text_are_replaced() -> None:
    odd = Request("POST", "/", "", [], b"\xff{}", "::1")
    assert event_of(odd)["body"] == "\ufffd{}"


def test_the_context_counts_down() -> None:
    context = Context.begin(Function("F", "a.b", timeout=10, memory=512, environment={}), "id-1")
    assert 9_000 < context.get_remaining_time_in_millis() <= 10_000
    assert context.invoked_function_arn.endswith(":function:F")
    assert (context.function_name, context.memory_limit_in_mb) == ("F", 512)


def test_an_answer_becomes_http() -> None:
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


def test_a_binary_answer_is_decoded() -> None:
    assert http_response({"statusCode": 200, "body": "AP8=", "isBase64Encoded": True}).body == b"\x00\xff"


def test_a_status_alone_is_an_answer() -> None:
    assert http_response({"statusCode": "204"}).status == 204


@pytest.mark.parametrize(
    "answer",
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
def test_what_is_no_answer_is_refused(answer: object) -> None:
    with pytest.raises(MalformedAnswerError):
        http_response(answer)
