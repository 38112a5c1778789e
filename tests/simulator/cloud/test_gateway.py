"""The gateway: what API Gateway does with a request before and after a function."""

import gzip
import json
import re
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from lambdas.errors import UnavailableError
from leaderboard.page import SITE
from simulator.cloud.events import Context
from simulator.cloud.gateway import Gateway, Handler, Routes, load_handlers
from simulator.cloud.local import local_gateway, local_server
from simulator.cloud.messages import Refusal, Request, Response
from simulator.cloud.server import running
from simulator.cloud.template import Route, Template
from simulator.cloud.throttle import Gate, Quota, Rate
from tests.simulator.cloud.conftest import Stage

KEY = "sesame"


class Recorder:
    """A handler that remembers its events."""

    def __init__(self, answer: object = None) -> None:
        self.answer = answer or {"statusCode": 200, "headers": {}, "body": "{}"}
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: dict[str, Any], _: Context) -> object:
        self.events.append(event)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def gateway(template: Template, handler: Handler, gate: Gate | None = None) -> Gateway:
    handlers = {"ReadFunction": handler, "ScoringFunction": handler}
    return Gateway(template, handlers, lambda key: key == KEY, gate=gate or Gate())


def ask(
    asked: Gateway,
    method: str,
    path: str,
    body: object = None,
    *,
    key: str | None = KEY,
    headers: Mapping[str, str] | None = None,
) -> Response:
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    sent = [("Host", "localhost"), *(headers or {}).items(), *([("X-API-Key", key)] if key else [])]
    return asked.answer(Request(method, path, "", sent, data, "127.0.0.1"))


def code(response: Response) -> tuple[int, str]:
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
def test_a_path_or_method_that_does_not_exist_is_not_found(template: Template, method: str, path: str) -> None:
    handler = Recorder()
    assert code(ask(gateway(template, handler), method, path)) == (404, "not_found")
    assert handler.events == []


def test_parameters_reach_the_function(template: Template) -> None:
    handler = Recorder()
    ask(gateway(template, handler), "GET", "/v1/runs/r-1/sentence")
    [event] = handler.events
    assert (event["resource"], event["pathParameters"]) == ("/v1/runs/{run}/sentence", {"run": "r-1"})


def test_a_literal_segment_goes_before_a_parameter() -> None:
    routes = [Route("GET", path, "F", False, None, False) for path in ("/runs/{run}", "/runs/best", "/{a}/best")]
    matched = Routes(routes).match("GET", "/runs/best")
    assert matched is not None
    assert matched.route.path == "/runs/best"


# keys


@pytest.mark.parametrize("key", [None, "wrong", "", "Sesame", "sesame "])
def test_without_a_known_key_nothing_is_called(template: Template, key: str | None) -> None:
    handler = Recorder()
    assert code(ask(gateway(template, handler), "GET", "/v1/phases", key=key)) == (403, "invalid_key")
    assert handler.events == []


def test_while_keys_cannot_be_looked_up_nobody_passes_and_no_key_is_remembered(
    template: Template, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: str) -> None:
        raise UnavailableError

    monkeypatch.setattr(stage.store, "document", down)
    asked = local_gateway(template, stage.service)
    for number in range(3):
        guess = ask(asked, "GET", "/v1/phases", key=f"bmt_{number:043d}")
        assert code(guess) == (503, "unavailable")
        assert dict(guess.headers)["Retry-After"] == "1"
    assert len(asked._gate._clients) == 0
    assert ask(asked, "GET", "/nothing").status == 404


def test_health_needs_no_key(template: Template) -> None:
    assert ask(gateway(template, Recorder()), "GET", "/health", key=None).status == 200


def test_the_function_sees_the_key(template: Template) -> None:
    handler = Recorder()
    ask(gateway(template, handler), "GET", "/v1/phases")
    [event] = handler.events
    assert event["requestContext"]["identity"]["apiKey"] == KEY
    assert event["headers"]["X-API-Key"] == KEY


# limits


def test_too_many_requests_are_told_when_to_come_back(template: Template) -> None:
    asked = gateway(template, Recorder(), Gate(per_key=Rate(rate=1e-9, burst=1)))
    assert ask(asked, "GET", "/v1/phases").status == 200
    refused = ask(asked, "GET", "/v1/phases")
    assert code(refused) == (429, "throttled")
    assert dict(refused.headers)["Retry-After"] == "1"


