"""Runs of the gambler against the fake service, killed at chosen moments."""

import tempfile
from functools import cache
from pathlib import Path

import pytest

from banditmt_client import Client
from learners.contract import Learner
from learners.loop import play
from learners.run_folder import RunFolder
from tests.client_sdk.fake_service import FakeConnection, FakeService
from tests.learners.gambler import Gambler

SENTENCES = [f"satz {number}" for number in range(23)]


def run_id(folder):
    details = RunFolder(folder).details()
    assert details is not None
    return details.run


def snapshot_rounds(folder):
    return RunFolder(folder).snapshot_rounds()


class Killed(BaseException):
    """A SIGKILL as seen from inside: no handler runs."""


class KilledLearner(Learner):
    """A learner that is killed at a chosen call; a gambler by default."""

    def __init__(self, kill, learner=None):
        self._kill = kill
        self._learner = learner or Gambler()

    def propose(self, sentence):
        self._kill("propose")
        return self._learner.propose(sentence)

    def update(self, sentence, translation, feedback):
        self._kill("before update")
        self._learner.update(sentence, translation, feedback)
        self._kill("after update")

    def save(self):
        self._kill("save")
        return self._learner.save()

    def load(self, snapshot):
        self._learner.load(snapshot)


def kill_after_events(events):
    """Return a callback that raises Killed at its last of so many calls."""
    remaining = [events]

    def count(_moment):
        remaining[0] -= 1
        if remaining[0] == 0:
            raise Killed

    return count


def open_run(task, fail=lambda moment: None):
    return Client(connection=FakeConnection(task, fail)).open_run(phase="dev", system="tested")


def final_state(task, learner):
    """Return all that two runs must agree on."""
    return task.ledger, learner.weights.tolist(), learner.baseline, learner.save().values


def kill_after_rounds(task, folder, rounds, learner=None):
    """Play a run that is killed after some rounds."""

    def stop(entry):
        if entry.index + 1 == rounds:
            raise Killed

    with pytest.raises(Killed):
        play(learner or Gambler(), open_run(task), folder, watch=stop)


@cache
def undisturbed():
    """Return the final state of a run that was not killed."""
    task, learner = FakeService(SENTENCES), Gambler()
    with tempfile.TemporaryDirectory() as folder:
        play(learner, open_run(task), Path(folder))
    return final_state(task, learner)
