"""What the demo says of its own runs, whoever else plays in its store."""

import pytest

from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from simulator.demonstration import finished_rows, lessons
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
    player = registry.participant(participant)
    assert player is not None
    run = service.open_run(player, "dev", system).run
    tasks.play(service, player, run, rounds=rounds, translate=lambda sentence: sentence.source + suffix)
    return run


def test_only_what_this_participant_has_finished_counts(store):
    play(store, "guest", "static")
    play(store, "demo", "static", rounds=3)
    assert finished_rows(store, "dev", "demo") == {}
    run = play(store, "demo", "static")
    assert {name: row.run for name, row in finished_rows(store, "dev", "demo").items()} == {"static": run}


def test_a_phase_that_is_not_there_has_no_rows(store):
    assert finished_rows(store, "finals", "demo") == {}


def test_a_guest_that_plays_the_same_systems_changes_no_lesson(store):
    play(store, "demo", "static")
    learner = play(store, "demo", "learner")
    play(store, "guest", "static", suffix=" und")
    play(store, "guest", "learner", suffix=" secretref")
    (lesson,) = lessons(store, "dev", "demo", "static", ["learner"])
    assert (lesson.row.run, lesson.gain.mean) == (learner, 0.0)
