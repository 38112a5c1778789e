"""Bandits over saved runs: what they earn, and which runs cannot be replayed."""

import numpy as np
import pytest

from benchmarks.studies.arms import BANDITS, main, replay, report
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from learners.bandit.ucb import Ucb1
from learners.systems.registry import SYSTEMS
from task.layout import Layout
from tests.benchmarks.study_runs import REFERENCES, SOURCES, study_run

REWARDS = np.array([[0.2, 0.4] * 30, [0.3, 0.5] * 30, [0.0, 0.1] * 30])


def test_a_bandit_earns_what_the_arm_that_it_plays_earned_in_that_round():
    assert replay(Ucb1(3), REWARDS, 1)[:3].tolist() == [0.2, 0.5, 0.0]  # each arm once


def test_every_bandit_is_compared_with_the_best_member():
    lines = report({"shop": REWARDS}, ["BNMT-static", "BNMT-beam", "word-for-word"], 2).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == [*BANDITS, "BNMT-static", "BNMT-beam", "word-for-word"]
    assert all(line.split(" | ")[3].startswith("-0.") for line in lines[2:5])
    assert lines[-2].startswith("| shop | BNMT-beam | 0.4000 |")
    assert set(BANDITS) <= set(SYSTEMS)


def test_saved_runs_are_replayed(tmp_path, capsys):
    text = {"references": REFERENCES * 4, "sources": SOURCES * 4, "layout": Layout.plain(48)}
    rewards = {"BNMT-static": 0.2, "BNMT-beam": 0.3, "BNMT-EL": 0.4}
    runs = [study_run(name, [reward] * 48, ["w"] * 48, **text) for name, reward in rewards.items()]
    SavedRuns(tmp_path / "runs").save(runs, TaskIdentity({}, "digest"), {})
    main([str(tmp_path), "--members", "BNMT-static", "BNMT-beam", "--seeds", "1"])
    assert "| BNMT-beam | 0.3000 |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="BNMT-EL learns: what it would have earned depends on when it is played"):
        main([str(tmp_path), "--members", "BNMT-static", "BNMT-EL"])
    with pytest.raises(SystemExit, match="has no run of BNMT-control"):
        main([str(tmp_path)])
