"""The gateway: what API Gateway does before and after the call of a function."""

import gzip
import json
import re
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from lambdas.errors import UnavailableError
from leaderboard.page import SITE_FOLDER
from simulator.cloud.events import LambdaContext
from simulator.cloud.gateway import Gateway, Handler, RouteTable, load_handlers
from simulator.cloud.http_messages import HttpRequest, HttpResponse, RejectionReason
from simulator.cloud.http_server import running
from simulator.cloud.local_cloud import local_gateway, local_server
from simulator.cloud.rate_limiter import QuotaSettings, RateLimiter, ThrottleSettings
from simulator.cloud.template import Route, SamTemplate
from tests.simulator.cloud.conftest import LoadedService

KEY = "sesame"


class RecordingHandler:
    """A handler that records its events and returns, or raises, a fixed result."""

    def __init__(self, result: object = None) -> None:
        self.result = result or {"statusCode": 200, "headers": {}, "body": "{}"}
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: dict[str, Any], _: LambdaContext) -> object:
        self.events.append(event)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def gateway(template: SamTemplate, handler: Handler, limiter: RateLimiter | None = None) -> Gateway:
    handlers = {"PublicFunction": handler, "ReadFunction": handler, "ScoringFunction": handler}
    return Gateway(template, handlers, lambda key: key == KEY, rate_limiter=limiter or RateLimiter())


def send(
    tested: Gateway,
    method: str,
    path: str,
    body: object = None,
    *,
    key: str | None = KEY,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    sent = [("Host", "localhost"), *(headers or {}).items(), *([("X-API-Key", key)] if key else [])]
    return tested.respond(HttpRequest(method, path, "", sent, data, "127.0.0.1"))


def status_and_code(response: HttpResponse) -> tuple[int, str]:
    body = json.loads(response.body)
    assert set(body) == {"code", "message", "request_id"}
    assert body["request_id"] == dict(response.headers)["x-amzn-RequestId"]
    assert re.fullmatch(r"[0-9a-f-]{36}", body["request_id"])
    return response.status, body["code"]


# routes


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("HEAD", "/"),
        ("GET", "//"),
        ("DELETE", "/v1/runs"),
        ("GET", "/v1/runs"),
        ("GET", "/v1/runs/"),
        ("GET", "/v1/runs//sentence"),
        ("GET", "/v1/runs/a/b/sentence"),
        ("GET", "/v1/runs/a/sentence/"),
        ("GET", "//health"),
        ("GET", "/health/"),
        ("POST", "/HEALTH"),
        ("GET", "/v1/../health"),
        ("OPTIONS", "/v1/runs"),
        ("HEAD", "/health"),
    ],
)
def test_an_unknown_path_or_method_is_not_found(template: SamTemplate, method: str, path: str) -> None:
    handler = RecordingHandler()
    assert status_and_code(send(gateway(template, handler), method, path)) == (404, "not_found")
    assert handler.events == []


def test_the_function_receives_the_path_parameters(template: SamTemplate) -> None:
    handler = RecordingHandler()
    send(gateway(template, handler), "GET", "/v1/runs/r-1/sentence")
    [event] = handler.events
    assert (event["resource"], event["pathParameters"]) == ("/v1/runs/{run}/sentence", {"run": "r-1"})


def test_a_literal_segment_takes_precedence_over_a_parameter() -> None:
    routes = [Route("GET", path, "F", False, None, False) for path in ("/runs/{run}", "/runs/best", "/{a}/best")]
    matched = RouteTable(routes).match("GET", "/runs/best")
    assert matched is not None
    assert matched.route.path == "/runs/best"


# keys


@pytest.mark.parametrize("key", [None, "wrong", "", "Sesame", "sesame "])
def test_without_a_valid_key_no_function_is_called(template: SamTemplate, key: str | None) -> None:
    handler = RecordingHandler()
    assert status_and_code(send(gateway(template, handler), "GET", "/v1/phases", key=key)) == (403, "invalid_key")
    assert handler.events == []


def test_while_keys_cannot_be_looked_up_every_key_is_rejected_and_none_remembered(
    template: SamTemplate, loaded: LoadedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: str) -> None:
        raise UnavailableError

    monkeypatch.setattr(loaded.store, "document", down)
    tested = local_gateway(template, loaded.service)
    for number in range(3):
        guess = send(tested, "GET", "/v1/phases", key=f"bmt_{number:043d}")
        assert status_and_code(guess) == (503, "unavailable")
        assert dict(guess.headers)["Retry-After"] == "1"
    assert len(tested._rate_limiter._keys) == 0
    assert send(tested, "GET", "/nothing").status == 404


