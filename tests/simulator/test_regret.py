"""Regret while a run is played: what the leaderboard will show, for as many rounds as the oracle has played."""

import pytest

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import open_store
from leaderboard.families import RoleKind
from simulator.regret import BaselineRun, baseline_runs
from task.feedback import FeedbackSpec
from tests.lambdas import tasks

ROUNDS = 14


@pytest.fixture
def store(tmp_path):
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    yield store
    store.close()


def play(store, system, *, suffix="", rounds=None, oracle=False):
    """Play as one participant."""
    registry, service = Registry(store), Service(store)
    if registry.participant("acme") is None:
        registry.add_participant("acme")
    player = registry.participant("acme")
    assert player is not None
    run = service.open_run(player, "dev", system).run
    answers = tasks.play(service, player, run, rounds=rounds, translate=lambda sentence: sentence.source + suffix)
    if oracle:
        registry.set_role("acme", system, RoleKind.ORACLE)
    return [answer.score for answer in answers]


def test_regret_is_per_round_and_unknown_beyond_the_rounds_of_the_oracle():
    oracle = BaselineRun([0.5, 1.25])
    assert oracle.regret(1, 0.25) == 0.25
    assert oracle.regret(2, 0.25) == 0.5
    assert oracle.regret(2, 2.25) == -0.5
    assert oracle.regret(0, 0.0) is None
    assert oracle.regret(3, 0.25) is None


def test_regret_equals_that_of_the_leaderboard(store):
    tasks.load(store)
    play(store, "X-oracle", suffix=" secretref", oracle=True)
    earned = play(store, "X-learner", suffix=" und")
    known = baseline_runs(store, "dev", "acme", ["X-learner", "other"])
    record, scoreboard = Registry(store).require_phase("dev"), Scoreboard(store)
    scoreboard.catch_up(record)
    board = {row.system: row for row in scoreboard.board(record).rows}
    shown = board["X-learner"].regret
    assert shown is not None
    assert known["X-learner"].regret(ROUNDS, sum(earned)) == pytest.approx(shown.value)
    assert known["other"] is known["X-learner"]  # its own family has no oracle


def test_each_system_is_compared_with_the_oracle_of_its_family(store):
    tasks.load(store)
    best = play(store, "X-oracle", suffix=" secretref", oracle=True)
    other = play(store, "Y-oracle", rounds=3, oracle=True)
    known = baseline_runs(store, "dev", "acme", ["X-new", "Y-new"])
    assert list(known["X-new"].cumulative_rewards) == pytest.approx([sum(best[: k + 1]) for k in range(ROUNDS)])
    assert list(known["Y-new"].cumulative_rewards) == pytest.approx([sum(other[: k + 1]) for k in range(3)])


def test_there_is_no_baseline_without_an_oracle_or_a_phase_or_with_noisy_feedback(store):
    assert baseline_runs(store, "dev", "acme", ["X-learner"]) == {}
    tasks.load(store, feedback=FeedbackSpec("granular:5"))
    play(store, "X-oracle", suffix=" secretref", rounds=2)
    assert baseline_runs(store, "dev", "acme", ["X-learner"]) == {}
    Registry(store).set_role("acme", "X-oracle", RoleKind.ORACLE)
    assert baseline_runs(store, "dev", "acme", ["X-learner"]) == {}
