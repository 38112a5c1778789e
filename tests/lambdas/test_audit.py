"""The audit finds every kind of damage, and none where there is none."""

from dataclasses import replace

import pytest

from lambdas.audit import Auditor
from lambdas.registry import PhaseState, Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import documents
from lambdas.store.sqlite import SQLiteStore
from task.feedback import FeedbackSpec
from task.rounds import to_ticks
from tests.lambdas import tasks


@pytest.fixture(params=["none", "high-variance:1", "granular:5"])
def played(request, sqlite):
    service, player = tasks.fresh(sqlite, feedback=FeedbackSpec(request.param, seed=3))
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run)
    record = Registry(sqlite).require_phase("dev")
    Scoreboard(sqlite).catch_up(record)
    return sqlite, record, sqlite.opening(run)


@pytest.fixture
def under_way(sqlite):
    """A run of nine rounds so far, of which the board shows four."""
    service, player = tasks.fresh(sqlite)
    run = sqlite.opening(service.open_run(player, "dev", "copy").run)
    tasks.play(service, player, run.id, rounds=9)
    record = Registry(sqlite).require_phase("dev")
    Scoreboard(sqlite).follow(record, run, list(sqlite.rounds(run.id))[:4])
    return sqlite, record, run


def complaints(store, record, run):
    return [(found.round, found.complaint) for found in Auditor(store).audit(record, run)]


def damaged(store, run, index, **changes):
    """The same store, but a round reads differently."""

    class Damaged(SQLiteStore):
        def rounds(self, run_id, start=0):
            for played in super().rounds(run_id, start):
                if played.index != index:
                    yield played
                elif changes:
                    yield replace(played, **changes)

    return Damaged.open(str(store.path))


def test_a_sound_run(played):
    store, record, run = played
    auditor = Auditor(store)
    assert auditor.audit(record, run) == auditor.unclaimed(record) == []
    assert (auditor.rounds, auditor.behind) == (14, 0)


def test_a_score_that_was_changed(played):
    store, record, run = played
    found = complaints(damaged(store, run, 3, true_reward=0.5), record, run)
    assert (3, "the sums are not those of the scores up to here") in found
    assert any(at == 3 and "the score is 0.5, but the translation earns 0." in told for at, told in found)
    assert [at for at, _ in found] == [3, 3, None]  # the damage is told once, not for every round after it


def test_a_score_that_was_not_the_one_shown(played):
    store, record, run = played
    found = complaints(damaged(store, run, 3, observed_reward=0.123), record, run)
    assert any(at == 3 and "was told 0.123 instead of" in told for at, told in found)


def test_a_translation_that_was_changed(played):
    store, record, run = played
    found = complaints(damaged(store, run, 13, translation="other"), record, run)
    assert (13, "the statistics are not those of the translation") in found


def test_sums_that_do_not_add_up(played):
    store, record, run = played
    assert complaints(damaged(store, run, 13, true_ticks=1), record, run) == [
        (13, "the sums are not those of the scores up to here")
    ]


def test_a_round_that_is_gone(played):
    store, record, run = played
    assert complaints(damaged(store, run, 5), record, run) == [
        (6, "the rounds before it are missing from 5 on"),
        (None, "the board does not show what the ledger holds; rebuild it"),
    ]


def test_statistics_that_are_none(played):
    store, record, run = played
    found = complaints(damaged(store, run, 5, statistics=b"?"), record, run)
    assert (5, "the statistics are not those of the translation") in found
    assert found[-1][1].startswith("the ledger cannot be folded: not packed BLEU statistics")


def test_more_rounds_than_there_are(played):
    store, record, run = played
    last = store.round(run.id, 13)
    assert store.append(
        replace(
            last,
            index=14,
            true_ticks=last.true_ticks + to_ticks(last.true_reward),
            observed_ticks=last.observed_ticks + to_ticks(last.observed_reward),
        )
    )
    assert complaints(store, record, run) == [(14, "there is no such round in this phase")]


def test_a_board_that_does_not_show_the_ledger(played):
    store, record, run = played
    document = store.document(documents.run_summaries("dev"), run.id)
    document["total"][1] += 1
    store.replace(documents.run_summaries("dev"), run.id, document)
    [found] = Auditor(store).audit(record, run)
    assert str(found) == f"run {run.id}: the board does not show what the ledger holds; rebuild it"


def test_a_board_that_is_behind_is_no_damage_but_the_rest_is_checked(under_way):
    store, record, run = under_way
    auditor = Auditor(store)
    assert auditor.audit(record, run) == []
    assert (auditor.rounds, auditor.behind) == (9, 5)
    found = complaints(damaged(store, run, 7, observed_reward=0.123), record, run)
    assert any(at == 7 and "was told 0.123 instead of" in told for at, told in found)


def test_a_board_without_the_end_of_a_finished_run(played):
    store, record, run = played
    store.delete(documents.run_summaries("dev"), run.id)
    assert complaints(store, record, run) == [(None, "the board does not show its last 14 rounds; rebuild it")]
    Scoreboard(store).follow(record, run, list(store.rounds(run.id))[:4])
    auditor = Auditor(store)
    [found] = auditor.audit(record, run)
    assert found.complaint == "the board does not show its last 10 rounds; rebuild it"
    assert (auditor.rounds, auditor.behind) == (14, 0)


def test_a_board_that_is_behind_when_its_phase_is_closed(under_way):
    store, _, run = under_way
    closed = Registry(store).set_phase_state("dev", PhaseState.CLOSED)
    assert complaints(store, closed, run) == [(None, "the board does not show its last 5 rounds; rebuild it")]


def test_a_run_on_the_board_that_nobody_opened(played):
    store, record, run = played
    stray = replace(run, id="b" * 26, system="phantom")
    Scoreboard(store).follow(record, stray, list(store.rounds(run.id)))
    [found] = Auditor(store).unclaimed(record)
    assert str(found) == f"run {stray.id}: the board shows it, but nobody opened it; rebuild it"
    assert Auditor(store).audit(record, run) == []
