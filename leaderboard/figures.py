"""The figures of the task paper as Vega-Lite charts: regret, cumulative reward, held-out BLEU; drawn without a browser.

A chart says how to draw; ``curve_points`` and ``pass_points`` say what. The same charts serve files and the page, which
makes its own points.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import altair as alt

from leaderboard.families import RoleKind
from leaderboard.table import Board, Row

Format = Literal["svg", "png", "pdf"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
MAX_RUNS = 20  # in one figure: more lines, and their colours, cannot be told apart
PNG_SCALE = 2.0
DASHES = {RoleKind.CONTESTANT.value: [1, 0], RoleKind.BASELINE.value: [2, 2], RoleKind.ORACLE.value: [7, 4]}
MIN_REGRET_ROUNDS = 10  # rounds of a long phase before which a mean is noise that would squeeze the rest of its curve

Point = dict[str, Any]


def labels(rows: Sequence[Row]) -> dict[str, str]:
    """A name for every run: its system, and as much more as it takes to tell them apart."""
    systems = Counter(row.system for row in rows)
    owners = Counter((row.system, row.participant) for row in rows)
    found = {}
    for row in rows:
        label = row.system if systems[row.system] == 1 else f"{row.system} ({row.participant})"
        found[row.run] = label if owners[row.system, row.participant] == 1 else f"{label} #{row.attempt}"
    return found


def drawn(board: Board) -> list[Row]:
    """All oracles and baselines, and the best of the others."""
    pinned = [row for row in board.rows if row.role is not RoleKind.CONTESTANT]
    others = [row for row in board.rows if row.role is RoleKind.CONTESTANT]
    return [*pinned, *others[: max(0, MAX_RUNS - len(pinned))]]


def curve_points(board: Board) -> list[Point]:
    """Cumulative reward and running regret of every run that is drawn, at every checkpoint."""
    rows, curves = drawn(board), {row.run: row.curve for row in board.rows}
    names, points = labels(rows), []
    settled = MIN_REGRET_ROUNDS if board.total >= 100 * MIN_REGRET_ROUNDS else 1
    for row in rows:
        oracle = curves[row.regret.oracle] if row.regret else []
        for place, (rounds, reward) in enumerate(zip(board.checkpoints, row.curve, strict=False)):
            regret = (oracle[place] - reward) / rounds if place < len(oracle) and rounds >= settled else None
            points.append(
                {"system": names[row.run], "role": row.role, "rounds": rounds, "reward": reward, "regret": regret}
            )
    return points


def pass_points(board: Board) -> list[Point]:
    """BLEU over the held-out block of every run that is drawn, at every pass."""
    rows = drawn(board)
    names = labels(rows)
    return [
        {
            "system": names[row.run],
            "role": row.role,
            "rounds": board.held_out.ends[each.held_out_pass],
            "corpus_bleu": each.corpus_bleu,
            "sentence_bleu": each.sentence_bleu,
            "relative_corpus_bleu": each.relative_corpus_bleu,
            "relative_sentence_bleu": each.relative_sentence_bleu,
        }
        for row in rows
        for each in row.passes
    ]


def _lines(
    value: str, title: str, *, log: bool = False, marks: bool = False, width: int = 520, height: int = 300
) -> alt.Chart:
    """One line per run; its data, its colours and its dashes are said by who composes the figure."""
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False, domainMin=0)
    chart: alt.Chart = (
        alt.Chart()
        .mark_line(point=marks, strokeWidth=1.8)
        .encode(
            x=alt.X(
                "rounds:Q",
                title="rounds" + (" (log scale)" if log else ""),
                scale=scale,
                axis=alt.Axis(
                    format="~s", labelOverlap="greedy", labelSeparation=10, **(_DECADES if log else _FROM_ZERO)
                ),
            ),
            y=alt.Y(f"{value}:Q", title=title, scale=alt.Scale(zero=False)),
        )
        .properties(width=width, height=height)
    )
    return chart


# a label for each power of ten, because those of Vega's choice are close together and uneven
_DECADES: dict[str, Any] = {"values": [10**power for power in range(8)]}
_FROM_ZERO: dict[str, Any] = {"labelExpr": "datum.value ? datum.label : '0'"}  # and not 0k


def regret_chart() -> alt.Chart:
    """Running regret against the oracle of the family, on a logarithmic axis. Oracles themselves have none."""
    chart = _lines("regret", "running regret per round", log=True)
    return chart.transform_filter("datum.role != 'oracle' && isValid(datum.regret)")


def reward_chart() -> alt.Chart:
    """Cumulative reward."""
    return _lines("reward", "cumulative reward")


def held_out_chart() -> alt.VConcatChart:
    """Corpus and sentence BLEU over the held-out block, as they are and against the first pass."""
    rows = []
    for prefix, gain in (("", ""), ("relative_", "gain in ")):
        panels = [
            _lines(f"{prefix}{kind}_bleu", f"{gain}{kind} BLEU", marks=True, width=250, height=190)
            for kind in ("corpus", "sentence")
        ]
        rows.append(alt.hconcat(*panels))
    return alt.vconcat(*rows)


def page_charts() -> dict[str, alt.Chart]:
    """The same lines for the page, one chart each: as wide as there is room, in the colours that runs have there."""
    held_out = {
        f"{prefix}{kind}_bleu": _lines(f"{prefix}{kind}_bleu", f"{kind} BLEU{gain}", marks=True)
        for prefix, gain in (("", ""), ("relative_", ", gain"))
        for kind in ("corpus", "sentence")
    }
    charts = {
        "regret": regret_chart(),
        "reward": reward_chart(),
        "mean_reward": _lines("mean_reward", "reward per round so far", log=True),
        **held_out,
        "length_ratio": _lines("length_ratio", "tokens per reference token", marks=True),
    }
    return {name: _for_page(chart.properties(data=alt.NamedData("points"))) for name, chart in charts.items()}


def _for_page(chart: alt.Chart) -> alt.Chart:
    """No legend and no tooltips: the page's table is the legend, and it shows values under the pointer itself."""
    styles = alt.Scale(domain=list(DASHES), range=list(DASHES.values()))
    fitted: alt.Chart = chart.encode(
        color=alt.Color("color:N", scale=None),
        strokeDash=alt.StrokeDash("role:N", scale=styles, legend=None),
        detail="run:N",
        tooltip=alt.value(None),
    ).properties(width="container", height=240, autosize=alt.AutoSizeParams(type="fit", contains="padding"))
    return fitted


