"""References never leave the service, and held-out sentences cannot be distinguished from fresh ones."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lambdas.registry import Registry
from lambdas.store import TextSide
from tests.lambdas import tasks
from tests.lambdas.conftest import opened

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["sqlite", "dynalite"])
def loaded(request):
    """A store with the small task, and its address for another process."""
    with opened(request.param, request) as store:
        tasks.load(store)
        if request.param == "sqlite":
            address = f"sqlite:{store.path}"
        else:
            prefix = store._task.removesuffix("-task")
            address = f"dynamodb:{request.getfixturevalue('dynalite_url')}?prefix={prefix}"
        yield store, address


@pytest.fixture
def emitted(loaded):
    """Everything that a full mock run emits: responses, exceptions, logs at DEBUG, metrics."""
    store, address = loaded
    key = Registry(store).add_participant("acme")
    return store, key, play_verbosely(address, key)


def play_verbosely(address, key):
    done = subprocess.run(
        [sys.executable, "-m", "tests.lambdas.verbose_run", address, key],
        cwd=ROOT,
        env={**os.environ, "POWERTOOLS_LOG_LEVEL": "DEBUG"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout + done.stderr


def test_references_never_leave(emitted):
    store, key, everything = emitted
    # the run did print responses, metrics, our log at DEBUG, and the failure that was provoked in each round
    assert everything.count("'score': ") >= 10
    assert '"CloudWatchMetrics"' in everything
    assert '"level":"DEBUG"' in everything
    assert everything.count('"failure":"ValueError"') == 5
    assert tasks.source("mock", 4) in everything
    # but no word of a reference, no packed block and no key
    for number in range(5):
        reference = tasks.reference("mock", number)
        for secret in (*set(reference.split()) - set(tasks.source("mock", number).split()) - {"of", "with"},):
            assert secret not in everything
        assert base64.b64encode(reference.encode()).decode()[:20] not in everything
    for number in range(2):
        block = store.block(TextSide.REFERENCES, "mock", number)
        assert base64.b64encode(block).decode() not in everything
        assert repr(block)[2:-1] not in everything
    assert key not in everything
    for secret_key in Registry(store).key_ring().secrets.values():
        assert secret_key.hex() not in everything


def test_a_post_edit_leaves_with_the_answer_to_its_round_and_not_before(sqlite):
    tasks.load(sqlite, phases=tasks.MIXED_PHASES)
    key = Registry(sqlite).add_participant("acme")
    lines = play_verbosely(f"sqlite:{sqlite.path}", key).splitlines()
    for number in range(5):
        quoting = [place for place, line in enumerate(lines) if f"refword{number:04d}" in line]
        # the first line is the answer to this round, whose next sentence is the following one
        first = lines[quoting[0]]
        assert "'score': " in first
        assert f"'post_edit': '{tasks.reference('mock', number)}'" in first
        assert f"'index': {number + 1}, " in first or (number == 4 and "'next': None" in first)
        # and no log line, metric or error quotes it at all, though a failure in each round tried to
        assert all("'post_edit': " in lines[place] for place in quoting)
    assert sum('"failure":"ValueError"' in line for line in lines) == 5


def test_held_out_sentences_look_like_any_other(sqlite):
    """HHFFFFHHFFFFHH: the same two sentences are served three times, and nothing but their text shows it."""
    service, player = tasks.start_service(sqlite)
    run = service.open_run(player, "dev", "copy").run
    sentence, seen = service.sentence(player, run), []
    while sentence:
        answer = service.translate(player, run, sentence.id, "rot")
        seen.append((sentence, answer))
        sentence = answer.next
    assert [each.index for each, _ in seen] == list(range(14))
    assert len({each.id for each, _ in seen}) == 14
    assert [len(each.id) for each, _ in seen] == [50, *[71] * 13]  # the first has no link before it
    assert {tuple(each.as_dict()) for each, _ in seen} == {("id", "index", "total", "source")}
    assert {tuple(answer.as_dict()) for _, answer in seen} == {("score", "next")}
    assert "pass" not in json.dumps([answer.as_dict() for _, answer in seen])


def test_all_participants_get_the_same_sentences_in_the_same_order(sqlite):
    service, player = tasks.start_service(sqlite)
    other = tasks.participant(sqlite, service, "other")
    orders = []
    for who in (player, other):
        run = service.open_run(who, "dev", "copy").run
        first = service.sentence(who, run)
        orders.append([first.source, *(answer.next.source for answer in tasks.play(service, who, run) if answer.next)])
    assert orders[0] == orders[1]
