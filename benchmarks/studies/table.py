"""The tables of a study, with a row for each run: what it earned, and how it translated."""

from collections.abc import Callable, Sequence

from benchmarks.studies.comparison import Comparison
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.text_statistics import TextStatistics
from leaderboard.metrics.bootstrap import Difference
from learners.systems.registry import find_system


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table without the columns that are empty in all rows."""
    filled = [number for number in range(len(header)) if any(row[number] for row in rows)]
    lines = (header, ["---"] * len(header), *rows)
    return "\n".join(f"| {' | '.join(cells[number] for number in filled)} |" for cells in lines)


def rewards_table(comparison: Comparison, sources: Sequence[str]) -> str:
    """Return what each run earned over these sources, and its gain over the systems that it is compared with."""
    family = comparison.family
    header = [
        "system",
        "seed",
        "mean reward",
        f"minus {family.static} (95 %)",
        "its control",
        "minus its control (95 %)",
        f"of the gap to {family.oracle}",
        f"of the gap to {family.k_best_oracle}",
        f"of the gain of {family.full_information}",
        f"of the gain of {family.post_edits}",
        "first seen",
        "repeats",
        "note",
    ]

    def cells(run: StudyRun) -> list[str]:
        control = comparison.control(run)
        first_seen, repeats = run.means_by_novelty(sources)
        return [
            *_name(run),
            f"{run.rewards.mean():.4f}",
            interval(comparison.gain(run, comparison.static), 4),
            control.spec.system if control else "",
            interval(comparison.gain(run, control), 4),
            percent(comparison.share(run, family.oracle)),
            percent(comparison.share(run, family.k_best_oracle)),
            percent(comparison.share(run, family.full_information)),
            percent(comparison.share(run, family.post_edits)),
            f"{first_seen:.4f}",
            f"{repeats:.4f}",
            "; ".join(comparison.marks(run)),
        ]

    return markdown_table(header, [cells(run) for run in comparison.runs])


def quality_table(comparison: Comparison) -> str:
    """Return how each run translated: in the whole stream, in its last quarter, and in the held-out passes.

    Single words are the share of references of two or more words that were answered with one word.
    """
    header = [
        "system",
        "seed",
        "corpus BLEU",
        "corpus BLEU, last quarter",
        "minus its control, or else the static system (95 %)",
        "length ratio",
        "length ratio, last quarter",
        "single words",
        "single words, last quarter",
        "loops, last quarter",
        "held-out BLEU, first to last pass",
        "length ratio, last pass",
    ]

    def cells(run: StudyRun) -> list[str]:
        whole, late = run.whole.text, run.last_quarter.text
        return [
            *_name(run),
            _number(whole, lambda text: f"{text.corpus_bleu:.1f}"),
            _number(late, lambda text: f"{text.corpus_bleu:.1f}"),
            interval(comparison.late_bleu_gain(run), 1),
            _number(whole, lambda text: f"{text.length_ratio:.2f}"),
            _number(late, lambda text: f"{text.length_ratio:.2f}"),
            _number(whole, lambda text: percent(text.single_word_share)),
            _number(late, lambda text: percent(text.single_word_share)),
            _number(late, lambda text: percent(text.loop_share)),
            f"{run.passes[0].bleu:.1f} to {run.passes[-1].bleu:.1f}" if run.passes else "",
            f"{run.passes[-1].length_ratio:.2f}" if run.passes else "",
        ]

    return markdown_table(header, [cells(run) for run in comparison.runs])


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _name(run: StudyRun) -> tuple[str, str]:
    return run.spec.system, str(run.spec.seed) if find_system(run.spec.system).stochastic else "-"


def interval(difference: Difference | None, decimals: int) -> str:
    """Return a difference with its interval; an empty text without one."""
    if difference is None:
        return ""
    mean, low, high = (f"{value:+.{decimals}f}" for value in (difference.mean, difference.low, difference.high))
    return f"{mean} ({low} to {high})"


def _number(text: TextStatistics | None, shown: Callable[[TextStatistics], str]) -> str:
    return "" if text is None else shown(text)
