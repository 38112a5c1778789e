"""The leaderboard over HTTP: as JSON and CSV, revalidated by its ETag, with and without a key."""

import csv
import io
import json

import pytest

from lambdas import wiring
from lambdas.handlers import public
from lambdas.handlers.api import to_json
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from leaderboard.exports import to_csv
from tests.lambdas import tasks
from tests.lambdas.handlers.events import CONTEXT, event


@pytest.fixture
def key(sqlite):
    """The key of a participant who has finished mock and dev, and is in the middle of training."""
    tasks.load(sqlite)
    service = Service(sqlite, staleness=0)
    wiring.use_service(service)
    key = Registry(sqlite).add_participant("acme")
    player = service.authenticate(key)
    for phase, rounds in (("mock", None), ("dev", None), ("training", 2)):
        tasks.play(service, player, service.open_run(player, phase, "copy").run, rounds=rounds)
    yield key
    wiring.use_service(None)


def ask(phase="dev", **options):
    """Status, headers and body."""
    asked = event("GET", f"/v1/leaderboard/{phase}", resource="/v1/leaderboard/{phase}", **options)
    response = public.handler(asked, CONTEXT)
    return response["statusCode"], {k: v[0] for k, v in response["multiValueHeaders"].items()}, response["body"]


def test_json_without_a_key(key):
    status, headers, body = ask()
    assert (status, headers["Content-Type"], headers["Cache-Control"]) == (200, "application/json", "private, no-cache")
    board = json.loads(body)
    assert (board["phase"], board["total"], board["visible"], len(board["rows"])) == ("dev", 14, "all", 1)
    [row] = board["rows"]
    assert (row["system"], row["rank"], row["status"], row["regret"], row["regrets"]) == (
        "copy",
        1,
        "finished",
        None,
        {},
    )
    assert board["checkpoints"] == list(range(1, 15))
    assert [f"{point:.4f}" for point in row["curve"][-1:]] == [f"{row['reward']:.4f}"]


@pytest.mark.parametrize("asked", ["json", "csv"])
def test_a_leaderboard_is_encoded_once(key, sqlite, monkeypatch, asked):
    wiring.use_service(Service(sqlite))
    encoded = []

    def counted(kind, encode):
        def count(content):
            encoded.append(kind)
            return encode(content)

        return count

    monkeypatch.setattr(public, "to_csv", counted("csv", to_csv))
    monkeypatch.setattr(public, "to_json", counted("json", to_json))
    answers = [ask(query={"format": asked}) for _ in range(3)]
    assert encoded == [asked]
    assert answers == [answers[0]] * 3


def test_an_unchanged_leaderboard_is_not_sent_again(key):
    _, headers, body = ask()
    for known in (headers["ETag"], f'"x", W/{headers["ETag"]}', "*"):
        status, again, nothing = ask(more={"If-None-Match": known})
        assert (status, nothing or "", again["ETag"]) == (304, "", headers["ETag"])
    assert ask(more={"If-None-Match": '"another"'})[2] == body


def test_a_round_changes_the_tag(key):
    service = wiring.service()
    player = service.authenticate(key)
    run = service.open_run(player, "dev", "copy").run
    before = ask()[1]["ETag"]
    tasks.play(service, player, run, rounds=1)
    assert ask()[1]["ETag"] != before


@pytest.mark.parametrize("wish", [{"query": {"format": "csv"}}, {"more": {"Accept": "text/csv"}}])
def test_csv(key, wish):
    status, headers, body = ask(**wish)
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    [row] = csv.DictReader(io.StringIO(body))
    assert (row["system"], row["rank"], row["rounds"], row["regret"]) == ("copy", "1", "14", "")
    assert headers["ETag"] != ask()[1]["ETag"]


def test_the_query_takes_precedence_over_the_accept_header(key):
    assert ask(query={"format": "json"}, more={"Accept": "text/csv"})[1]["Content-Type"] == "application/json"


def test_training_shows_a_participant_its_own_run(sqlite, key):
    assert json.loads(ask("training")[2])["rows"] == []
    [row] = json.loads(ask("training", key=key)[2])["rows"]
    assert (row["participant"], row["status"], row["rounds"]) == ("acme", "running", 2)
    Registry(sqlite).set_phase_state("training", PhaseState.CLOSED)
    assert json.loads(ask("training")[2])["rows"][0]["status"] == "abandoned"


@pytest.mark.parametrize(
    ("phase", "options", "refused"),
    [("finals", {}, (404, "phase_not_found")), ("dev", {"key": "bmt_guessed"}, (403, "invalid_key"))],
)
def test_an_unknown_phase_or_key_is_refused(key, phase, options, refused):
    status, headers, body = ask(phase, **options)
    assert (status, json.loads(body)["code"]) == refused
    assert "ETag" not in headers
