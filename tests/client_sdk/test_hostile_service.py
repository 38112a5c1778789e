"""Both SDKs against hostile servers: bounded memory and time, and an error of the SDK that a terminal can show."""

import copy
import gzip
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest

from banditmt_client import BanditError, ConnectionFailedError, NotFoundError, ProtocolError, play
from tests.client_sdk.fake_service import KEY, RUN, FakeService, score_of, serving
from tests.client_sdk.hostile_server import (
    BROKEN,
    HEAD,
    LARGE,
    MALFORMED,
    SLOW,
    attacking,
    respond_with,
    say_nothing,
    send,
)
from tests.client_sdk.java_sdk import java as java_command
from tests.client_sdk.live_service import BANDITMT

MAX_MEGABYTES = 64  # of the Python SDK; the heap of the Java SDK has 128 in tests
MUTATIONS = 100
MAX_SECONDS = 30  # of one attempt on a busy machine; attacks without an end last twice as long


@pytest.fixture
def failure_of(make_client):
    """A function that returns the error of a client under attack, after checks of its message, its time and memory."""

    def fail(attack, read_timeout=MAX_SECONDS):
        with attacking(attack) as server:
            client = make_client(KEY, server.url, retries=0, connect_timeout=0.5, read_timeout=read_timeout)
            tracemalloc.start()
            begin = time.monotonic()
            try:
                with pytest.raises(BanditError) as raised:
                    client.phases()
                seconds, (_, peak) = time.monotonic() - begin, tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            _check_recovery(client)
        assert seconds < MAX_SECONDS
        assert peak < MAX_MEGABYTES * 1e6
        assert str(raised.value).isprintable()
        return raised.value

    return fail


def _check_recovery(client):
    """Check that the same client can make the next call."""
    for _ in range(5):
        with suppress(ConnectionFailedError):  # it may have kept a connection that the server closed
            assert [phase.name for phase in client.phases()] == ["dev"]
            return
    pytest.fail("the client does not recover")


@pytest.mark.parametrize("name", SLOW)
def test_a_response_that_drips_ends_in_time(name, failure_of):
    error = failure_of(SLOW[name], read_timeout=0.5)
    assert type(error) is ConnectionFailedError
    assert "did not respond in time" in str(error)


@pytest.mark.parametrize("name", LARGE)
def test_a_response_that_is_too_large_is_not_read_to_its_end(name, sdk, failure_of):
    error = failure_of(LARGE[name])
    if sdk.name == "java" and "gzip" in name:  # it asks for none
        assert "did not respond with a JSON object" in str(error) or "status 404" in str(error)
    else:
        assert type(error) is ProtocolError
        assert "the response is larger than 6,291,456 bytes" in str(error)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_http_is_an_error_of_the_sdk(name, failure_of):
    failure_of(BROKEN[name], read_timeout=0.5)


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_json_is_a_protocol_error(name, failure_of):
    error = failure_of(respond_with(MALFORMED[name]))
    assert type(error) is ProtocolError


def test_a_server_that_always_hangs_up_is_a_failed_connection(make_client):
    with attacking(*[send(b"")] * 100) as server, pytest.raises(ConnectionFailedError, match="could not be reached"):
        make_client(KEY, server.url, retries=3).phases()


def test_a_response_with_random_changes_is_an_error_of_the_sdk_or_harmless(make_client):
    generator = random.Random(22)
    responses = [
        HEAD + b"Content-Length: 14\r\nConnection: close\r\n\r\n" + b'{"phases": []}',
        HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + b'e\r\n{"phases": []}\r\n0\r\n\r\n',
        HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b'{"phases": []}', mtime=0),
    ]
    attacks = [send(_mutated(generator.choice(responses), generator)) for _ in range(MUTATIONS)]
    with attacking(*attacks) as server:
        client = make_client(KEY, server.url, retries=0, read_timeout=2)
        for _ in attacks:
            with suppress(BanditError):
                client.phases()
        assert len(server.requests) >= 0.9 * MUTATIONS  # some keep a connection that the server then closes