# for papers

Figure = alt.Chart | alt.VConcatChart
FIGURES: Mapping[str, tuple[Callable[[], Figure], Callable[[Board], list[Point]]]] = {
    "regret": (regret_chart, curve_points),
    "reward": (reward_chart, curve_points),
    "held-out": (held_out_chart, pass_points),
}


def figure(name: str, board: Board) -> Figure | None:
    """A figure with its data and one legend; None if there is nothing to draw.

    A system looks the same in all figures of a board, and its dashes tell what it is.
    """
    chart, points = FIGURES[name]
    data = [point for point in points(board) if name != "regret" or point["regret"] is not None]
    if not data:
        return None
    rows = drawn(board)
    names = labels(rows)
    systems = [names[row.run] for row in rows]
    scheme: Literal["tableau10", "tableau20"] = "tableau10" if len(systems) <= 10 else "tableau20"
    shown = {point["system"] for point in data if name != "regret" or point["role"] != RoleKind.ORACLE}
    legend = alt.Legend(
        title=None,
        values=[system for system in systems if system in shown],
        symbolType="stroke",
        symbolSize=500,
        symbolStrokeWidth=2,
        labelLimit=260,
    )
    colours = alt.Scale(domain=systems, scheme=scheme)
    dashes = alt.Scale(domain=systems, range=[DASHES[row.role] for row in rows])
    look = LineStyle(
        alt.Stroke("system:N", scale=colours, legend=legend),
        alt.StrokeDash("system:N", scale=dashes, legend=legend),
        alt.Color("system:N", scale=colours, legend=None),
    )
    composed = look.put_on(chart()).properties(data=alt.InlineData(values=data))
    drawing: Figure = composed.configure_view(stroke=None).configure_axis(**PAPER)
    return drawing


PAPER: dict[str, Any] = {"titleFontWeight": "normal", "titleFontSize": 12, "labelFontSize": 11, "gridColor": "#e6e6e6"}


class LineStyle(NamedTuple):
    """How lines are drawn, and the dots on them."""

    stroke: alt.Stroke
    dash: alt.StrokeDash
    dots: alt.Color

    def put_on(self, chart: Any) -> Any:
        """The same on every panel of a figure."""
        if isinstance(chart, alt.VConcatChart):
            return alt.vconcat(*map(self.put_on, chart.vconcat))
        if isinstance(chart, alt.HConcatChart):
            return alt.hconcat(*map(self.put_on, chart.hconcat))
        if not chart.mark.point:
            return chart.encode(stroke=self.stroke, strokeDash=self.dash)
        lines = chart.mark_line(strokeWidth=1.8).encode(stroke=self.stroke, strokeDash=self.dash)
        return alt.layer(lines, chart.mark_circle(size=30, opacity=1).encode(color=self.dots))


def save_figures(board: Board, folder: Path, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Draw every figure for which there are data, in every format; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in FIGURES:
        drawing = figure(name, board)
        if drawing is None:
            continue
        for kind in formats:
            path = folder / f"{board.phase}-{name}.{kind}"
            drawing.save(path, format=kind, scale_factor=PNG_SCALE if kind == "png" else 1.0)
            written.append(path)
    return written