def test_a_spent_daily_quota_comes_back_so_it_is_no_final_refusal(template: Template) -> None:
    """The service's ``quota_exceeded`` means that waiting is pointless, and clients give up on it."""
    asked = gateway(template, Recorder(), Gate(quota=Quota(1, "DAY")))
    assert ask(asked, "GET", "/v1/phases").status == 200
    refused = ask(asked, "GET", "/v1/phases")
    assert code(refused) == (429, "throttled")
    assert dict(refused.headers)["Retry-After"] == "3600"


def test_visitors_do_not_use_up_what_participants_may_ask() -> None:
    dev = Template.load("dev")
    asked = Gateway(dev, dict.fromkeys(dev.functions, Recorder()), lambda key: key == KEY)
    for path in ("/health", "/v1/leaderboard/dev"):
        statuses = [ask(asked, "GET", path, key=None).status for _ in range(300)]
        assert statuses[:20] == [200] * 20
        assert 429 in statuses
    assert ask(asked, "GET", "/v1/phases").status == 200


@pytest.mark.parametrize(
    ("method", "path", "key", "expected"),
    [
        ("POST", "/v1/runs", "guessed", (403, "invalid_key")),
        ("POST", "/v1/runs", None, (403, "invalid_key")),
        ("POST", "/v1/elsewhere", KEY, (404, "not_found")),
    ],
)
def test_strangers_are_refused_by_their_head_alone(
    template: Template, method: str, path: str, key: str | None, expected: tuple[int, str]
) -> None:
    asked = gateway(template, Recorder())
    headers = [("Host", "localhost"), *([("x-api-key", key)] if key else [])]
    refused = asked.admit(Request(method, path, "", headers, b"", "127.0.0.1"))
    assert refused is not None
    assert code(refused) == expected


def test_whoever_has_a_key_is_admitted(template: Template) -> None:
    request = Request("POST", "/v1/runs", "", [("Host", "localhost"), ("x-api-key", KEY)], b"", "127.0.0.1")
    assert gateway(template, Recorder()).admit(request) is None


def test_unknown_keys_are_not_remembered(template: Template) -> None:
    gate = Gate(per_key=Rate(1, 1))
    asked = gateway(template, Recorder(), gate)
    for number in range(100):
        ask(asked, "GET", "/v1/phases", key=f"guess {number}")
    assert len(gate._clients) == 0


def test_guesses_count_and_once_there_were_too_many_a_right_one_looks_like_the_others(template: Template) -> None:
    handler = Recorder()
    asked = gateway(template, handler, Gate(overall=Rate(rate=1e-9, burst=3)))
    guesses = [code(ask(asked, "GET", "/v1/phases", key=f"guess {number}")) for number in range(5)]
    assert guesses == [(403, "invalid_key")] * 3 + [(429, "throttled")] * 2
    assert code(ask(asked, "GET", "/v1/phases", key=KEY)) == (429, "throttled")
    assert handler.events == []


def test_the_limits_come_from_the_template() -> None:
    dev = Template.load("dev")  # 40 at once for each key
    handlers = dict.fromkeys(("ReadFunction", "ScoringFunction"), Recorder())
    asked = Gateway(dev, handlers, lambda key: key == KEY)
    statuses = [ask(asked, "GET", "/v1/phases").status for _ in range(60)]
    assert statuses[:40] == [200] * 40
    assert 429 in statuses[40:]


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
def test_a_body_that_does_not_fit_is_refused_before_the_function(template: Template, body: object) -> None:
    handler = Recorder()
    assert code(ask(gateway(template, handler), "POST", "/v1/runs/r/translations", body)) == (400, "bad_request")
    assert handler.events == []


def test_a_body_that_fits_is_passed_on_unchanged(template: Template) -> None:
    handler = Recorder()
    body = '{ "id":"a", "translation" : "größe \\ud83d\\ude00", "more": 1 }'.encode()
    assert ask(gateway(template, handler), "POST", "/v1/runs/r/translations", body).status == 200
    assert handler.events[0]["body"] == body.decode()


def test_only_what_claims_to_be_json_is_checked(template: Template) -> None:
    """So does API Gateway: the function must check again."""
    handler = Recorder()
    asked = gateway(template, handler)
    ask(asked, "POST", "/v1/runs", b"phase=mock", headers={"Content-Type": "text/plain"})
    assert len(handler.events) == 1
    refused = ask(asked, "POST", "/v1/runs", b"{}", headers={"content-type": "Application/JSON; charset=utf-8"})
    assert refused.status == 400


def test_what_lambda_would_not_take_is_too_large(template: Template) -> None:
    handler = Recorder()
    body = {"id": "a", "translation": "x" * 7_000_000}
    assert code(ask(gateway(template, handler), "POST", "/v1/runs/r/translations", body)) == (413, "too_large")
    body = {"id": "a", "translation": "x" * 5_000_000}
    assert ask(gateway(template, handler), "POST", "/v1/runs/r/translations", body).status == 200


