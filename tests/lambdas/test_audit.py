"""The audit finds every kind of damage, and no damage in a valid run."""

from dataclasses import replace

import pytest

from lambdas.audit import Auditor
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import documents
from lambdas.store.sqlite import SQLiteStore
from task.feedback import FeedbackSpec
from task.rounds import to_ticks
from tests.lambdas import tasks


@pytest.fixture(params=["none", "high-variance:1", "granular:5"])
def played(request, sqlite):
    service, player = tasks.start_service(sqlite, feedback=FeedbackSpec(request.param, seed=3))
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run)
    record = Registry(sqlite).require_phase("dev")
    Scoreboard(sqlite).catch_up(record)
    return sqlite, record, sqlite.opening(run)


@pytest.fixture
def in_progress(sqlite):
    """A run of nine rounds so far, of which the leaderboard shows four."""
    service, player = tasks.start_service(sqlite)
    run = sqlite.opening(service.open_run(player, "dev", "copy").run)
    tasks.play(service, player, run.id, rounds=9)
    record = Registry(sqlite).require_phase("dev")
    Scoreboard(sqlite).follow(record, run, list(sqlite.rounds(run.id))[:4])
    return sqlite, record, run


def problems(store, record, run):
    return [(found.round, found.problem) for found in Auditor(store).audit(record, run)]


def damaged(store, run, index, **changes):
    """The same store, in which one round is changed, or missing."""

    class Damaged(SQLiteStore):
        def rounds(self, run_id, start=0):
            for played in super().rounds(run_id, start):
                if played.index != index:
                    yield played
                elif changes:
                    yield replace(played, **changes)

    return Damaged.open(str(store.path))


def test_a_valid_run(played):
    store, record, run = played
    auditor = Auditor(store)
    assert auditor.audit(record, run) == auditor.unclaimed(record) == []
    assert (auditor.rounds, auditor.rounds_behind) == (14, 0)


def test_a_changed_reward(played):
    store, record, run = played
    found = problems(damaged(store, run, 3, true_reward=0.5), record, run)
    assert (3, "the sums are not those of the rewards up to here") in found
    assert any(at == 3 and "the true reward is 0.5, but the translation earns 0." in problem for at, problem in found)
    assert [at for at, _ in found] == [3, 3, None]  # reported once, not for every round after it


def test_a_participant_who_received_another_reward(played):
    store, record, run = played
    found = problems(damaged(store, run, 3, observed_reward=0.123), record, run)
    assert any(at == 3 and "received 0.123 instead of" in problem for at, problem in found)


def test_a_changed_translation(played):
    store, record, run = played
    found = problems(damaged(store, run, 13, translation="other"), record, run)
    assert (13, "the statistics are not those of the translation") in found


@pytest.mark.parametrize("changes", [{"post_edit": "another reference"}, {"post_edit": None}])
def test_a_participant_who_received_another_post_edit(sqlite, changes):
    tasks.load(sqlite, phases=tasks.MIXED_PHASES)
    service = Service(sqlite)
    player = tasks.participant(sqlite, service, "acme")
    run = sqlite.opening(service.open_run(player, "mock", "copy").run)
    tasks.play(service, player, run.id)
    record = Registry(sqlite).require_phase("mock")
    Scoreboard(sqlite).catch_up(record)
    assert problems(sqlite, record, run) == []
    assert problems(damaged(sqlite, run, 3, **changes), record, run) == [(3, "the post-edit is not the reference")]


def test_a_post_edit_that_a_bandit_phase_does_not_show(played):
    store, record, run = played
    found = problems(damaged(store, run, 3, post_edit=tasks.reference("dev", 3)), record, run)
    assert found == [(3, "there is a post-edit, but this phase shows none")]


def test_sums_that_do_not_add_up(played):
    store, record, run = played
    assert problems(damaged(store, run, 13, true_ticks=1), record, run) == [
        (13, "the sums are not those of the rewards up to here")
    ]


def test_a_missing_round(played):
    store, record, run = played
    assert problems(damaged(store, run, 5), record, run) == [
        (6, "round 5 should come here"),
        (None, "the leaderboard does not match the ledger; rebuild it"),
    ]


def test_invalid_statistics(played):
    store, record, run = played
    found = problems(damaged(store, run, 5, statistics=b"?"), record, run)
    assert (5, "the statistics are not those of the translation") in found
    assert found[-1][1].startswith("the rounds cannot be summed up: not packed BLEU statistics")


def test_more_rounds_than_the_phase_has(played):
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
    assert problems(store, record, run) == [(14, "the phase has no such round")]


def test_a_leaderboard_that_does_not_match_the_ledger(played):
    store, record, run = played
    document = store.document(documents.run_summaries("dev"), run.id)
    document["total"][1] += 1
    store.replace(documents.run_summaries("dev"), run.id, document)
    [found] = Auditor(store).audit(record, run)
    assert str(found) == f"run {run.id}: the leaderboard does not match the ledger; rebuild it"


def test_a_leaderboard_may_be_behind_a_run_in_progress_but_all_rounds_are_verified(in_progress):
    store, record, run = in_progress
    auditor = Auditor(store)
    assert auditor.audit(record, run) == []
    assert (auditor.rounds, auditor.rounds_behind) == (9, 5)
    found = problems(damaged(store, run, 7, observed_reward=0.123), record, run)
    assert any(at == 7 and "received 0.123 instead of" in problem for at, problem in found)


def test_a_leaderboard_without_the_end_of_a_finished_run(played):
    store, record, run = played
    store.delete(documents.run_summaries("dev"), run.id)
    assert problems(store, record, run) == [(None, "the leaderboard does not show its last 14 rounds; rebuild it")]
    Scoreboard(store).follow(record, run, list(store.rounds(run.id))[:4])
    auditor = Auditor(store)
    [found] = auditor.audit(record, run)
    assert found.problem == "the leaderboard does not show its last 10 rounds; rebuild it"
    assert (auditor.rounds, auditor.rounds_behind) == (14, 0)


def test_a_leaderboard_that_is_behind_when_its_phase_is_closed(in_progress):
    store, _, run = in_progress
    closed = Registry(store).set_phase_state("dev", PhaseState.CLOSED)
    assert problems(store, closed, run) == [(None, "the leaderboard does not show its last 5 rounds; rebuild it")]


def test_a_run_on_the_leaderboard_that_no_participant_opened(played):
    store, record, run = played
    stray = replace(run, id="b" * 26, system="phantom")
    Scoreboard(store).follow(record, stray, list(store.rounds(run.id)))
    [found] = Auditor(store).unclaimed(record)
    assert str(found) == f"run {stray.id}: the leaderboard shows this run, but no participant opened it; rebuild it"
    assert Auditor(store).audit(record, run) == []
