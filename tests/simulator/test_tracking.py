"""Tracking: what is logged of a run, how often, and that a tracker which fails disturbs nothing."""

import math

import pytest

from learners.journal import JournalEntry
from simulator import tracking
from simulator.competition import PlayState, play_run, seeded_run
from simulator.errors import TrackingError
from simulator.regret import BaselineRun
from simulator.tracking import RunTracking, check_tracker, open_tracker
from tests.simulator.small_task import make_competition


class Recorder:
    def __init__(self, fails=()):
        self.calls, self.fails = [], fails

    def init(self, name, config):
        self._record("init", name, config)

    def log(self, rounds, values):
        self._record("log", rounds, dict(values))

    def finish(self):
        self._record("finish")

    def _record(self, call, *arguments):
        if call in self.fails:
            raise ConnectionError("the server is away")
        self.calls.append((call, *arguments))


def entry(index, reward, translation="a b", log_probability=None):
    return JournalEntry(index, "x y z w", translation, reward, log_probability=log_probability)


def test_a_point_has_the_means_of_its_rounds_the_running_mean_and_the_regret():
    recorder = Recorder()
    measured = iter([{"gradient_norm": math.nan}, {"gradient_norm": 2.0}])
    observing = RunTracking(recorder, 2_500, oracle=BaselineRun([1.0] * 3), measure=lambda: next(measured))
    for number, (reward, text) in enumerate([(0.5, "a"), (0.0, "a b c"), (0.25, "a b"), (0.25, "a b c d")]):
        observing.observe(entry(number, reward, text, log_probability=-1.0), cumulative_reward=0.5 + reward)
    first = {"reward": 0.25, "length_ratio": 0.5, "entropy_per_word": pytest.approx(2 / 3)}
    second = {"reward": 0.25, "length_ratio": 0.75, "entropy_per_word": 0.375}
    assert recorder.calls == [
        ("log", 2, {**first, "running_mean_reward": 0.25, "regret": 0.25}),  # the norm is not known before a step
        ("log", 4, {**second, "running_mean_reward": 0.1875, "gradient_norm": 2.0}),  # the oracle has 3 rounds
    ]


def test_the_last_round_is_always_logged_and_greedy_outputs_have_no_entropy():
    recorder = Recorder()
    observing = RunTracking(recorder, 2_001)
    observing.observe(entry(2_000, 0.5), cumulative_reward=1_000.5)
    assert recorder.calls == [("log", 2_001, {"reward": 0.5, "length_ratio": 0.5, "running_mean_reward": 0.5})]


@pytest.mark.parametrize("fails", ["init", "log", "finish"])
def test_a_tracker_that_fails_is_reported_once_and_the_rounds_go_on(fails):
    complaints: list[str] = []
    observing = RunTracking(Recorder([fails]), 3, complain=complaints.append)
    observing.init("x", {})
    for number in range(3):
        observing.observe(entry(number, 0.5), 0.5)
    observing.finish()
    assert complaints == ["tracking has stopped, the run goes on: ConnectionError: the server is away"]


def test_a_run_is_tracked_from_its_first_round_to_its_last(tmp_path, monkeypatch):
    here = make_competition(tmp_path)
    recorder = Recorder()
    opened = []

    def record(name, folder, run):
        opened.append((name, folder.name))
        return recorder

    monkeypatch.setattr("simulator.competition.open_tracker", record)
    tracked = type(here)(here.store, here.phase, here.models, here.folder, tracker="tensorboard")
    end = play_run(tracked, seeded_run("copy-source", 1))
    assert (end.state, opened) == (PlayState.FINISHED, [("tensorboard", "copy-source")])
    assert recorder.calls[0] == ("init", "copy-source", {"system": "copy-source", "seed": 1})
    assert [call[1] for call in recorder.calls[1:-1]] == list(range(1, 31))
    assert recorder.calls[-2][2]["running_mean_reward"] == pytest.approx(end.mean_reward)
    assert recorder.calls[-1] == ("finish",)


def test_an_unknown_tracker_and_a_missing_package_are_told_with_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(TrackingError, match="there is no tracker 'excel'; there are tensorboard, mlflow, wandb"):
        check_tracker("excel")
    monkeypatch.setattr(tracking, "find_spec", lambda name: None)
    with pytest.raises(TrackingError, match=r"wandb is not installed: pip install 'banditmt\[wandb\]'"):
        open_tracker("wandb", tmp_path, "r")