def test_health_needs_no_key(template: SamTemplate) -> None:
    assert send(gateway(template, RecordingHandler()), "GET", "/health", key=None).status == 200


def test_the_function_receives_the_key(template: SamTemplate) -> None:
    handler = RecordingHandler()
    send(gateway(template, handler), "GET", "/v1/phases")
    [event] = handler.events
    assert event["requestContext"]["identity"]["apiKey"] == KEY
    assert event["headers"]["X-API-Key"] == KEY


# limits


def test_throttled_requests_get_retry_after(template: SamTemplate) -> None:
    tested = gateway(template, RecordingHandler(), RateLimiter(per_key=ThrottleSettings(rate=1e-9, burst=1)))
    assert send(tested, "GET", "/v1/phases").status == 200
    refused = send(tested, "GET", "/v1/phases")
    assert status_and_code(refused) == (429, "throttled")
    assert dict(refused.headers)["Retry-After"] == "1"


def test_an_exceeded_daily_quota_can_be_retried(template: SamTemplate) -> None:
    """It must not have the code ``quota_exceeded`` of the service, which clients do not retry."""
    tested = gateway(template, RecordingHandler(), RateLimiter(quota=QuotaSettings(1, "DAY")))
    assert send(tested, "GET", "/v1/phases").status == 200
    refused = send(tested, "GET", "/v1/phases")
    assert status_and_code(refused) == (429, "throttled")
    assert dict(refused.headers)["Retry-After"] == "3600"


def test_visitors_without_a_key_do_not_use_up_the_limits_of_participants() -> None:
    dev = SamTemplate.load("dev")
    tested = Gateway(dev, dict.fromkeys(dev.functions, RecordingHandler()), lambda key: key == KEY)
    for path in ("/health", "/v1/leaderboard/dev"):
        statuses = [send(tested, "GET", path, key=None).status for _ in range(300)]
        assert statuses[:20] == [200] * 20
        assert 429 in statuses
    assert send(tested, "GET", "/v1/phases").status == 200


@pytest.mark.parametrize(
    ("method", "path", "key", "expected"),
    [
        ("POST", "/v1/runs", "guessed", (403, "invalid_key")),
        ("POST", "/v1/runs", None, (403, "invalid_key")),
        ("POST", "/v1/elsewhere", KEY, (404, "not_found")),
    ],
)
def test_requests_without_a_valid_key_are_rejected_by_their_head_alone(
    template: SamTemplate, method: str, path: str, key: str | None, expected: tuple[int, str]
) -> None:
    tested = gateway(template, RecordingHandler())
    headers = [("Host", "localhost"), *([("x-api-key", key)] if key else [])]
    rejection = tested.reject_early(HttpRequest(method, path, "", headers, b"", "127.0.0.1"))
    assert rejection is not None
    assert status_and_code(rejection) == expected


def test_a_head_with_a_valid_key_is_not_rejected(template: SamTemplate) -> None:
    request = HttpRequest("POST", "/v1/runs", "", [("Host", "localhost"), ("x-api-key", KEY)], b"", "127.0.0.1")
    assert gateway(template, RecordingHandler()).reject_early(request) is None


def test_unknown_keys_are_not_remembered(template: SamTemplate) -> None:
    limiter = RateLimiter(per_key=ThrottleSettings(1, 1))
    tested = gateway(template, RecordingHandler(), limiter)
    for number in range(100):
        send(tested, "GET", "/v1/phases", key=f"guess {number}")
    assert len(limiter._keys) == 0


@pytest.mark.parametrize(
    ("method", "path", "key", "expected"),
    [
        ("GET", "/v1/phases", "guessed", (403, "invalid_key")),
        ("GET", "/v1/phases", None, (403, "invalid_key")),
        ("GET", "/no/such/path", KEY, (404, "not_found")),
        ("DELETE", "/v1/phases", None, (404, "not_found")),
    ],
)
def test_requests_without_a_route_or_a_valid_key_are_limited_and_take_nothing_from_participants(
    template: SamTemplate, method: str, path: str, key: str | None, expected: tuple[int, str]
) -> None:
    few = ThrottleSettings(rate=1e-9, burst=3)
    tested = gateway(template, RecordingHandler(), RateLimiter(stage=few, rejections=few))
    responses = [send(tested, method, path, key=key) for _ in range(5)]
    assert [status_and_code(response) for response in responses] == [expected] * 3 + [(429, "throttled")] * 2
    assert dict(responses[-1].headers)["Retry-After"] == "1"
    assert [send(tested, "GET", "/v1/phases").status for _ in range(4)] == [200, 200, 200, 429]


