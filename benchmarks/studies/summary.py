"""A summary of studies: a table for each study, with a row for each system, from saved runs; docs/learning.md shows it.

``python -m benchmarks.studies.summary benchmarks/studies/results/learning benchmarks/studies/results/learning-debian``
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.studies import learning, smt
from benchmarks.studies.comparison import Comparison, mean_rewards
from benchmarks.studies.saved_runs import SavedRuns
from benchmarks.studies.study import RUNS
from benchmarks.studies.study_run import RunPart, StudyRun
from benchmarks.studies.table import markdown_table
from benchmarks.studies.text_statistics import TextStatistics

STUDIES = (learning.STUDY, smt.STUDY)


def summary(studies: dict[str, Comparison]) -> str:
    """Return a Markdown table for each study, best systems first; rewards are means over seeds, the rest ranges."""
    return "\n\n".join(f"{name}:\n\n{_table(comparison)}" for name, comparison in studies.items())


def _table(comparison: Comparison) -> str:
    family, rewards = comparison.family, mean_rewards(comparison.runs)
    header = [
        "system",
        "reward",
        "minus its control",
        f"of the gap to {family.oracle}",
        f"of the gap to {family.k_best_oracle}",
        f"of the gain of {family.full_information}",
        f"of the gain of {family.post_edits}",
        "BLEU, last quarter",
        "length, last quarter",
        "single words",
        "loops, last quarter",
        "held-out BLEU",
        "held-out length",
        "note",
    ]

    def cells(system: str) -> list[str]:
        runs = comparison.of_system(system)
        gains = [comparison.gain(run, comparison.control(run)) for run in runs]
        late = [run.last_quarter for run in runs]

        def shares(yardstick: str | None) -> str:
            return _percents([comparison.share(run, yardstick) for run in runs])

        return [
            system,
            f"{rewards[system]:.4f}",
            _range([None if gain is None else gain.mean for gain in gains], "+.4f"),
            shares(family.oracle),
            shares(family.k_best_oracle),
            shares(family.full_information),
            shares(family.post_edits),
            _range(_measures(late, lambda text: text.corpus_bleu), ".1f"),
            _range(_measures(late, lambda text: text.length_ratio), ".2f"),
            _percents(_measures([run.whole for run in runs], lambda text: text.single_word_share)),
            _percents(_measures(late, lambda text: text.loop_share)),
            _range([run.passes[-1].bleu for run in runs], ".1f"),
            _range([run.passes[-1].length_ratio for run in runs], ".2f"),
            _note(comparison, runs),
        ]

    return markdown_table(header, [cells(system) for system in sorted(rewards, key=lambda name: -rewards[name])])


def _measures(parts: Sequence[RunPart], measure: Callable[[TextStatistics], float | None]) -> list[float | None]:
    return [None if part.text is None else measure(part.text) for part in parts]


def _note(comparison: Comparison, runs: Sequence[StudyRun]) -> str:
    """Return the marks of a system, with the number of its seeds that have each if it is not all."""
    marks = [mark for run in runs for mark in comparison.marks(run)]
    counts = {mark: marks.count(mark) for mark in marks}
    return "; ".join(
        mark if count == len(runs) else f"{mark} ({count} of {len(runs)} seeds)" for mark, count in counts.items()
    )


def _percents(shares: Sequence[float | None]) -> str:
    shown = _range([None if share is None else 100 * share for share in shares], ".1f")
    return shown and f"{shown} %"


def _range(values: Sequence[float | None], form: str) -> str:
    """Return the lowest and the highest value; only one if both look the same, nothing if a value is missing."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return ""
    return " to ".join(dict.fromkeys(f"{value:{form}}" for value in (min(known), max(known))))


def read_studies(results: Sequence[Path]) -> dict[str, Comparison]:
    """Return the comparisons of saved runs, by the names of their folders."""
    return {folder.name: _read_study(folder) for folder in results}


def _read_study(folder: Path) -> Comparison:
    runs = SavedRuns(folder / RUNS).read_all()
    played = {run.spec.system for run in runs}
    for study in STUDIES:
        if study.static in played:
            return Comparison(runs, study.family)
    statics = " or ".join(study.static for study in STUDIES)
    raise SystemExit(f"{folder} has no run of {statics}: all others are compared with it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", help="the folders of the studies' tables (--out)")
    print(summary(read_studies(parser.parse_args().results)))
