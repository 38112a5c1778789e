"""Progress of trainings without a terminal: lines in a log, now and then."""

import re

import pytest

from simulator import cli
from simulator.cli.progress_bars import TrainingLog
from tests.simulator.small_task import write_task


class Clock:
    """A clock that shows what a test sets."""

    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_lines_are_at_least_half_a_minute_apart(clock):
    lines: list[str] = []
    log = TrainingLog(lines.append, clock)
    for seconds in (10, 29, 30, 45, 59, 75, 3_700):
        clock.now = 1_000.0 + seconds
        log.update("bnmt", f"{seconds} steps")
    assert lines == ["bnmt: 30 steps (0:00:30)", "bnmt: 75 steps (0:01:15)", "bnmt: 3700 steps (1:01:40)"]


def test_each_model_has_its_own_time_and_says_how_it_ended(clock):
    lines: list[str] = []
    log = TrainingLog(lines.append, clock)
    clock.now += 3
    log.finish("dictionary")
    clock.now += 5
    log.update("bnmt", "250 steps, loss 2.000")
    clock.now += 2
    log.update("bnmt", "500 steps, loss 1.000, converged")
    log.finish("bnmt")
    assert lines == ["dictionary: trained (0:00:03)", "bnmt: trained, 500 steps, loss 1.000, converged (0:00:07)"]


def test_a_terminal_has_bars_and_only_the_last_line(clock):
    lines: list[str] = []
    log = TrainingLog(lines.append, clock)
    clock.now += 90
    log.update("bnmt", "250 steps", quiet=True)
    log.finish("bnmt")
    assert lines == ["bnmt: trained, 250 steps (0:01:30)"]


def test_pretrain_without_a_terminal_logs_what_it_does_and_why_it_ended(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("simulator.cli.progress_bars.SECONDS_BETWEEN_LINES", 0)
    task = str(write_task(tmp_path / "task"))
    options = ["--task", task, "--models", str(tmp_path / "models"), "--size", "tiny", "--steps", "5"]
    assert cli.run(["pretrain", "BNMT-static", *options]) == 0
    lines = capsys.readouterr().err.splitlines()
    loss = re.compile(r"loss \d+\.\d{3}")
    assert [re.sub(r"\d:\d\d:\d\d", "0:00:01", loss.sub("loss 1.234", line)) for line in lines] == [
        "bnmt: cutting fragments out of sentences (0:00:01)",
        "bnmt: 5 steps, loss 1.234, not converged: stopped at the bound (0:00:01)",
        "bnmt: trained, 5 steps, loss 1.234, not converged: stopped at the bound (0:00:01)",
    ]
