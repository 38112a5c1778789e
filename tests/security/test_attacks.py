"""Attacks of a malicious participant over HTTP, none of which succeeds."""

import gzip
import hmac
import json
import random
from contextlib import suppress

import pytest

from lambdas.handlers.api import MAX_BODY_BYTES
from lambdas.registry import api_key_digest


class TestSentenceIds:
    def test_a_forged_id_commits_nothing(self, target, mallory):
        run = target.open_run(mallory, "forger")
        genuine = target.sentence(mallory, run)["id"]
        for place in range(len(genuine)):
            other = "A" if genuine[place] != "A" else "B"
            forged = genuine[:place] + other + genuine[place + 1 :]
            assert target.translate(mallory, run, forged) == (409, "wrong_sentence")
        assert target.rounds(run) == []

    def test_ids_are_compared_in_constant_time(self, target, mallory, monkeypatch):
        compared = []

        def spy(one, other):
            compared.append((len(one), len(other)))
            return False

        run = target.open_run(mallory, "timer")
        genuine = target.sentence(mallory, run)["id"]
        monkeypatch.setattr(hmac, "compare_digest", spy)
        assert target.translate(mallory, run, genuine) == (409, "wrong_sentence")
        assert compared == [(16, 16)] * 2  # the second time with reloaded keys

    def test_an_id_is_valid_in_its_own_run_only(self, target, mallory, honest):
        one, two = target.open_run(mallory, "one"), target.open_run(mallory, "two")
        theirs = target.open_run(honest, "one")
        for carried in (target.sentence(mallory, one)["id"], target.sentence(honest, theirs)["id"]):
            assert target.translate(mallory, two, carried) == (409, "wrong_sentence")
        assert target.rounds(two) == []

    def test_runs_of_others_are_indistinguishable_from_missing_ones(self, target, mallory, honest):
        run = target.open_run(honest, "private")
        stolen = target.sentence(honest, run)["id"]
        missing = "a" * 26
        for there, nowhere in (
            (target.request("GET", f"/v1/runs/{run}", mallory), target.request("GET", f"/v1/runs/{missing}", mallory)),
            (target.translate(mallory, run, stolen), target.translate(mallory, missing, stolen)),
        ):
            assert there == nowhere == (404, "run_not_found")
        assert target.rounds(run) == []

    def test_a_repeated_round_earns_nothing_and_cannot_be_changed(self, target, mallory):
        run = target.open_run(mallory, "replayer")
        first = target.sentence(mallory, run)["id"]
        response = target.translate(mallory, run, first, "rot")
        assert response[0] == 200
        assert [target.translate(mallory, run, first, "rot") for _ in range(3)] == [response] * 3
        assert target.translate(mallory, run, first, "rot und blau") == (409, "translation_conflict")
        assert target.rounds(run) == [(0, "rot")]

    def test_later_sentences_cannot_be_read(self, target, mallory):
        run = target.open_run(mallory, "hurried")
        assert [target.sentence(mallory, run)["index"] for _ in range(3)] == [0, 0, 0]
        responses = [
            target.request("GET", f"/v1/runs/{run}/sentence{end}", mallory)[1] for end in ("?index=1", "?next=1")
        ]
        assert [response["index"] for response in responses] == [0, 0]


class TestKeys:
    def test_every_invalid_key_gets_the_same_response(self, target, mallory):
        revoked, disabled = target.register("revoked"), target.register("disabled")
        target.registry.revoke_keys("revoked")
        target.registry.set_disabled("disabled", True)
        nearly = mallory[:-1] + ("A" if mallory[-1] != "A" else "B")
        wrong = [None, "x", "bmt_" + "A" * 43, nearly, mallory.upper(), mallory + "A", revoked, disabled, "é" * 47]
        responses = set()
        for key in wrong:
            status, _, content = target.send("GET", "/v1/phases", key)
            body = json.loads(content)
            responses.add((status, body["code"], body["message"]))
        assert responses == {(403, "invalid_key", "the API key is missing, unknown or no longer valid")}

    def test_a_key_is_looked_up_by_its_hash(self, target, mallory, monkeypatch):
        asked, document = [], target.store.document

        def spy(kind, name):
            asked.append((kind, name))
            return document(kind, name)

        monkeypatch.setattr(target.store, "document", spy)
        guess = "bmt_" + "A" * 43
        assert target.request("GET", "/v1/phases", guess) == (403, "invalid_key")
        assert asked == [("key", api_key_digest(guess))]

    def test_a_key_is_accepted_in_its_header_only(self, target, mallory):
        assert target.request("GET", f"/v1/phases?x-api-key={mallory}") == (403, "invalid_key")
        for header in ("Authorization", "Cookie", "x-api-key2", "x_api_key"):
            status, _, _ = target.send("GET", "/v1/phases", headers={header: f"x-api-key={mallory}"})
            assert status == 403
        assert (
            target.request("POST", "/v1/runs", None, {"x-api-key": mallory, "phase": "mock", "system": "x"})[0] == 403
        )

    def test_the_key_that_the_gateway_metered_is_the_one_that_plays(self, target, mallory, honest):
        """Of a header sent three times in two spellings, gateway and function might each pick a different one."""
        body = b'{"phase": "mock", "system": "two-faced"}'
        spellings = [("X-API-KEY", honest), ("x-api-key", mallory), ("X-API-KEY", honest)]
        head = "".join(f"{name}: {key}\r\n" for name, key in spellings)
        head = f"POST /v1/runs HTTP/1.1\r\nHost: x\r\n{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        assert target.raw(head.encode() + body).startswith(b"HTTP/1.1 200 ")
        owners = [run.participant for run in target.registry.runs("mock") if run.system == "two-faced"]
        assert owners == ["honest"]


