"""A summary of studies: a row for each system, from saved runs; docs/learning.md shows it.

``python -m benchmarks.studies.summary benchmarks/studies/results/learning benchmarks/studies/results/learning-debian``
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.studies.learning import STUDY
from benchmarks.studies.saved_runs import SavedRuns
from benchmarks.studies.study import RUNS
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import ComparisonSystems, mean_rewards

COLUMNS = ["reward", "of the gap", "held-out BLEU", "length"]


def summary(studies: dict[str, Sequence[StudyRun]], comparison: ComparisonSystems) -> str:
    """Return a Markdown table, best systems of the first study first; rewards are means over seeds, the rest ranges."""
    order = [system for runs in studies.values() for system in _ranked(runs)]
    header = ["system", *(f"{study}: {column}" for study in studies for column in COLUMNS)]
    rows = [
        [system, *(cell for runs in studies.values() for cell in _cells(runs, system, comparison))]
        for system in dict.fromkeys(order)
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows))


def _ranked(runs: Sequence[StudyRun]) -> list[str]:
    rewards = mean_rewards(runs)
    return sorted(rewards, key=lambda system: -rewards[system])


def _cells(runs: Sequence[StudyRun], system: str, comparison: ComparisonSystems) -> list[str]:
    seeds = [run for run in runs if run.spec.system == system]
    if not seeds:
        return [""] * len(COLUMNS)
    rewards = mean_rewards(runs)
    static, oracle = rewards[comparison.static], rewards[comparison.oracle]
    return [
        f"{rewards[system]:.4f}",
        f"{_range([100 * (run.rewards.mean() - static) / (oracle - static) for run in seeds], 1)} %",
        _range([run.passes[-1].bleu for run in seeds], 1),
        _range([run.passes[-1].length_ratio for run in seeds], 2),
    ]


def _range(values: Sequence[float], decimals: int) -> str:
    ends = dict.fromkeys(f"{value:.{decimals}f}" for value in (min(values), max(values)))
    return " to ".join(ends)


def read_studies(results: Sequence[Path], comparison: ComparisonSystems) -> dict[str, Sequence[StudyRun]]:
    """Return the saved runs of studies, by the names of their folders."""
    studies: dict[str, Sequence[StudyRun]] = {folder.name: SavedRuns(folder / RUNS).read_all() for folder in results}
    for folder, runs in studies.items():
        missing = {comparison.static, comparison.oracle} - {run.spec.system for run in runs}
        if missing:
            raise SystemExit(
                f"{folder} has no run of {' and '.join(sorted(missing))}: all others are compared with them"
            )
    return studies


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", help="the folders of the studies' tables (--out)")
    print(summary(read_studies(parser.parse_args().results, STUDY.comparison), STUDY.comparison))
