"""Results of an evaluation for other programs and for papers: one table of cells, printed as JSON, CSV or LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.evaluation.comparison import Evaluation
from leaderboard.evaluation.learning import LearningCurve
from leaderboard.exports import escape_formula, escape_latex
from leaderboard.metrics.bootstrap import Difference, Interval
from leaderboard.metrics.reliability import Reliability
from leaderboard.metrics.repetition import RepetitionCounts


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a report, with what is known of its certainty."""

    column: str
    value: float | None
    interval: Interval | None = None
    difference: Difference | None = None  # to the first row
    digits: int = 1

    def as_dict(self) -> dict[str, Any]:
        difference = self.difference
        return {
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "difference": None
            if difference is None
            else {
                "mean": difference.mean,
                "interval": [difference.low, difference.high],
                "p_value": difference.p_value,
            },
        }

    def text(self) -> str:
        """Return the number with its interval or, where it is known, with its difference from the first row."""
        if self.value is None:
            return "-"
        number = f"{self.value:.{self.digits}f}"
        if self.difference is not None:
            mean, low, high = self.difference.mean, self.difference.low, self.difference.high
            return f"{number} ({mean:+.{self.digits}f} [{low:+.{self.digits}f}, {high:+.{self.digits}f}])"
        if self.interval is None:
            return number
        return f"{number} [{self.interval[0]:.{self.digits}f}, {self.interval[1]:.{self.digits}f}]"


@dataclass(frozen=True, slots=True)
class Report:
    """A table: a row for each system or document, with the signature of each number's meaning."""

    heading: str  # of the names of rows
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    signatures: dict[str, str]  # by column
    lower_is_better: tuple[str, ...] = ()  # columns
    notes: tuple[str, ...] = ()  # what a reader would miss, and why it is missing

    @property
    def columns(self) -> list[str]:
        return [cell.column for cell in self.rows[0][1]]

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rows": [
                {self.heading: name, **{cell.column: cell.as_dict() for cell in cells}} for name, cells in self.rows
            ],
            "signatures": self.signatures,
            "lower_is_better": list(self.lower_is_better),
            "notes": list(self.notes),
        }

    def to_csv(self) -> str:
        """Return rows for a spreadsheet: value, interval and difference of each column."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        suffixes = ("", "_low", "_high", "_difference", "_difference_low", "_difference_high", "_p_value")
        writer.writerow([self.heading, *(f"{column}{suffix}" for column in self.columns for suffix in suffixes)])
        for name, cells in self.rows:
            writer.writerow([escape_formula(name), *(value for cell in cells for value in _csv_values(cell))])
        return text.getvalue()

    def to_latex(self) -> str:
        """Return a table for a paper."""
        return "\n".join(
            [
                "% needs \\usepackage{booktabs}",
                *(f"% {name}: {signature}" for name, signature in self.signatures.items()),
                *(f"% {note}" for note in self.notes),
                r"\begin{tabular}{l" + "r" * len(self.columns) + "}",
                r"\toprule",
                " & ".join([self.heading, *map(escape_latex, self.columns)]) + r" \\",
                r"\midrule",
                *(
                    " & ".join([escape_latex(name), *(escape_latex(cell.text()) for cell in cells)]) + r" \\"
                    for name, cells in self.rows
                ),
                r"\bottomrule",
                r"\end{tabular}",
                "",
            ]
        )


def _csv_values(cell: Cell) -> list[float | None]:
    low, high = cell.interval or (None, None)
    difference = cell.difference
    if difference is None:
        return [cell.value, low, high, None, None, None, None]
    return [cell.value, low, high, difference.mean, difference.low, difference.high, difference.p_value]


def score_report(evaluation: Evaluation) -> Report:
    """Report the scores of systems."""
    rows = tuple(
        (
            name,
            tuple(
                Cell(measure.name, score.value, score.interval, score.difference)
                for measure, score in zip(evaluation.measures, scores, strict=True)
            ),
        )
        for name, scores in evaluation.scores.items()
    )
    return Report(
        "system",
        rows,
        {measure.name: measure.signature for measure in evaluation.measures},
        tuple(measure.name for measure in evaluation.measures if not measure.higher_is_better),
        evaluation.notes,
    )


def slope_report(curves: dict[str, LearningCurve], signature: str) -> Report:
    """Report the percentage slopes of systems."""
    rows = tuple(
        (
            name,
            (
                Cell("S", curve.slope.percentage, curve.slope.interval, curve.difference, digits=2),
                Cell("standard error", curve.slope.standard_error, digits=2),
                Cell("blocks", curve.slope.blocks, digits=0),
                Cell("without errors", curve.slope.left_out, digits=0),
            ),
        )
        for name, curve in curves.items()
    )
    reasons = {name: curve.missing_interval for name, curve in curves.items()}
    notes = tuple(f"no interval of {name}: {reason}" for name, reason in reasons.items() if reason)
    return Report("system", rows, {"S": signature}, ("S",), notes)


def reliability_report(reliability: Reliability, name: str, signature: str, notes: tuple[str, ...] = ()) -> Report:
    """Report the gain and the drift of each document."""
    rows: list[tuple[str, Sequence[float]]] = [
        (each.document, (each.baseline, each.adapted, each.final, each.gain, each.drift))
        for each in reliability.documents
    ]
    means = [sum(column) / len(rows) for column in zip(*(values for _, values in rows), strict=True)]
    columns = ("baseline", "adapted", "final", "gain", "drift")
    cells = [
        (document, tuple(Cell(column, value) for column, value in zip(columns, values, strict=True)))
        for document, values in [*rows, ("mean", means)]
    ]
    lower_is_better = () if reliability.higher_is_better else columns[:3]
    return Report("document", tuple(cells), {name: signature}, lower_is_better, notes)


def repetition_report(counts: dict[str, RepetitionCounts], signature: str) -> Report:
    """Report the repetition rates of texts, in percent."""
    rows = tuple(
        (
            name,
            (
                Cell("RR", None if each.rate is None else 100 * each.rate, digits=2),
                Cell("windows", each.windows, digits=0),
            ),
        )
        for name, each in counts.items()
    )
    notes = tuple(
        f"no rate of {name}: it has no sentence of 4 words" for name, each in counts.items() if each.rate is None
    )
    return Report("text", rows, {"RR": signature}, notes=notes)
