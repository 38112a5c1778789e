"""The functions as API Gateway calls them: responses, errors, metrics and logs."""

import json
import logging
import threading

import pytest

from lambdas import errors, observability, wiring
from lambdas.handlers import api, public, read, score
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from tests.lambdas import tasks
from tests.lambdas.handlers.events import CONTEXT, Client, event


@pytest.fixture
def client(sqlite):
    """A participant's client of functions over SQLite."""
    tasks.load(sqlite)
    wiring.use_service(Service(sqlite))
    yield Client(Registry(sqlite).add_participant("acme"))
    wiring.use_service(None)


@pytest.fixture
def pending(client):
    """A run and the id of its first sentence."""
    run = client.open_run()[1]["run"]
    return run, client.sentence(run)[1]["id"]


def refusal(response):
    status, body, _ = response
    assert set(body) >= {"code", "message", "request_id"}
    assert body["request_id"] == "request-1"
    return status, body["code"]


class TestResponses:
    def test_a_run_from_start_to_end(self, client):
        status, opened, headers = client.open_run()
        assert status == 200
        assert opened == {"run": opened["run"], "phase": "mock", "system": "copy", "index": 0, "total": 5}
        assert headers["Cache-Control"] == "no-store"
        _, sentence, _ = client.sentence(opened["run"])
        assert sentence == {"id": sentence["id"], "index": 0, "total": 5, "source": tasks.source("mock", 0)}
        rounds = 0
        while sentence:
            status, answer, _ = client.translate(opened["run"], sentence["id"], sentence["source"])
            assert status == 200
            assert set(answer) == {"score", "next"}
            sentence, rounds = answer["next"], rounds + 1
        assert rounds == 5
        status, state, _ = client.run(opened["run"])
        assert status == 200
        assert (state["finished"], state["index"], state["last"]["index"]) == (True, 5, 4)
        assert refusal(client.sentence(opened["run"])) == (410, "run_finished")

    def test_a_repeated_request_gets_the_same_response_byte_for_byte(self, client, pending):
        run, token = pending
        body = {"id": token, "translation": "größe ✓"}
        post = event("POST", f"/v1/runs/{run}/translations", body, key=client.key)
        first, second = score.handler(post, CONTEXT), score.handler(post, CONTEXT)
        assert first == second
        assert "größe" not in first["body"]

    def test_a_body_in_base64(self, client, pending):
        run, token = pending
        raw = json.dumps({"id": token, "translation": "größe"}, ensure_ascii=False).encode()
        assert client.translate(run, raw=raw)[0] == 200
        assert client.run(run)[1]["last"]["translation"] == "größe"

    def test_the_list_of_phases_needs_a_key(self, client):
        assert refusal(client.send(read, "GET", "/v1/phases", key=None)) == (403, "invalid_key")
        status, body, _ = client.send(read, "GET", "/v1/phases", key=client.key)
        assert status == 200
        assert [phase["phase"] for phase in body["phases"]] == ["training", "mock", "dev"]

    def test_health(self, client):
        assert client.send(public, "GET", "/health", key=None)[:2] == (200, {"status": "ok"})

    def test_header_names_are_case_insensitive(self, client):
        request = event("POST", "/v1/runs", {"phase": "mock", "system": "copy"})
        request["headers"]["x-API-key"] = client.key
        assert read.handler(request, CONTEXT)["statusCode"] == 200


class TestLogProbabilities:
    def send(self, client, pending, log_probability):
        run, token = pending
        body = {"id": token, "translation": "ein seil", "log_probability": log_probability}
        return client.send(score, "POST", f"/v1/runs/{run}/translations", body)

    @pytest.mark.parametrize("log_probability", [-2.5, -3, 0, None])
    def test_a_submission_may_carry_one(self, client, pending, sqlite, log_probability):
        assert self.send(client, pending, log_probability)[0] == 200
        assert sqlite.round(pending[0], 0).log_probability == log_probability

    @pytest.mark.parametrize(
        ("log_probability", "message"),
        [
            (0.5, "log_probability is a finite number of at most 0: a natural logarithm"),
            (float("nan"), "log_probability is a finite number of at most 0: a natural logarithm"),
            (float("-inf"), "log_probability is a finite number of at most 0: a natural logarithm"),
            ("-1", "the field log_probability is not a number"),
            (True, "the field log_probability is not a number"),
            ([-1], "the field log_probability is not a number"),
            (-(10**400), "the field log_probability is out of range"),
        ],
    )
    def test_a_wrong_one_is_refused_and_nothing_is_committed(self, client, pending, sqlite, log_probability, message):
        response = self.send(client, pending, log_probability)
        assert refusal(response) == (400, "bad_request")
        assert response[1]["message"] == message
        assert sqlite.round(pending[0], 0) is None