def test_rejected_heads_are_limited_too(template: SamTemplate) -> None:
    tested = gateway(template, RecordingHandler(), RateLimiter(rejections=ThrottleSettings(rate=1e-9, burst=2)))
    head = HttpRequest("POST", "/v1/runs", "", [("Host", "localhost")], b"", "127.0.0.1")
    rejections = [tested.reject_early(head) for _ in range(3)]
    assert [rejection.status for rejection in rejections if rejection] == [403, 403, 429]


def test_every_address_has_its_own_limit_of_rejections(template: SamTemplate) -> None:
    tested = gateway(template, RecordingHandler(), RateLimiter(rejections=ThrottleSettings(rate=1e-9, burst=1)))
    addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]  # the last two are of one network
    responses = [tested.respond(HttpRequest("GET", "/nothing/here", "", [], b"", address)) for address in addresses]
    assert [response.status for response in responses] == [404, 429, 404, 404, 429]


def test_the_limits_come_from_the_template() -> None:
    dev = SamTemplate.load("dev")  # a burst of 40 for each key
    handlers = dict.fromkeys(("PublicFunction", "ReadFunction", "ScoringFunction"), RecordingHandler())
    tested = Gateway(dev, handlers, lambda key: key == KEY)
    statuses = [send(tested, "GET", "/v1/phases").status for _ in range(60)]
    assert statuses[:40] == [200] * 40
    assert 429 in statuses[40:]
    guesses = [send(tested, "GET", "/v1/phases", key="guessed").status for _ in range(40)]
    assert guesses[:20] == [403] * 20
    assert 429 in guesses[20:]


# validation


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        '{"id": "a", "translation": "b"}'.encode("utf-16"),
        b"[" * 100_000,
        [],
        "text",
        None,
        {},
        {"id": "a"},
        {"id": 1, "translation": "b"},
        {"id": "a", "translation": None},
        {"id": "a", "translation": ["b"]},
    ],
)
def test_an_invalid_body_is_rejected_before_the_function_is_called(template: SamTemplate, body: object) -> None:
    handler = RecordingHandler()
    assert status_and_code(send(gateway(template, handler), "POST", "/v1/runs/r/translations", body)) == (
        400,
        "bad_request",
    )
    assert handler.events == []


def test_a_valid_body_is_passed_on_unchanged(template: SamTemplate) -> None:
    handler = RecordingHandler()
    body = '{ "id":"a", "translation" : "größe \\ud83d\\ude00", "more": 1 }'.encode()
    assert send(gateway(template, handler), "POST", "/v1/runs/r/translations", body).status == 200
    assert handler.events[0]["body"] == body.decode()


def test_only_bodies_declared_as_json_are_checked(template: SamTemplate) -> None:
    """As in API Gateway, so the function must check again."""
    handler = RecordingHandler()
    tested = gateway(template, handler)
    send(tested, "POST", "/v1/runs", b"phase=mock", headers={"Content-Type": "text/plain"})
    assert len(handler.events) == 1
    refused = send(tested, "POST", "/v1/runs", b"{}", headers={"content-type": "Application/JSON; charset=utf-8"})
    assert refused.status == 400


def test_an_event_beyond_the_limit_of_lambda_is_too_large(template: SamTemplate) -> None:
    handler = RecordingHandler()
    body = {"id": "a", "translation": "x" * 7_000_000}
    assert status_and_code(send(gateway(template, handler), "POST", "/v1/runs/r/translations", body)) == (
        413,
        "too_large",
    )
    body = {"id": "a", "translation": "x" * 5_000_000}
    assert send(gateway(template, handler), "POST", "/v1/runs/r/translations", body).status == 200


def test_a_body_beyond_the_limit_of_the_service_is_not_read(template: SamTemplate, loaded: LoadedService) -> None:
    server = local_server(template, loaded.service, ("127.0.0.1", 0))
    with running(server), socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as client:
        client.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n")
        assert client.recv(1_000).startswith(b"HTTP/1.1 413 ")


# responses


@pytest.mark.parametrize("result", [RuntimeError("a secret"), {"body": "no status"}, "text"])
def test_the_response_to_a_failure_of_a_function_reveals_nothing(template: SamTemplate, result: object) -> None:
    response = send(gateway(template, RecordingHandler(result)), "GET", "/v1/phases")
    assert status_and_code(response) == (502, "internal")
    assert b"secret" not in response.body


def test_a_response_beyond_the_limit_of_lambda_is_a_failure(template: SamTemplate) -> None:
    huge = {"statusCode": 200, "body": "x" * (6 * 1024 * 1024 + 1)}
    assert status_and_code(send(gateway(template, RecordingHandler(huge)), "GET", "/v1/phases")) == (502, "internal")


