"""References cannot be extracted by playing many systems over the same sentences, or one sentence many times."""

from dataclasses import replace

import pytest

from benchmarks.extraction import FRESH, HELD_OUT, extract
from lambdas.registry import Registry, default_runs
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from leaderboard.families import HOUSE_PARTICIPANT
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from tests.lambdas import tasks


def test_without_a_budget_the_extractor_wins():
    assert extract(FRESH, runs=100) == (100, 20, 1.0)


def test_with_the_default_budget_it_gets_nothing():
    systems, exact, score = extract(FRESH)
    assert (systems, exact) == (3, 0)
    assert score < 0.03


def test_twelve_passes_of_three_systems_are_enough_to_win():
    """Three systems receive 36 exact scores for each held-out sentence."""
    assert extract(HELD_OUT, runs=3) == (3, 20, 1.0)


def test_participants_who_cooperate_add_up_their_scores():
    """Ten participants with three systems each: the organiser has to check registrations."""
    assert extract(FRESH, runs=30) == (30, 20, 1.0)


def test_so_one_system_may_play_where_exact_feedback_is_repeated():
    systems, exact, score = extract(HELD_OUT)
    assert (systems, exact) == (1, 0)
    assert score < 0.05


@pytest.mark.parametrize("noise", ["granular:20", "binary:0.3", "high-variance:1"])
def test_or_three_systems_if_feedback_is_coarse(noise):
    systems, exact, score = extract(HELD_OUT, noise)
    assert (systems, exact) == (3, 0)
    assert score < 0.03


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({"layout": Layout.plain(4)}, 3),
        ({"layout": Layout(3, 2, 4)}, 1),
        ({"layout": Layout(3, 2, 4), "feedback": FeedbackSpec("granular:20")}, 3),
        ({"layout": Layout(3, 2, 4), "feedback": FeedbackSpec("granular:21")}, 1),
        ({"layout": Layout(3, 2, 4), "feedback": FeedbackSpec("skewed:2")}, 1),
        ({"layout": Layout.plain(4), "feedback": FeedbackSpec(kind=FeedbackKind.POST_EDIT)}, 1),
        ({"layout": Layout(3, 2, 4), "repeatable": True}, 1_000),
    ],
)
def test_the_default_budget_of_a_phase(changes, runs):
    assert default_runs(replace(tasks.TRAINING, **changes)) == runs


def test_the_organisers_own_systems_have_no_such_budget(tmp_path):
    """They have the references anyway, and `compete` plays many of them."""
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    tasks.load(store)
    registry, service = Registry(store), Service(store)
    registry.add_participant(HOUSE_PARTICIPANT)
    house = registry.require_participant(HOUSE_PARTICIPANT)
    runs = {service.open_run(house, "training", f"system-{number}").run for number in range(10)}
    assert len(runs) == 10
    assert [phase.runs_left for phase in service.phases(house) if phase.phase == "training"] == [990]
    store.close()
