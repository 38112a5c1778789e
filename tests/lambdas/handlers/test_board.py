"""The board function, which follows the ledger's stream."""

import base64
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdas.handlers import board
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import StoreError, documents, open_store
from lambdas.store.dynamodb import _round_item, _run_item
from tests.lambdas import tasks


def entry(item):
    for name in {"statistics", "link"} & item.keys():
        item[name] = {"B": base64.b64encode(item[name]["B"]).decode()}
    return {"eventName": "INSERT", "dynamodb": {"NewImage": item}}


def stream(store, run):
    """The entries of a run as DynamoDB would deliver them."""
    opening = store.opening(run)
    return [entry(_run_item(opening, -1)), *(entry(_round_item(played)) for played in store.rounds(run))]


@pytest.fixture
def played(sqlite):
    """A store with a finished dev run, and the run."""
    service, player = tasks.start_service(sqlite)
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run)
    return sqlite, run


def summaries(store):
    return Scoreboard(store).summaries(Registry(store).require_phase("dev"))


def rebuilt(store, run):
    return Scoreboard(store).rebuild(Registry(store).require_phase("dev"), store.opening(run))


def test_a_batch_is_folded_into_a_summary(played):
    store, run = played
    assert board.update_summaries(store, stream(store, run)) == 1
    [summary] = summaries(store)
    last = store.progress(run).last
    assert (summary.identity.run, summary.rounds, summary.record.total.ticks) == (run, 14, last.true_ticks)
    assert summary.record.last_at == last.committed_at
    assert summary == rebuilt(store, run)


def test_an_opening_alone_changes_nothing(played):
    store, run = played
    assert board.update_summaries(store, stream(store, run)[:1]) == 0
    assert summaries(store) == []


def test_the_translation_is_not_copied(played):
    store, run = played
    board.update_summaries(store, stream(store, run))
    assert "quelle" not in str(store.documents(documents.run_summaries("dev")))


def test_removed_entries_are_ignored(sqlite):
    assert board.update_summaries(sqlite, [{"eventName": "REMOVE", "dynamodb": {"OldImage": {}}}]) == 0


def test_rounds_that_were_not_delivered_are_read_from_the_ledger(played):
    store, run = played
    entries = stream(store, run)
    board.update_summaries(store, entries[:4])
    assert board.update_summaries(store, entries[9:10]) == 1
    assert summaries(store) == [rebuilt(store, run)]


def test_a_summary_of_another_version_is_rebuilt(played):
    store, run = played
    store.replace(documents.run_summaries("dev"), run, {"version": 0})
    assert summaries(store) == []
    board.update_summaries(store, stream(store, run)[-1:])
    assert summaries(store) == [rebuilt(store, run)]


def test_two_runs_in_one_batch(played):
    store, run = played
    service = Service(store)
    player = tasks.participant(store, service, "rival")
    other = service.open_run(player, "dev", "other").run
    tasks.play(service, player, other, rounds=3)
    interleaved = [entry for pair in zip(stream(store, run), stream(store, other), strict=False) for entry in pair]
    assert board.update_summaries(store, interleaved) == 2
    assert {summary.identity.system: summary.rounds for summary in summaries(store)} == {"copy": 3, "other": 3}


def test_a_run_of_a_phase_that_is_not_loaded_is_an_error(played):
    store, run = played
    last = stream(store, run)[-1]
    last["dynamodb"]["NewImage"]["phase"] = {"S": "finals"}
    with pytest.raises(StoreError, match="finals"):
        board.update_summaries(store, [last])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 14), st.integers(1, 15)), max_size=8), st.randoms())
def test_batches_that_are_repeated_late_or_lost_give_the_summary_of_the_ledger(batches, rng):
    store = open_store("sqlite::memory:")
    service, player = tasks.start_service(store)
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run)
    entries = stream(store, run)
    for start, size in [*batches, (14, 1)]:
        batch = entries[start : start + size]
        rng.shuffle(batch)
        board.update_summaries(store, batch)
    assert summaries(store) == [rebuilt(store, run)]
    store.close()


class InterruptedStore:
    """A store in which another process adds and folds rounds as soon as the ledger was read to its end."""

    def __init__(self, store, meanwhile):
        self._store, self._meanwhile = store, meanwhile

    def __getattr__(self, name):
        return getattr(self._store, name)

    def results(self, run, start=0):
        yield from list(self._store.results(run, start))
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()


@pytest.mark.parametrize("before", [0, 5])
def test_rebuilding_keeps_rounds_that_the_stream_adds_meanwhile(sqlite, before):
    """No more rounds of a finished run come: rounds that are overwritten would be missing for good."""
    service, player = tasks.start_service(sqlite)
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run, rounds=before)

    def meanwhile():
        tasks.play(service, player, run)
        board.update_summaries(sqlite, stream(sqlite, run))

    record = Registry(sqlite).require_phase("dev")
    assert Scoreboard(InterruptedStore(sqlite, meanwhile)).rebuild(record, sqlite.opening(run)).rounds == 14
    assert [summary.rounds for summary in summaries(sqlite)] == [14]


def test_the_handler_opens_the_store_that_the_environment_names(played, tmp_path, monkeypatch):
    store, run = played
    monkeypatch.setenv("BANDITMT_STORE", f"sqlite:{tmp_path / 'store.db'}")
    board._store.cache_clear()
    board.handler({"Records": stream(store, run)}, SimpleNamespace(aws_request_id="x"))
    assert summaries(store)[0].rounds == 14
    board._store.cache_clear()