def _mutated(response, generator):
    """Return a response with one to four changed, repeated or missing pieces."""
    for _ in range(generator.randint(1, 4)):
        at, size = generator.randrange(len(response)), generator.choice([0, 1, 1, 2, 8])
        piece = generator.choice([b"", b"\r\n", b"\n", b"-", b"9" * 30, b"\x00", b";", b":", b"\xff", response[at:]])
        response = response[:at] + piece + response[at + size :]
    return response


def test_a_response_that_is_too_large_is_not_asked_for_again(make_client):
    with attacking(*[LARGE["chunks"]] * 3) as server:
        with pytest.raises(ProtocolError, match="is larger than"):
            make_client(KEY, server.url, retries=2).phases()
        assert len(server.requests) == 1


def test_an_error_that_the_caller_handles_does_not_explain_the_next_one(make_client):
    with attacking(LARGE["chunks"], *[send(b"")] * 100) as server:
        client = make_client(KEY, server.url, retries=0)
        try:
            client.phases()
        except ProtocolError:
            with pytest.raises(ConnectionFailedError, match="could not be reached"):
                client.phases()


def test_a_large_response_within_the_limit_is_read(make_client):
    rows = [{"system": f"system {number}", "curve": [[n, n / 7] for n in range(100)]} for number in range(1_000)]
    body = json.dumps({"phase": "dev", "rows": rows}).encode()
    assert 1_000_000 < len(body) < 6 * 1024 * 1024
    with attacking(respond_with(body)) as server:
        assert "system 999" in str(make_client(KEY, server.url, retries=0).leaderboard("dev"))


@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x", "300 x", "201 x"])
def test_a_redirect_does_not_carry_the_key_elsewhere(status, make_client):
    with attacking() as elsewhere:
        redirect = respond_with(b"", f"Location: {elsewhere.url}/v1/phases", "Refresh: 0", status=status)
        with attacking(redirect) as server, pytest.raises(BanditError):
            make_client(KEY, server.url, retries=0).phases()
        assert elsewhere.requests == []


def test_a_server_that_does_not_speak_tls_is_an_error_of_the_sdk(make_client):
    for attack in (BROKEN["a record of TLS"], BROKEN["no content"], say_nothing):
        with attacking(attack) as server:
            url = server.url.replace("http:", "https:")
            client = make_client(KEY, url, retries=0, connect_timeout=0.5, read_timeout=0.5)
            with pytest.raises(ConnectionFailedError):
                client.phases()


def test_a_translation_is_resent_after_broken_responses_and_committed_once(make_client):
    service = FakeService(["eins"])
    path = f"/v1/runs/{RUN}/translations"

    def commit_then(attack):
        def respond(connection):
            service.respond("POST", path, {"id": "t0", "translation": "one"})
            attack(connection)

        return respond

    def answer(method, path, body=None):
        return respond_with(json.dumps(service.respond(method, path, body)[1]).encode(), "Connection: close")

    attacks = [
        BROKEN["a reset"],
        BROKEN["half of gzip"],
        respond_with(MALFORMED["very deep arrays"], "Connection: close"),
    ]
    opened, sentence = answer("GET", f"/v1/runs/{RUN}"), answer("GET", f"/v1/runs/{RUN}/sentence")
    feedback = respond_with(json.dumps({"score": score_of("one"), "next": None}).encode(), "Connection: close")
    with attacking(opened, sentence, *map(commit_then, [*attacks, feedback])) as server:
        run = make_client(KEY, server.url).get_run(RUN)
        run.sentence()
        assert run.submit("one") == score_of("one")
        sent = [request for request in server.requests if request.startswith(b"POST")]
    assert [translation for _, translation, _ in service.ledger] == ["one"]
    assert len(sent) >= 4
    assert len(set(sent)) == 1


# fields

