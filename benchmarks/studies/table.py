"""The table of a study: one row for each run, compared with a static system, an oracle and a control."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.studies.study_run import StudyRun
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.systems.registry import SYSTEMS


@dataclass(frozen=True)
class ComparisonSystems:
    """The names of the systems that all others are compared with."""

    static: str  # does not learn
    oracle: str  # was trained on the references
    control: str | None = None  # trains as much as the learners do, without feedback


def table(runs: Sequence[StudyRun], comparison: ComparisonSystems, sources: Sequence[str]) -> str:
    """Return a Markdown table of finished runs over these sources; the static system must be among them."""
    by_system = {run.spec.system: run for run in runs}
    static, oracle = by_system[comparison.static], by_system.get(comparison.oracle)
    control = by_system.get(comparison.control) if comparison.control else None
    header = [
        "system",
        "seed",
        "mean reward",
        f"minus {comparison.static} (95 %)",
        *([f"minus {comparison.control} (95 %)"] if control else []),
        "of the gap closed",
        "first seen",
        "repeats",
        "held-out BLEU, first to last pass",
        "length ratio, last pass",
    ]
    rows = (_cells(run, static, oracle, control, sources) for run in runs)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows))


def _cells(
    run: StudyRun, static: StudyRun, oracle: StudyRun | None, control: StudyRun | None, sources: Sequence[str]
) -> list[str]:
    gain = float(run.rewards.mean() - static.rewards.mean())
    gap = float(oracle.rewards.mean() - static.rewards.mean()) if oracle else float("nan")
    first_seen, repeats = run.means_by_novelty(sources)
    return [
        run.spec.system,
        str(run.spec.seed) if SYSTEMS[run.spec.system].stochastic else "-",
        f"{run.rewards.mean():.4f}",
        _difference(run, static),
        *([_difference(run, control)] if control else []),
        f"{100 * gain / gap:.1f} %",
        f"{first_seen:.4f}",
        f"{repeats:.4f}",
        f"{run.passes[0].bleu:.1f} to {run.passes[-1].bleu:.1f}",
        f"{run.passes[-1].length_ratio:.2f}",
    ]


def _difference(run: StudyRun, other: StudyRun) -> str:
    difference = paired_block_bootstrap(run.rewards, other.rewards)
    return f"{difference.mean:+.4f} ({difference.low:+.4f} to {difference.high:+.4f})"


def mean_rewards(runs: Sequence[StudyRun]) -> dict[str, float]:
    """Return the mean reward of each system over its seeds."""
    rewards: dict[str, list[float]] = {}
    for run in runs:
        rewards.setdefault(run.spec.system, []).append(float(run.rewards.mean()))
    return {system: float(np.mean(each)) for system, each in rewards.items()}


def ranking(rewards: Mapping[str, float]) -> str:
    """Return the systems with their rewards, from best to worst."""
    ordered = sorted(rewards.items(), key=lambda item: -item[1])
    return " > ".join(f"{system} {reward:.4f}" for system, reward in ordered)
