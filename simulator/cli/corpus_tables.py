"""The tables of ``banditmt corpus``, for a terminal or for a document."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import rich.table
from rich.text import Text

from corpora.cleaning import CleaningCounts
from corpora.document_statistics import DocumentStatistics
from corpora.statistics import PAPER_VALUES, CorpusStatistics, PaperValue, out_of_tolerance
from corpora.task import Pair, Task
from task.description import TaskDescription

OUT_OF_TOLERANCE = "✗"


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and rows of text. Columns of numbers are aligned to the right."""

    title: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1  # on the left; the other columns have numbers

    def rich(self) -> rich.table.Table:
        """Return the table for a terminal."""
        table = rich.table.Table(title=self.title, title_justify="left")
        for number, name in enumerate(self.heading):
            table.add_column(name, justify="left" if number < self.text_columns else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell, style="red" if OUT_OF_TOLERANCE in cell else "") for cell in row))
        return table

    def markdown(self) -> str:
        """Return the table as Markdown."""
        ruler = ["---" if number < self.text_columns else "---:" for number in range(len(self.heading))]
        lines = [self.heading, tuple(ruler), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _one_decimal(value: float) -> str:
    return f"{value:.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _score(value: float) -> str:
    return f"{value:.3f}"


_ROWS: dict[str, tuple[str, Callable[[float], str]]] = {
    "in_domain_pairs": ("in-domain pairs", _number),
    "in_domain_mean": ("in-domain source tokens, mean", _one_decimal),
    "in_domain_deviation": ("… standard deviation", _one_decimal),
    "in_domain_median": ("… median", _number),
    "in_domain_longest": ("… longest", _number),
    "out_of_domain_pairs": ("out-of-domain pairs", _number),
    "out_of_domain_mean": ("out-of-domain source tokens, mean", _one_decimal),
    "out_of_domain_deviation": ("… standard deviation", _one_decimal),
    "out_of_domain_median": ("… median", _number),
    "out_of_domain_longest": ("… longest", _number),
    "duplicates": ("duplicates on both sides", _percent),
    "served_duplicates": ("… among all rounds, held-out passes included", _percent),
    "several_targets": ("sources with several targets", _percent),
    "source_oov": ("out-of-vocabulary source tokens", _percent),
    "target_oov": ("out-of-vocabulary target tokens", _percent),
    "copy_score": ("score of copying the source", _score),
    "source_vocabulary": ("in-domain source vocabulary", _number),
    "target_vocabulary": ("in-domain target vocabulary", _number),
}
# Numbers of Sokolov et al. 2017 without an accepted range.
_QUOTED_VALUES = {"in_domain_pairs": 1_291_922.0, "out_of_domain_pairs": 5_500_000.0, "out_of_domain_median": 25.0}


def statistics_table(tasks: Mapping[str, CorpusStatistics], *, with_paper: bool = False) -> Table:
    """Return the statistics of tasks.

    ``with_paper`` adds those of Sokolov et al. 2017, with a mark on values outside the accepted range.
    """
    numbers = {name: statistics.flat() for name, statistics in tasks.items()}
    marked = {name: set(out_of_tolerance(statistics) if with_paper else ()) for name, statistics in tasks.items()}
    rows = []
    for key, (label, show) in _ROWS.items():
        cells = [_cell(numbers[name][key], show, key in marked[name]) for name in tasks]
        rows.append((label, *(_paper_cells(key, show) if with_paper else ()), *cells))
    if not with_paper:
        return Table("Statistics", ("statistic", *tasks), tuple(rows))
    title = f"Statistics ({OUT_OF_TOLERANCE} outside the range of the WMT 2017 task)"
    return Table(title, ("statistic", "paper", "accepted", *tasks), tuple(rows))


def _cell(value: float, show: Callable[[float], str], is_marked: bool) -> str:
    if math.isnan(value):
        return "-"
    return f"{OUT_OF_TOLERANCE} {show(value)}" if is_marked else show(value)


def _paper_cells(key: str, show: Callable[[float], str]) -> tuple[str, str]:
    target: PaperValue | None = PAPER_VALUES.get(key)
    if target is None:
        return (show(_QUOTED_VALUES[key]) if key in _QUOTED_VALUES else "", "")
    return show(target.paper), f"{show(target.lowest)} to {show(target.highest)}"


def documents_table(documents: Sequence[DocumentStatistics]) -> Table:
    """Return a line for each document."""
    rows = tuple(
        (
            one.phase,
            one.document,
            _number(one.sentences),
            _number(one.words),
            "-" if one.repetition_rate is None else _percent(one.repetition_rate),
            "-" if one.source_oov is None else _percent(one.source_oov),
        )
        for one in documents
    )
    heading = ("phase", "document", "sentences", "source words", "repetition rate", "out-of-vocabulary source words")
    return Table("Documents", heading, rows, text_columns=2)


def cleaning_table(side: str, counts: CleaningCounts) -> Table:
    """Return what each step of cleaning did to one side."""
    rows = [(step, _number(counts.changed.get(step, 0)), _number(removed)) for step, removed in counts.removed.items()]
    title = f"Cleaning of the {side} side: {counts.read:,} pairs read, {counts.kept:,} kept"
    return Table(title, ("step", "pairs changed", "pairs removed"), tuple(rows))


def sample_table(chosen: list[tuple[int, Pair]], description: TaskDescription) -> Table:
    """Return the pairs of a task with their line numbers."""
    rows = tuple((f"{line:,}", pair.source, pair.target) for line, pair in chosen)
    return Table("", ("line", *description.languages), rows, text_columns=3)


def task_summary(task: Task) -> str:
    """Return one line with the path of a task and the sizes of its parts."""
    sizes = ", ".join(f"{part} {task.rounds(part):,}" for part in task.parts)
    return f"{task.path}: {sizes} lines"