WRONG_VALUES: list[Any] = [
    *(None, True, -1, 0, 7, 2**31, 2**63, 10**30, 0.5, -0.5, 1e300, "", "x", [], {}, [None], [[]], {"x": 1}),
    *("a\nb", "a\x1b[31mb", "\x9b31m", "\u202ex", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "x" * 9999),
]
CALLS = {
    "open": lambda client: client.open_run(phase="dev", system="s"),
    "run": lambda client: (client.get_run(RUN).last, client.get_run(RUN).progress),
    "sentence": lambda client: client.get_run(RUN).sentence(),
    "submit": lambda client: _submit(client.get_run(RUN)),
    "phases": lambda client: client.phases(),
    "task": lambda client: client.task(),
}


def _submit(run):
    if run.sentence() is not None:
        run.submit("one")


def _fields(value, path=()):
    """Yield the path of every field in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (*path, name)
        yield from _fields(inner, (*path, name))


def _replaced(value, path, wrong):
    changed = copy.deepcopy(value)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = wrong
    return changed


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_value_in_any_field_is_a_protocol_error_or_harmless(call, client_of, monkeypatch):
    with serving(
        ["eins", "zwei", "drei"], post_edits=["one", "two", "three"], documents=[("d", n) for n in range(3)]
    ) as server:
        respond = server.service.respond
        translate = f"/v1/runs/{RUN}/translations"
        respond("POST", translate, {"id": "t0", "translation": "one"})
        answers = {
            (method, path): respond(method, path, {"id": "t1", "translation": "one"})[1]
            for method, path in [
                *(("POST", "/v1/runs"), ("GET", f"/v1/runs/{RUN}"), ("GET", f"/v1/runs/{RUN}/sentence")),
                *(("GET", "/v1/phases"), ("GET", "/v1/task"), ("POST", translate)),
            ]
        }
        targets = {"open": "/v1/runs", "run": f"/v1/runs/{RUN}", "sentence": f"/v1/runs/{RUN}/sentence"}
        target = {**targets, "submit": translate, "phases": "/v1/phases", "task": "/v1/task"}[call]
        client = client_of(server, retries=0, read_timeout=30)
        tried = 0
        for path in _fields(next(body for (_, at), body in answers.items() if at == target)):
            for wrong in WRONG_VALUES:

                def answer(method, at, _body, path=path, wrong=wrong):
                    body = answers.get((method, at))
                    return (200, _replaced(body, path, wrong) if at == target else body) if body else (404, {})

                monkeypatch.setattr(server.service, "respond", answer)
                tried += 1
                with suppress(ProtocolError, NotFoundError):  # a wrong run id is not found
                    CALLS[call](client)
        assert tried >= 5 * len(WRONG_VALUES)


@pytest.mark.parametrize(
    "state",
    [
        *({"index": 3}, {"total": 0}, {"index": -1}, {"total": -1}, {"last": 7}, {"last": []}),
        *({"run": "a\nb"}, {"system": "\x1b]0;owned\x07"}, {"phase": "\x9b31m"}),
    ],
)
def test_an_impossible_state_of_a_run_is_a_protocol_error(state, client_of, monkeypatch):
    with serving(["eins", "zwei"]) as server:
        body = {**server.service.state(), **state}
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, body))
        with pytest.raises(ProtocolError, match=f"no valid '{next(iter(state))}'"):
            _ = client_of(server).get_run(RUN).progress


@pytest.mark.parametrize("index", [-1, 0, 2, 7])
def test_the_next_sentence_must_be_the_next_round(index, client_of, monkeypatch):
    with serving(["eins", "zwei", "drei"]) as server:
        run = client_of(server).open_run(phase="dev", system="s")
        run.sentence()
        following = {**(server.service.sentence(1) or {}), "index": index}
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, {"score": 0.5, "next": following}))
        with pytest.raises(ProtocolError, match="no valid 'index'"):
            run.submit("one")


@pytest.mark.parametrize("source", ["eins\nzwei", "eins\rzwei", "\x1b[2Jeins", "ei\x00ns", "\x9b31meins"])
def test_a_source_sentence_is_one_line_without_control_characters(source, client_of):
    with serving([source]) as server, pytest.raises(ProtocolError, match="no valid 'source'"):
        client_of(server).open_run(phase="dev", system="s").sentence()


# text for terminals

ESCAPES = "a\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c\r\nb\tc\x9b2J\u2066d\u00ade\u200b\U000e0041 größe 東京"
SHOWN = r"a\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c  b c\x9b2J\u2066d\xade\u200b\U000e0041 größe 東京"


def test_the_message_of_an_error_has_no_escape_sequences(client_of, monkeypatch):
    body = {"code": ESCAPES, "message": ESCAPES, "request_id": ESCAPES}
    with serving(["a"]) as server:
        monkeypatch.setattr(server.service, "respond", lambda *_: (404, body))
        with pytest.raises(BanditError) as raised:
            client_of(server).phases()
    assert str(raised.value) == f"{SHOWN} [request {SHOWN}]"
    assert (raised.value.code, raised.value.request_id) == (SHOWN, SHOWN)


def test_a_long_message_is_cut(client_of, monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setattr(server.service, "respond", lambda *_: (404, {"message": "x" * 100_000}))
        with pytest.raises(BanditError) as raised:
            client_of(server).phases()
    assert str(raised.value) == "x" * 1_000 + "..."


def test_the_string_form_of_a_run_has_no_direction_marks(client_of, monkeypatch):
    with serving(["a"]) as server:
        state = {**server.service.state(), "run": "\u202er", "phase": "\u202ep", "system": "\u202es"}
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, state))
        run = client_of(server).open_run(phase="dev", system="s")
    assert repr(run) == r"<Run \u202er of '\u202es' in \u202ep: 0 of 1 rounds>"


def test_what_banditmt_play_prints_has_no_direction_marks(monkeypatch, capsys):
    with serving(["eins"]) as server:
        monkeypatch.setenv("BANDITMT_API_KEY", KEY)
        monkeypatch.setenv("BANDITMT_URL", server.url)
        task, state = _with_marks(server.service.task()), {**_with_marks(server.service.state()), "run": RUN}
        monkeypatch.setattr(server.service, "task", lambda: task)
        monkeypatch.setattr(server.service, "state", lambda: state)
        assert play.main(["--about"]) == 0
        assert play.main(["--phase", "dev", "--system", "s", "--", "cat"]) == 0
        shown = "".join(capsys.readouterr())
    assert shown.startswith("\\u202eA task of few words\nlanguages      \\u202ede to \\u202een\n")
    assert f"\\u202etested: run {RUN} of phase \\u202edev, at round 0 of 1" in shown
    assert shown.replace("\n", "").isprintable()


def _with_marks(value):
    """Return a JSON value whose strings begin with a mark that turns the direction of writing, except times."""
    if isinstance(value, dict):
        return {name: inner if name.endswith("_at") else _with_marks(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_marks(inner) for inner in value]
    return "\u202e" + value if isinstance(value, str) else value


# a server that cannot be reached


def _closed_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


COPY = "from banditmt_client import Client; Client().phases()"
UNREACHABLE = "attempt [3-5] of 11 failed, retrying in [0-9.]+ s: http://127.0.0.1:[0-9]+ could not be reached "


@pytest.mark.parametrize("participant", ["script", "banditmt-play", "banditmt", "java"])
def test_a_server_that_cannot_be_reached_is_said_after_seconds(participant, request):
    command = {
        "script": lambda: [sys.executable, "-c", COPY],
        "banditmt-play": lambda: [sys.executable, "-c", "from banditmt_client.play import main; main()", "--about"],
        "banditmt": lambda: [*BANDITMT, "play", "copy-source", "--phase", "dev"],
        "java": lambda: java_command(request.getfixturevalue("java_classes"), "CopySource"),
    }[participant]()
    settings = {"BANDITMT_API_KEY": KEY, "BANDITMT_URL": f"http://127.0.0.1:{_closed_port()}"}
    with subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = next(line for line in process.stderr if "attempt" in line)
        finally:
            process.kill()
    assert re.search(UNREACHABLE, said)


def test_the_last_error_names_the_attempts(make_client):
    with pytest.raises(ConnectionFailedError, match=r"could not be reached \(\w+, 2 attempts\)"):
        make_client(KEY, f"http://127.0.0.1:{_closed_port()}", retries=1).phases()
