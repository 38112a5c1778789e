"""Figures of an evaluation.

Differences from the first system over sentences, learning curves by block, scores before and after adaptation by
document, repetition rates by text, accuracies by test set, and the course of a training.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt

from leaderboard.evaluation.learning import LearningCurve
from leaderboard.evaluation.reports import Report
from leaderboard.metrics.learning_curve import CurveModel, ErrorRate
from leaderboard.metrics.reliability import Reliability
from leaderboard.metrics.repetition import RepetitionCounts

FORMATS = (".svg", ".png", ".pdf")
PNG_SCALE = 2.0
WIDTH, HEIGHT = 460, 240
AXIS = {"titleFontWeight": "normal", "titleFontSize": 12, "labelFontSize": 11, "gridColor": "#e6e6e6"}

Curve = Sequence[tuple[int, float]]
Figure = alt.Chart | alt.VConcatChart | alt.LayerChart | alt.FacetChart

_PERCENT = alt.Scale(domain=[0, 100])


def difference_figure(curves: Mapping[str, Mapping[str, Curve]], first: str) -> Figure:
    """Draw a panel for each measure: the difference of each system from the first, by number of sentences."""
    panels = []
    for measure, by_system in curves.items():
        points = [
            {"system": system, "sentences": place, "difference": value}
            for system, curve in by_system.items()
            for place, value in curve
        ]
        lines = _lines(points).encode(
            x=alt.X("sentences:Q", title="sentences", scale=alt.Scale(nice=False, domainMin=1)),
            y=alt.Y("difference:Q", title=f"{measure} minus that of {first}"),
        )
        zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#888").encode(y="zero:Q")
        panels.append(alt.layer(zero, lines).properties(width=WIDTH, height=HEIGHT))
    return alt.vconcat(*panels)


def learning_figure(curves: Mapping[str, LearningCurve], model: CurveModel, error: ErrorRate) -> Figure:
    """Draw the errors of blocks as dots, and the fitted curves as lines."""
    title = {ErrorRate.TER: "TER", ErrorRate.SENTENCE_BLEU: "100 - mean sentence BLEU"}[error]
    points = [
        {"system": system, "block": block, "error": error, "fitted": fitted}
        for system, curve in curves.items()
        for block, error, fitted in curve.points(model)
    ]
    x = alt.X(
        "block:Q", title="block", scale=alt.Scale(nice=False, domainMin=1), axis=alt.Axis(tickMinStep=1, format="d")
    )
    dots = _chart(points).mark_circle(size=26, opacity=0.6).encode(x=x, y=_score_axis("error", title))
    fitted = _lines(points).encode(x=x, y=_score_axis("fitted", title))
    return alt.layer(dots, fitted).properties(width=WIDTH, height=HEIGHT)


def reliability_figure(reliability: Reliability, measure: str) -> Figure:
    """Draw the score of each document without adaptation, right after adapting to it, and after all documents."""
    points: list[dict[str, object]] = [
        {"system": system, "document": each.document, "score": score}
        for each in reliability.documents
        for system, score in (("baseline", each.baseline), ("adapted", each.adapted), ("final", each.final))
    ]
    documents = [each.document for each in reliability.documents]
    chart: alt.Chart = (
        _chart(points)
        .mark_line(strokeWidth=1.8, point=True)
        .encode(
            x=alt.X("document:N", title="document", sort=documents, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=_score_axis("score", measure),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return chart


def repetition_figure(counts: Mapping[str, RepetitionCounts]) -> Figure:
    """Draw a bar for the repetition rate of each text; a text without a rate has none."""
    rates = [{"text": text, "rate": 100 * each.rate} for text, each in counts.items() if each.rate is not None]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rates))
        .mark_bar()
        .encode(
            x=alt.X("rate:Q", title="repetition rate, %"),
            y=alt.Y("text:N", title=None, sort=list(counts), scale=alt.Scale(domain=list(counts))),
        )
        .properties(width=WIDTH)
    )
    return chart


def contrastive_figure(report: Report) -> Figure:
    """Draw the accuracy of each system with its interval, a group of bars for each column of the report."""
    return _bars_with_intervals(report, report.columns, alt.Y("value:Q", title="accuracy, %", scale=_PERCENT))


def off_policy_figure(report: Report) -> Figure:
    """Draw the estimated rewards of each system with their intervals, a group of bars for each estimator."""
    return _bars_with_intervals(report, list(report.signatures), alt.Y("value:Q", title="estimated reward"))


def _bars_with_intervals(report: Report, columns: list[str], axis: alt.Y) -> Figure:
    """Draw a group of bars for each of these columns, a bar for each row."""
    points: list[dict[str, object]] = [
        {
            "system": system,
            "part": cell.column,
            "value": cell.value,
            "low": cell.interval[0] if cell.interval else cell.value,
            "high": cell.interval[1] if cell.interval else cell.value,
        }
        for system, cells in report.rows
        for cell in cells
        if cell.column in columns
    ]
    systems = [system for system, _ in report.rows]
    base = _chart(points).encode(
        x=alt.X("part:N", title=None, sort=columns, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("system:N", sort=systems),
    )
    whiskers = base.mark_rule().encode(y="low:Q", y2="high:Q", color=alt.value("#333"))
    return alt.layer(base.mark_bar().encode(y=axis), whiskers).properties(width=WIDTH, height=HEIGHT)


def training_figure(bleu: Curve, accuracies: Mapping[str, Curve]) -> Figure:
    """Draw BLEU by training step, and below it the accuracy on each contrastive set (Voita et al. 2019, Figure 5)."""

    def panel(curves: Mapping[str, Curve], title: str) -> alt.Chart:
        points: list[dict[str, object]] = [
            {"system": name, "step": step, "value": value} for name, curve in curves.items() for step, value in curve
        ]
        chart: alt.Chart = (
            _lines(points)
            .encode(x=alt.X("step:Q", title="training steps"), y=_score_axis("value", title))
            .properties(width=WIDTH, height=HEIGHT)
        )
        return chart

    panels = [panel({"BLEU": bleu}, "BLEU")]
    if accuracies:
        panels.append(panel(accuracies, "accuracy, %"))
    return alt.vconcat(*panels)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the name of its file ends with.

    Raises:
        ValueError: The file name has another suffix.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"a figure is written as {', '.join(FORMATS)}, but got {path.name}")
    drawn = figure.configure_view(stroke=None).configure_axis(**AXIS)
    drawn.save(path, format=path.suffix[1:], scale_factor=PNG_SCALE if path.suffix == ".png" else 1.0)


def _chart(points: list[dict[str, object]]) -> alt.Chart:
    systems = list(dict.fromkeys(str(point["system"]) for point in points))
    colour = alt.Color("system:N", title=None, scale=alt.Scale(domain=systems, scheme="tableau10"))
    chart: alt.Chart = alt.Chart(alt.InlineData(values=points)).encode(color=colour)
    return chart


def _lines(points: list[dict[str, object]]) -> alt.Chart:
    chart: alt.Chart = _chart(points).mark_line(strokeWidth=1.8)
    return chart


def _score_axis(field: str, title: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False))
