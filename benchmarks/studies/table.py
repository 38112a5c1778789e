"""The table of a study: one row for each run, beside the systems that all are measured against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.studies.study_run import StudyRun
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.systems.registry import SYSTEMS


@dataclass(frozen=True)
class ComparisonSystems:
    """The names of systems that others are measured against."""

    static: str  # the system that does not learn
    oracle: str  # the system that knows what the others have to learn
    control: str | None = None  # the system that practises as much as learners do, without feedback


def table(runs: Sequence[StudyRun], names: ComparisonSystems, sources: Sequence[str]) -> str:
    """All finished runs over these sources, in Markdown; the static system must be among them."""
    by_system = {run.spec.system: run for run in runs}
    static, oracle = by_system[names.static], by_system.get(names.oracle)
    control = by_system.get(names.control) if names.control else None
    header = [
        "system",
        "seed",
        "mean reward",
        f"minus {names.static} (95 %)",
        *([f"minus {names.control} (95 %)"] if control else []),
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
    won = float(run.rewards.mean() - static.rewards.mean())
    gap = float(oracle.rewards.mean() - static.rewards.mean()) if oracle else float("nan")
    first_seen, repeats = run.by_novelty(sources)
    return [
        run.spec.system,
        str(run.spec.seed) if SYSTEMS[run.spec.system].stochastic else "-",
        f"{run.rewards.mean():.4f}",
        _difference(run, static),
        *([_difference(run, control)] if control else []),
        f"{100 * won / gap:.1f} %",
        f"{first_seen:.4f}",
        f"{repeats:.4f}",
        f"{run.passes[0].bleu:.1f} to {run.passes[-1].bleu:.1f}",
        f"{run.passes[-1].length_ratio:.2f}",
    ]


def _difference(run: StudyRun, other: StudyRun) -> str:
    found = paired_block_bootstrap(run.rewards, other.rewards)
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def means(runs: Sequence[StudyRun]) -> dict[str, float]:
    """The mean reward of each system over its seeds."""
    rewards: dict[str, list[float]] = {}
    for run in runs:
        rewards.setdefault(run.spec.system, []).append(float(run.rewards.mean()))
    return {system: float(np.mean(each)) for system, each in rewards.items()}


def ordering(rewards: Mapping[str, float]) -> str:
    """Systems from best to worst."""
    ranked = sorted(rewards.items(), key=lambda item: -item[1])
    return " > ".join(f"{system} {reward:.4f}" for system, reward in ranked)
