"""The rules hold in simulated competitions, the same seed gives the same execution, and planted bugs are found.

A few seeds; ``make simulate`` tries others, and ``python -m tests.simulation.simulate --bugs`` all planted bugs.
"""

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation import faults
from tests.simulation.checker import Checker
from tests.simulation.competition import simulate
from tests.simulation.planted_bugs import BUGS
from tests.simulation.simulate import find_bugs, replay, search

ROOT = Path(__file__).parents[2]
SEED = 4
# Each breaks a rule of its own within a few seeds.
QUICKLY_FOUND = (
    "reports-a-failed-write-as-done",
    "overwrites-committed-rounds",
    "overwrites-committed-items",
    "accepts-another-translation-of-a-committed-round",
    "serves-the-runs-of-others",
    "counts-rounds-twice-on-the-leaderboard",
    "forgets-the-feedback-of-a-lost-response",
)


@pytest.fixture(autouse=True)
def no_metrics(monkeypatch):
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")


def test_the_rules_hold_whatever_fails():
    injected: Counter[str] = Counter()
    for seed in range(40):
        outcome = simulate(seed)
        assert Checker(outcome).violations() == [], f"python -m tests.simulation.simulate --seed {seed} --trace"
        injected += outcome.injected
    assert set(injected) == set(faults.ALL)  # otherwise they prove nothing


def test_a_seed_is_replayed_exactly():
    first, again, other = (simulate(seed) for seed in (SEED, SEED, SEED + 1))
    assert first.history.digest() == again.history.digest() != other.history.digest()
    assert (first.steps, first.seconds, first.injected) == (again.steps, again.seconds, again.injected)


def test_another_process_replays_it_too(capsys):
    """Neither the order of sets nor the machine's time nor its random numbers decide anything."""
    command = [sys.executable, "-m", "tests.simulation.simulate", "--seed", str(SEED), "--trace"]
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert replay(SEED, trace=True) == 0
    assert done.stdout == capsys.readouterr().out
    assert f"history {simulate(SEED).history.digest()}" in done.stdout.splitlines()


@pytest.mark.parametrize("bug", QUICKLY_FOUND)
def test_a_planted_bug_is_found(bug):
    with BUGS[bug]():
        seeds = itertools.islice(itertools.count(), 60)
        assert any(Checker(simulate(seed)).violations() for seed in seeds)


def test_planted_bugs_are_removed_again():
    for plant in BUGS.values():
        with plant():
            pass
    assert Checker(simulate(SEED)).violations() == []


def test_a_search_ends_at_the_first_seed_that_breaks_a_rule(capsys):
    report = search(itertools.count(), seconds=60, bug="counts-rounds-twice-on-the-leaderboard")
    assert report.violations[0].startswith("leaderboard_shows_the_ledger: ")
    assert report.failed_seed is not None
    with BUGS["counts-rounds-twice-on-the-leaderboard"]():
        assert replay(report.failed_seed, trace=True) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"repeat it with: python -m tests.simulation.simulate --seed {report.failed_seed} --trace"


def test_found_bugs_are_counted():
    lines: list[str] = []
    bug = "forgets-the-feedback-of-a-lost-response"
    assert find_bugs([bug], lines.append) is True
    assert lines[-1] == "1 of 1 planted bugs found in less than 60 s each"