class TestAgain:
    """A request to open a run may say whether another run shall follow a finished one."""

    def send(self, client, again):
        return client.send(read, "POST", "/v1/runs", {"phase": "mock", "system": "copy", "again": again})

    @pytest.mark.parametrize("again", [True, False])
    def test_it_is_a_flag(self, client, again):
        assert self.send(client, again)[0] == 200

    @pytest.mark.parametrize("again", ["false", 0, None])
    def test_any_other_value_is_refused(self, client, again):
        response = self.send(client, again)
        assert refusal(response) == (400, "bad_request")
        assert response[1]["message"] == "the field again is not true or false"

    def test_a_finished_run_is_followed_by_none_without_it(self, client):
        run = client.open_run()[1]["run"]
        sentence = client.sentence(run)[1]
        while sentence is not None:
            sentence = client.translate(run, sentence["id"], "rot")[1]["next"]
        status, body, _ = self.send(client, again=False)
        assert (status, body["code"], body["run"]) == (409, "already_played", run)


class TestRefusals:
    @pytest.mark.parametrize("key", [None, "", "wrong", "bmt_" + "a" * 43, "ä"])
    def test_without_a_valid_key(self, pending, key):
        run, token = pending
        stranger = Client(key)
        for response in (
            stranger.open_run(),
            stranger.run(run),
            stranger.sentence(run),
            stranger.translate(run, token, "rot"),
        ):
            assert refusal(response) == (403, "invalid_key")

    def test_the_key_of_another_participant(self, pending, sqlite):
        run, token = pending
        other = Client(Registry(sqlite).add_participant("other"))
        for response in (other.run(run), other.sentence(run), other.translate(run, token, "rot")):
            assert refusal(response) == (404, "run_not_found")

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'"text"',
            b"{}",
            b'{"phase": "mock"}',
            b'{"phase": 1, "system": "x"}',
            b'{"phase": null, "system": "x"}',
            b'{"phase": ["mock"], "system": {"a": 1}}',
            b'{"phase": "mock", "system": "\xff\xfe"}',
            '{"phase": "mock", "system": "é"}'.encode("latin-1"),
            b"\x00\x01\x02",
            b"[" * 60_000,
            b'{"phase": ' + b"9" * 60_000 + b"}",
            b'{"phase": "mock", "system": "a b"}',
            b'{"phase": "mock", "system": "\\ud800"}',
        ],
    )
    def test_invalid_bodies_are_refused(self, client, raw):
        assert refusal(client.send(read, "POST", "/v1/runs", raw=raw)) == (400, "bad_request")

    def test_invalid_base64_is_refused(self, client):
        request = event("POST", "/v1/runs", raw=b"x", key=client.key)
        request["body"] = "***"
        assert json.loads(read.handler(request, CONTEXT)["body"])["code"] == "bad_request"

    def test_a_body_is_measured_in_bytes(self, client):
        raw = json.dumps({"phase": "mock", "system": "𝄞" * (api.MAX_BODY_BYTES // 4)}, ensure_ascii=False)
        assert len(raw) < api.MAX_BODY_BYTES < len(raw.encode())
        large = {**event("POST", "/v1/runs", key=client.key), "body": raw}
        assert read.handler(large, CONTEXT)["statusCode"] == 413

    def test_no_body_at_all(self, client, pending):
        assert refusal(client.send(score, "POST", f"/v1/runs/{pending[0]}/translations")) == (400, "bad_request")

    @pytest.mark.parametrize(
        ("translation", "expected"),
        [
            ("", (400, "invalid_translation")),
            ("   ", (400, "invalid_translation")),
            ("a\0b", (400, "invalid_translation")),
            ("a\nb", (400, "invalid_translation")),
            ("\ud800", (400, "invalid_translation")),
            (7, (400, "bad_request")),
            (None, (400, "bad_request")),
            (["rot"], (400, "bad_request")),
            ("x" * 4_001, (413, "too_large")),
            ("rot " * 100_000, (413, "too_large")),
            ("x" * 10_000_000, (413, "too_large")),
        ],
        ids=lambda value: repr(value)[:20],
    )
    def test_invalid_translations_are_refused(self, client, pending, translation, expected):
        run, token = pending
        assert refusal(client.translate(run, token, translation)) == expected
        assert client.run(run)[1]["index"] == 0

    def test_the_longest_translation_passes_even_when_every_character_is_escaped(self, client, pending):
        run, token = pending
        assert client.translate(run, token, "𝄞" * 4_000)[0] == 200

    def test_invalid_ids_are_refused(self, client, pending):
        for token in ("", "x", "A" * 50, "ä" * 50, "\ud800", "x" * 60_000):
            assert refusal(client.translate(pending[0], token, "rot")) == (409, "wrong_sentence")
        assert refusal(client.translate(pending[0], 5, "rot")) == (400, "bad_request")

    def test_a_different_translation_for_a_committed_round(self, client, pending):
        run, token = pending
        client.translate(run, token, "rot")
        status, body, _ = client.translate(run, token, "blau")
        assert (status, body["code"]) == (409, "translation_conflict")
        assert "retrying is pointless" in body["message"]

    @pytest.mark.parametrize("run", ["a" * 26, "x", "%00", "..", "a" * 5_000, "' or 1=1 --"])
    def test_runs_that_do_not_exist(self, client, run):
        status, code = refusal(client.run(run))
        assert (status, code) in {(404, "run_not_found"), (404, "not_found")}

    def test_an_unknown_phase(self, client):
        assert refusal(client.open_run("nowhere")) == (404, "phase_not_found")

    @pytest.mark.parametrize(
        ("method", "path"), [("POST", "/"), ("GET", "/v1/runs"), ("DELETE", "/v1/runs/x"), ("GET", "/v2")]
    )
    def test_paths_that_do_not_exist(self, client, method, path):
        assert refusal(client.send(read, method, path)) == (404, "not_found")

    @pytest.mark.usefixtures("client")
    def test_a_minimal_event(self):
        response = read.handler({"httpMethod": "GET", "path": "/v1/runs/x", "requestContext": {}}, CONTEXT)
        assert json.loads(response["body"])["code"] == "invalid_key"


class TestMetrics:
    def test_a_refusal_is_counted_by_route_and_code(self, client, pending, capsys):
        client.translate(pending[0], "A" * 50, "rot")
        metric = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "banditmt"
        assert metric["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["route", "code", "service"]]
        assert (metric["route"], metric["code"], metric["Refusals"]) == (
            "POST /v1/runs/{run}/translations",
            "wrong_sentence",
            [1.0],
        )

    def test_a_successful_round_writes_no_metric(self, client, pending, capsys):
        capsys.readouterr()
        assert client.translate(*pending, "rot")[0] == 200
        assert capsys.readouterr().out == ""


class TestFailures:
    def test_a_busy_storage_gives_503_with_retry_after(self, client, pending, monkeypatch, sqlite):
        def busy(*_):
            raise errors.UnavailableError(retry_after=3)

        monkeypatch.setattr(sqlite, "append", busy)
        run, token = pending
        status, body, headers = client.translate(run, token, "rot")
        assert (status, body["code"], headers["Retry-After"]) == (503, "unavailable", "3")
        monkeypatch.undo()
        assert client.translate(run, token, "rot")[0] == 200

    def test_a_bug_is_logged_by_type_and_place_but_not_by_its_text(self, client, pending, monkeypatch, sqlite, caplog):
        def buggy(*_):
            try:
                raise ValueError("refword0000 secretref")
            except ValueError as cause:
                raise KeyError("refword0000 secretref") from cause

        monkeypatch.setattr(sqlite, "append", buggy)
        run, token = pending
        status, body, _ = client.translate(run, token, "rot")
        assert (status, body["code"]) == (500, "internal")
        (record,) = caplog.records
        assert (record.failure, record.caused_by, record.failed_request) == ("KeyError", ["ValueError"], "request-1")
        assert record.where[-1].endswith(" buggy")
        assert "secretref" not in repr(vars(record)) + json.dumps(body) + caplog.text


def test_a_429_has_a_retry_after_header(client, sqlite):
    Registry(sqlite).set_phase_state("dev", PhaseState.OPEN, runs=0)
    status, body, headers = client.open_run("dev", "one-too-many")
    assert (status, body["code"], headers["Retry-After"]) == (429, "quota_exceeded", "3600")


@pytest.mark.usefixtures("client")
def test_many_threads_call_one_function(sqlite):
    """As in the local cloud; each thread must get the response to its own event."""
    keys = [Registry(sqlite).add_participant(f"player-{number}") for number in range(8)]
    failures = []

    def play(number):
        mine = Client(keys[number])
        _, opened, _ = mine.open_run("dev", f"system-{number}")
        if opened["system"] != f"system-{number}":
            failures.append(opened)
        _, sentence, _ = mine.sentence(opened["run"])
        while sentence:
            status, answer, _ = mine.translate(opened["run"], sentence["id"], f"rot {number}")
            if status != 200:
                failures.append(answer)
                return
            sentence = answer["next"]
        if mine.run(opened["run"])[1]["last"]["translation"] != f"rot {number}":
            failures.append(number)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_log_lines_have_the_id_of_the_trace(monkeypatch):
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1")
    record = logging.LogRecord("banditmt", logging.ERROR, "api.py", 1, "internal error", None, None)
    line = json.loads(observability.logger.registered_formatter.format(record))
    assert line["xray_trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"


def test_the_longest_translation_fits_the_limit_on_bodies():
    longest = json.dumps({"id": "x" * 50, "translation": "𝄞" * 4_000})
    assert len(longest) < api.MAX_BODY_BYTES
