"""The demo reports the results of its own runs, even if other systems play in its store."""

from unittest.mock import Mock

import pytest

from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from leaderboard.metrics.bootstrap import Difference
from leaderboard.rows import Row
from simulator.demonstration import LearnerGain, finished_rows, learner_gains
from tests.lambdas import tasks


@pytest.fixture
def store(tmp_path):
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    tasks.load(store)
    yield store
    store.close()


def play(store, participant, system, *, suffix="", rounds=None):
    registry, service = Registry(store), Service(store)
    if registry.participant(participant) is None:
        registry.add_participant(participant)
    registered = registry.participant(participant)
    assert registered is not None
    run = service.open_run(registered, "dev", system).run
    tasks.play(service, registered, run, rounds=rounds, translate=lambda sentence: sentence.source + suffix)
    return run


def test_only_finished_runs_of_this_participant_are_listed(store):
    play(store, "guest", "static")
    play(store, "demo", "static", rounds=3)
    assert finished_rows(store, "dev", "demo") == {}
    run = play(store, "demo", "static")
    assert {name: row.run for name, row in finished_rows(store, "dev", "demo").items()} == {"static": run}


def test_a_phase_that_is_not_loaded_has_no_rows(store):
    assert finished_rows(store, "finals", "demo") == {}


def test_a_guest_that_plays_the_same_systems_changes_no_gain(store):
    play(store, "demo", "static")
    learner = play(store, "demo", "learner")
    play(store, "guest", "static", suffix=" und")
    play(store, "guest", "learner", suffix=" secretref")
    (found,) = learner_gains(store, "dev", "demo", "static", ["learner"])
    assert (found.row.run, found.gain.mean) == (learner, 0.0)


@pytest.mark.parametrize(
    ("interval", "gap_closed", "sentence"),
    [
        (
            (-0.01, 0.02, 0.05),
            0.4,
            "S made no difference that can be measured in so few rounds"
            " (+0.0200 per round, 95 % interval -0.0100 to +0.0500).",
        ),
        (
            (-0.03, -0.02, -0.01),
            -0.2,
            "S lost: exploration cost more reward than learning gained"
            " (-0.0200 per round, 95 % interval -0.0300 to -0.0100).",
        ),
        (
            (0.01, 0.02, 0.03),
            0.25,
            "S learned (+0.0200 per round, 95 % interval +0.0100 to +0.0300; 25.0 % of the gap to the oracle).",
        ),
        ((0.01, 0.02, 0.03), None, "S learned (+0.0200 per round, 95 % interval +0.0100 to +0.0300)."),
    ],
    ids=["no difference", "loss", "gain", "gain without oracle"],
)
def test_a_gain_is_told_in_a_sentence(interval, gap_closed, sentence):
    low, mean, high = interval
    gain = Difference(mean, low, high, p_value=0.5, confidence=0.95, blocks=9)
    assert str(LearnerGain(Mock(Row, system="S", gap_closed=gap_closed), gain)) == sentence