@pytest.mark.parametrize("reason", list(RejectionReason))
def test_rejections_of_the_server_have_a_status_and_a_code(template: SamTemplate, reason: RejectionReason) -> None:
    status, code = status_and_code(gateway(template, RecordingHandler()).reject(reason))
    assert status == {RejectionReason.BUSY: 429}.get(reason, reason.value)
    known = {413: "too_large", 429: "throttled", 504: "unavailable"}
    assert code == known.get(status, "bad_request" if status < 500 else "internal")


# with the real handlers


def test_a_whole_run_through_the_real_handlers(template: SamTemplate, loaded: LoadedService) -> None:
    tested = Gateway(template, load_handlers(template), loaded.is_known_key)

    def call(method: str, path: str, body: object = None) -> tuple[int, Any]:
        response = send(tested, method, path, body, key=loaded.api_key)
        return response.status, json.loads(response.body)

    assert call("GET", "/health") == (200, {"status": "ok"})
    _, opened = call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})
    run = f"/v1/runs/{opened['run']}"
    _, sentence = call("GET", f"{run}/sentence")
    scores = []
    while sentence:
        _, scored = call("POST", f"{run}/translations", {"id": sentence["id"], "translation": "dog"})
        scores.append(scored["score"])
        sentence = scored["next"]
    assert scores == [pytest.approx(0.01), 1.0, pytest.approx(0.01)]
    assert call("GET", f"{run}/sentence")[0] == 410
    assert call("GET", run)[1]["finished"] is True
    status, error = call("GET", "/v1/runs/unknown")
    assert (status, error["code"]) == (404, "run_not_found")


def test_large_responses_are_compressed_for_clients_that_accept_it(template: SamTemplate) -> None:
    body = json.dumps({"rows": list(range(2_000))})
    tested = gateway(template, RecordingHandler({"statusCode": 200, "headers": {"ETag": '"one"'}, "body": body}))
    path = "/v1/leaderboard/dev"
    compressed = send(tested, "GET", path, headers={"Accept-Encoding": "gzip, br"})
    assert dict(compressed.headers)["Content-Encoding"] == "gzip"
    assert dict(compressed.headers)["ETag"] == '"one"'
    assert gzip.decompress(compressed.body).decode() == body
    assert send(tested, "GET", path).body.decode() == body


def test_the_same_response_is_compressed_once(template: SamTemplate, monkeypatch: pytest.MonkeyPatch) -> None:
    compressed, compress = [], gzip.compress

    def counting(data: bytes, level: int, *, mtime: int) -> bytes:
        compressed.append(len(data))
        return compress(data, level, mtime=mtime)

    monkeypatch.setattr(gzip, "compress", counting)
    handler = RecordingHandler({"statusCode": 200, "body": "one" * 1_000})
    tested = gateway(template, handler)
    for text in ("one" * 1_000, "one" * 1_000, "another" * 1_000, "one" * 1_000):
        handler.result = {"statusCode": 200, "body": text}
        response = send(tested, "GET", "/v1/leaderboard/dev", headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(response.body).decode() == text
    assert compressed == [3_000, 7_000]


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5, br", True),
        ("gzip;q=1.0", True),
        ("br;q=1.0 , gzip ; q=0.001", True),
        ("gzip;q=1.000", True),
        ("gzip;q=0", False),
        ("gzip;q=2", False),
        ("gzip;q=0.0001", False),  # a weight has at most three decimals
        ("gzip;q=.5", False),  # and a digit before its point
        ("gzip;q=0;q=1", False),
        ("gzip;q=0.000", False),
        ("br", False),
        ("not-gzip", False),
        ("", False),
    ],
)
def test_the_page_is_compressed_for_clients_that_accept_it(
    template: SamTemplate, loaded: LoadedService, accepted: str, compressed: bool
) -> None:
    response = send(local_gateway(template, loaded.service), "GET", "/style.css", headers={"Accept-Encoding": accepted})
    assert (response.status, "Content-Encoding" in dict(response.headers)) == (200, compressed)
    body = gzip.decompress(response.body) if compressed else response.body
    assert body == (SITE_FOLDER / "style.css").read_bytes()


@pytest.mark.parametrize("path", ["/nothing", "/HEALTH", "/v1", "/%2e%2e"])
def test_other_files_are_not_found(template: SamTemplate, loaded: LoadedService, path: str) -> None:
    response = send(local_gateway(template, loaded.service), "GET", path)
    assert (response.status, json.loads(response.body)["code"]) == (404, "not_found")


def test_small_responses_are_not_compressed(template: SamTemplate) -> None:
    response = send(gateway(template, RecordingHandler()), "GET", "/health", headers={"Accept-Encoding": "gzip"})
    assert response.body == b"{}"
    assert "Content-Encoding" not in dict(response.headers)
