"""How near does a bandit come to the best of several static systems? Answered from the saved runs of other studies.

A system that does not learn translates a sentence in the same way whether or not it was played before. So its saved
rewards are what a bandit would have received, round by round, and nothing has to be played again:
``python -m benchmarks.studies.arms benchmarks/studies/results/learning benchmarks/studies/results/learning-debian``.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt

from benchmarks.studies.saved_runs import SavedRuns
from benchmarks.studies.study import RUNS
from benchmarks.studies.table import interval, markdown_table
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.bandit.thompson import ThompsonSampling
from learners.bandit.ucb import Ucb1, Ucb1Tuned
from learners.systems.registry import find_system

MEMBERS = ("BNMT-static", "BNMT-beam", "BNMT-control", "word-for-word")
BANDITS: Mapping[str, Callable[[int], Ucb1 | ThompsonSampling]] = {
    "ARMS-UCB1": Ucb1,
    "ARMS-UCB1-TUNED": Ucb1Tuned,
    "ARMS-THOMPSON": ThompsonSampling,
}

Matrix = npt.NDArray[np.float64]


def read_rewards(results: Path, members: Sequence[str], rounds: int) -> Matrix:
    """Return the saved rewards of systems that do not learn [members, rounds]."""
    learning = [name for name in members if find_system(name).learns]
    if learning:
        raise SystemExit(f"{learning[0]} learns: what it would have earned depends on when it is played")
    saved = {run.spec.system: run.rewards[:rounds] for run in SavedRuns(results / RUNS).read_all()}
    missing = [name for name in members if name not in saved]
    if missing:
        raise SystemExit(f"{results / RUNS} has no run of {missing[0]}")
    return np.array([saved[name] for name in members])


def replay(bandit: Ucb1 | ThompsonSampling, rewards: Matrix, seed: int) -> npt.NDArray[np.float64]:
    """Return what a bandit earns in each round, if each arm earns these rewards."""
    rng, earned = np.random.default_rng(seed), []
    for round_rewards in rewards.T:
        arm = bandit.choose(rng)
        earned.append(float(round_rewards[arm]))
        bandit.observe(arm, earned[-1])
    return np.array(earned)


def report(results: Mapping[str, Matrix], members: Sequence[str], seeds: int) -> str:
    """Return a table of all bandits, and of all members, on each text."""
    rows = []
    for name, rewards in results.items():
        best = int(np.argmax(rewards.mean(axis=1)))
        late = 3 * rewards.shape[1] // 4
        for system, new in BANDITS.items():
            runs = range(1, (seeds if find_system(system).stochastic else 1) + 1)
            earned = np.mean([replay(new(len(members)), rewards, seed) for seed in runs], axis=0)
            gains = [interval(paired_block_bootstrap(earned[start:], rewards[best, start:]), 4) for start in (0, late)]
            rows.append([name, system, f"{mean(earned):.4f}", *gains])
        rows += [[name, member, f"{own.mean():.4f}", "", ""] for member, own in zip(members, rewards, strict=True)]
    return markdown_table(["results", "system", "mean reward", "minus the best member", "the same, last quarter"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of some results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path, help="folders of studies that saved their runs")
    parser.add_argument("--members", nargs="*", default=list(MEMBERS), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=10_000, help="the first ones (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="of bandits that sample (%(default)s)")
    given = parser.parse_args(arguments)
    found = {path.name: read_rewards(path, given.members, given.rounds) for path in given.results}
    print(report(found, given.members, given.seeds))


if __name__ == "__main__":
    main()