def test_what_the_service_would_not_take_is_not_even_read(template: Template, stage: Stage) -> None:
    server = local_server(template, stage.service, ("127.0.0.1", 0))
    with running(server), socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as client:
        client.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n")
        assert client.recv(1_000).startswith(b"HTTP/1.1 413 ")


# answers


@pytest.mark.parametrize("answer", [RuntimeError("a secret"), {"body": "no status"}, "text"])
def test_a_function_that_fails_tells_nothing(template: Template, answer: object) -> None:
    response = ask(gateway(template, Recorder(answer)), "GET", "/v1/phases")
    assert code(response) == (502, "internal")
    assert b"secret" not in response.body


def test_an_answer_that_lambda_would_not_give_is_a_failure(template: Template) -> None:
    huge = {"statusCode": 200, "body": "x" * (6 * 1024 * 1024 + 1)}
    assert code(ask(gateway(template, Recorder(huge)), "GET", "/v1/phases")) == (502, "internal")


@pytest.mark.parametrize("refusal", list(Refusal))
def test_what_the_server_refuses_is_worded_alike(template: Template, refusal: Refusal) -> None:
    status, word = code(gateway(template, Recorder()).refuse(refusal))
    assert status == {Refusal.BUSY: 429}.get(refusal, refusal.value)
    known = {413: "too_large", 429: "throttled", 504: "unavailable"}
    assert word == known.get(status, "bad_request" if status < 500 else "internal")


# with the real handlers


def test_a_whole_run_through_the_real_handlers(template: Template, stage: Stage) -> None:
    asked = Gateway(template, load_handlers(template), stage.knows_key)

    def call(method: str, path: str, body: object = None) -> tuple[int, Any]:
        response = ask(asked, method, path, body, key=stage.api_key)
        return response.status, json.loads(response.body)

    assert call("GET", "/health") == (200, {"status": "ok"})
    _, opened = call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})
    run = f"/v1/runs/{opened['run']}"
    _, sentence = call("GET", f"{run}/sentence")
    scores = []
    while sentence:
        _, answer = call("POST", f"{run}/translations", {"id": sentence["id"], "translation": "dog"})
        scores.append(answer["score"])
        sentence = answer["next"]
    assert scores == [pytest.approx(0.01), 1.0, pytest.approx(0.01)]
    assert call("GET", f"{run}/sentence")[0] == 410
    assert call("GET", run)[1]["finished"] is True
    status, refused = call("GET", "/v1/runs/unknown")
    assert (status, refused["code"]) == (404, "run_not_found")


def test_large_answers_are_compressed_for_those_who_can_read_it(template: Template) -> None:
    body = json.dumps({"rows": list(range(2_000))})
    asked = gateway(template, Recorder({"statusCode": 200, "headers": {"ETag": '"one"'}, "body": body}))
    path = "/v1/leaderboard/dev"
    compressed = ask(asked, "GET", path, headers={"Accept-Encoding": "gzip, br"})
    assert dict(compressed.headers)["Content-Encoding"] == "gzip"
    assert dict(compressed.headers)["ETag"] == '"one"'
    assert gzip.decompress(compressed.body).decode() == body
    assert ask(asked, "GET", path).body.decode() == body


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5, br", True),
        ("gzip;q=1.0", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("br", False),
        ("not-gzip", False),
        ("", False),
    ],
)
def test_the_page_is_compressed_for_those_who_can_read_it(
    template: Template, stage: Stage, accepted: str, compressed: bool
) -> None:
    answer = ask(local_gateway(template, stage.service), "GET", "/style.css", headers={"Accept-Encoding": accepted})
    assert (answer.status, "Content-Encoding" in dict(answer.headers)) == (200, compressed)
    body = gzip.decompress(answer.body) if compressed else answer.body
    assert body == (SITE / "style.css").read_bytes()


@pytest.mark.parametrize("path", ["/nothing", "/HEALTH", "/v1", "/%2e%2e"])
def test_what_is_no_file_of_the_page_is_not_found(template: Template, stage: Stage, path: str) -> None:
    answer = ask(local_gateway(template, stage.service), "GET", path)
    assert (answer.status, json.loads(answer.body)["code"]) == (404, "not_found")


def test_small_answers_are_not_worth_compressing(template: Template) -> None:
    answer = ask(gateway(template, Recorder()), "GET", "/health", headers={"Accept-Encoding": "gzip"})
    assert answer.body == b"{}"
    assert "Content-Encoding" not in dict(answer.headers)