PATHS = [
    *("/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/index.html/../x"),
    *("/..\\..\\etc\\passwd", "/.git/config", "/template.yaml", "/style.css%00.html", "/%00", "/%ff%fe", "/.", "/.."),
    *("/v1/../../template.yaml", "/v1/runs/../../health", "/v1/leaderboard/..%2f..%2fdev", "/v1/leaderboard/dev%00"),
    *("/v1/runs/%2e%2e%2fsentence", "/v1/runs/'%20OR%201=1--/sentence", "/v1/leaderboard/%7B%7B7*7%7D%7D"),
]


class TestRequests:
    @pytest.mark.parametrize("path", PATHS)
    def test_path_traversal_is_refused(self, target, mallory, path):
        response = target.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nx-api-key: {mallory}\r\n\r\n".encode())
        head, _, body = response.partition(b"\r\n\r\n")
        assert head.split()[1] in (b"400", b"404")
        assert json.loads(body)["code"] in ("bad_request", "not_found", "run_not_found", "phase_not_found")

    @pytest.mark.parametrize("end", ["\r\nSet-Cookie: a=b", "\nX: y", "%0d%0aSet-Cookie:%20a=b"])
    def test_no_header_can_be_injected(self, target, mallory, end):
        quoted = end.replace("\r", "%0d").replace("\n", "%0a").replace(" ", "%20")
        asked = [
            target.send("POST", "/v1/runs", mallory, {"phase": f"mock{end}", "system": "x"}),
            target.send("POST", "/v1/runs", mallory, {"phase": "mock", "system": f"x{end}"}),
            target.send("GET", f"/v1/leaderboard/mock{quoted}", mallory),
            target.send("GET", f"/v1/leaderboard/mock?format=csv{quoted}", mallory),
            target.send("GET", "/v1/leaderboard/mock", headers={"If-None-Match": '"x"', "Accept": f"text/csv{quoted}"}),
        ]
        for status, headers, _ in asked:
            assert status < 500
            assert not {"set-cookie", "x"} & headers.keys()

    def test_oversized_requests_are_refused(self, target, mallory):
        run = target.open_run(mallory, "glutton")
        sentence_id = target.sentence(mallory, run)["id"]
        place = f"/v1/runs/{run}/translations"
        assert target.translate(mallory, run, sentence_id, "x" * 4_001) == (413, "too_large")
        assert target.translate(mallory, run, "x" * 10_000) == (409, "wrong_sentence")
        assert target.request("POST", place, mallory, b" " * (MAX_BODY_BYTES + 1)) == (413, "too_large")
        assert target.request("POST", place, mallory, b"[" * MAX_BODY_BYTES) == (400, "bad_request")
        assert target.request("POST", place, mallory, b'{"id": ' + b"9" * 60_000 + b"}") == (400, "bad_request")
        assert target.request("POST", "/v1/runs", mallory, {"phase": "mock", "system": "x" * 60_000})[0] == 400
        assert target.request("GET", "/v1/runs/" + "a" * 9_000, mallory)[0] == 431
        assert target.send("GET", "/v1/phases", mallory, headers={"X-Long": "x" * 11_000})[0] == 431
        assert target.rounds(run) == []

    def test_a_compressed_body_is_not_decompressed(self, target, mallory):
        bomb = gzip.compress(b'{"phase": "mock", "system": "' + b"x" * 10_000_000)
        status, _, _ = target.send("POST", "/v1/runs", mallory, bomb, {"Content-Encoding": "gzip"})
        assert status == 400

    def test_markup_is_refused_as_a_name_and_kept_as_text_in_a_translation(self, target, mallory):
        assert target.request("POST", "/v1/runs", mallory, {"phase": "mock", "system": "<script>"}) == (
            400,
            "bad_request",
        )
        run = target.open_run(mallory, "painter")
        response = target.translate(mallory, run, target.sentence(mallory, run)["id"], "<script>alert(1)</script>")
        assert response[0] == 200
        status, headers, content = target.send("GET", "/v1/leaderboard/mock")
        assert (status, headers["content-type"], headers["x-content-type-options"]) == (
            200,
            "application/json",
            "nosniff",
        )
        assert b"<script" not in content

    def test_random_bytes_do_no_harm(self, target, honest):
        rng = random.Random(9)
        for _ in range(20):
            with suppress(OSError):
                target.raw(rng.randbytes(1_000))
        run = target.open_run(honest, "undisturbed")
        assert target.translate(honest, run, target.sentence(honest, run)["id"])[0] == 200
