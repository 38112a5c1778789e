"""The figures of a board as Vega-Lite charts.

The gain over the baseline shows whether learning helped, and by how much. Regret, cumulative reward and held-out BLEU
are those of Sokolov et al. 2017. A post-edit phase has the differences to a baseline of Simianer et al. 2019, Appendix
B, and the learning curves of Bertoldi et al. 2012.

No browser is needed to draw them. A chart says how to draw, and functions such as ``curve_points`` return the data. The
page uses the same charts and computes the data itself.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import altair as alt

from leaderboard.families import RoleKind
from leaderboard.figure_points import (
    DIFFERENCES,
    Point,
    curve_points,
    difference_points,
    drawn_rows,
    gain_points,
    labels,
    pass_points,
    ter_points,
)
from leaderboard.palette import LIGHT_REFERENCE, LIGHT_SERIES
from leaderboard.rows import Board, Row

Format = Literal["svg", "png", "pdf"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
PNG_SCALE = 2.0
WIDTH, HEIGHT = 520, 300  # of a chart with one panel
PANEL_WIDTH, PANEL_HEIGHT = 250, 190
PAGE_HEIGHT, FIRST_PAGE_HEIGHT = 240, 300  # of charts on the page
DASHES_BY_ROLE = {
    RoleKind.CONTESTANT.value: [1, 0],
    RoleKind.BASELINE.value: [2, 2],
    RoleKind.ORACLE.value: [7, 4],
    RoleKind.CONTROL.value: [1, 3],
    RoleKind.FULL_INFORMATION.value: [9, 3, 2, 3],
    RoleKind.K_BEST_ORACLE.value: [12, 4],
}
TER_TITLES = {"ter": "TER of a block", "incremental_ter": "TER of all blocks so far"}

PageChart = alt.Chart | alt.LayerChart | alt.FacetChart


def _lines(
    value: str, title: str, *, log: bool = False, marks: bool = False, width: int = WIDTH, height: int = HEIGHT
) -> alt.Chart:
    """Return a chart with one line per run; the caller adds data, colours and dashes."""
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


# A label for each power of ten: those that Vega chooses are crowded and uneven.
_DECADES: dict[str, Any] = {"values": [10**power for power in range(8)]}
_FROM_ZERO: dict[str, Any] = {"labelExpr": "datum.value ? datum.label : '0'"}  # instead of 0k


def gain_layers() -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """Return the gain over the baseline with bands of 95 % intervals, and a line at zero, which is the baseline."""
    title = "gain in reward per round"
    lines = _lines("gain", title).encode(y=alt.Y("gain:Q", title=title, scale=alt.Scale(zero=True)))
    bands = (
        alt.Chart()
        .mark_area(opacity=0.16)
        .encode(x=lines.encoding.x, y=alt.Y("gain_low:Q", title=title), y2="gain_high:Q")
        .transform_filter("isValid(datum.gain_low)")
        .properties(width=WIDTH, height=HEIGHT)
    )
    zero = alt.Chart().mark_rule(color=LIGHT_REFERENCE, strokeWidth=1).encode(y=alt.datum(0))
    return bands, lines, zero


def gain_chart() -> PageChart:
    """Return the gain over the baseline with a name at the end of every line."""
    names = (
        alt.Chart()
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(x="rounds:Q", y="label_at:Q", text="label:N")
        .transform_filter("isValid(datum.label)")
    )
    return alt.layer(*gain_layers(), names)


def regret_chart() -> alt.Chart:
    """Return running regret against the family's oracle on a logarithmic axis, without the oracles themselves."""
    chart = _lines("regret", "running regret per round", log=True)
    return chart.transform_filter("datum.role != 'oracle' && isValid(datum.regret)")


def reward_chart() -> alt.Chart:
    """Return cumulative reward."""
    return _lines("reward", "cumulative reward")


def held_out_chart() -> alt.VConcatChart:
    """Return corpus and sentence BLEU on the held-out block, absolute and relative to the first pass, with seeds."""

    def panel(kind: str, prefix: str, gain: str) -> PageChart:
        value = f"{prefix}{kind}_bleu"
        lines = _lines(value, f"{gain}{kind} BLEU", marks=True, width=PANEL_WIDTH, height=PANEL_HEIGHT)
        return _with_seeds(lines, value)

    rows = [[panel(kind, *row) for kind in ("corpus", "sentence")] for row in (("", ""), ("relative_", "gain in "))]
    return alt.vconcat(*(alt.hconcat(*panels) for panels in rows))


def _difference_lines(name: str, label: str, *, width: int = WIDTH, height: int = HEIGHT) -> alt.Chart:
    title = f"{label} above the baseline"
    chart: alt.Chart = (
        _lines(name, title, width=width, height=height)
        .transform_filter(f"isValid(datum.{name})")
        .encode(y=alt.Y(f"{name}:Q", title=title, scale=alt.Scale(zero=True)))  # the baseline is at zero
    )
    return chart


def difference_chart() -> alt.VConcatChart:
    """Return how far R0, R1, R0+1 and BLEU are above those of the baseline, over all rounds so far."""
    panels = [
        _difference_lines(name, label, width=PANEL_WIDTH, height=PANEL_HEIGHT) for name, label in DIFFERENCES.items()
    ]
    return alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:]))


def _ter_layers(name: str, title: str, *, width: int = WIDTH, height: int = HEIGHT) -> tuple[alt.Chart, alt.Chart]:
    """Return the lines of fitted curves, and the dots of blocks."""
    curve = f"{name}_curve"
    fitted = _lines(curve, title, width=width, height=height).transform_filter(f"isValid(datum.{curve})")
    return fitted, _lines(name, title, width=width, height=height).mark_circle(size=22, opacity=0.65)


def ter_chart() -> alt.HConcatChart:
    """Return TER of each block, and of all blocks so far, as dots with the fitted curves."""
    panels = [_ter_layers(name, title, width=PANEL_WIDTH, height=HEIGHT) for name, title in TER_TITLES.items()]
    return alt.hconcat(*(alt.layer(*panel) for panel in panels))


def page_charts() -> dict[str, PageChart]:
    """Return the charts of the page: as wide as their container, in the colours that runs have on the page."""
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
        **{f"difference_{name}": _difference_lines(f"difference_{name}", label) for name, label in DIFFERENCES.items()},
    }
    heights = {"gain": FIRST_PAGE_HEIGHT, **dict.fromkeys(TER_TITLES, PAGE_HEIGHT)}
    layered: dict[str, tuple[alt.Chart, ...]] = {
        "gain": gain_layers(),
        **{name: _ter_layers(name, title) for name, title in TER_TITLES.items()},
    }
    return {
        **{name: _for_page(_page_style(chart)) for name, chart in charts.items()},
        **{name: _for_page(alt.layer(*map(_page_style, layers)), heights[name]) for name, layers in layered.items()},
    }


def _page_style(chart: alt.Chart) -> alt.Chart:
    """Return the chart without legend and tooltips: the page's table is the legend, and its script shows values."""
    if chart.mark.type == "rule":
        return chart
    if chart.mark.type == "area":
        banded: alt.Chart = chart.encode(color=alt.Color("color:N", scale=None), detail="run:N")
        return banded
    styles = alt.Scale(domain=list(DASHES_BY_ROLE), range=list(DASHES_BY_ROLE.values()))
    styled: alt.Chart = chart.encode(
        color=alt.Color("color:N", scale=None),
        strokeDash=alt.StrokeDash("role:N", scale=styles, legend=None),
        detail="run:N",
        tooltip=alt.value(None),
    )
    return styled


def _for_page(chart: PageChart, height: int = PAGE_HEIGHT) -> PageChart:
    """Return the chart as wide as its container, for the data of the page."""
    fitted: PageChart = chart.properties(
        data=alt.NamedData("points"),
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit", contains="padding"),
    )
    return fitted


# Figures for papers


def _with_seeds(chart: alt.Chart, value: str) -> PageChart:
    """Return the chart with bands from the lowest to the highest seed, where a row has several."""
    title = chart.encoding.y.to_dict()["title"]
    band = (
        alt.Chart()
        .mark_area(opacity=0.16)
        .encode(
            x=chart.encoding.x,
            y=alt.Y(f"{value}_low:Q", title=title, scale=alt.Scale(zero=False)),
            y2=f"{value}_high:Q",
        )
        .transform_filter(f"isValid(datum.{value}_low) && isValid(datum.{value})")
        .properties(width=chart.width, height=chart.height)
    )
    return alt.layer(chart, band)


def regret_figure() -> PageChart:
    """Return running regret with the range of seeds."""
    return _with_seeds(regret_chart(), "regret")


def reward_figure() -> PageChart:
    """Return cumulative reward with the range of seeds."""
    return _with_seeds(reward_chart(), "reward")


LABEL_HEIGHT = 13  # pixels between the names at the ends of two lines


def labelled_gain_points(board: Board) -> list[Point]:
    """Return the gains, with the name of a run at its last point, far enough from all other names."""
    points = gain_points(board)
    lasts = {point["system"]: point for point in points}
    known = [value for point in points for value in (point["gain"], point["gain_low"], point["gain_high"]) if value]
    step = LABEL_HEIGHT * (max([0.0, *known]) - min([0.0, *known])) / HEIGHT
    lowest = -math.inf
    for last in sorted(lasts.values(), key=lambda point: point["gain"]):
        last["label"], last["label_at"] = last["system"], max(last["gain"], lowest)
        lowest = last["label_at"] + step
    return points


Figure = PageChart | alt.HConcatChart | alt.VConcatChart
FIGURES: Mapping[str, tuple[Callable[[], Figure], Callable[[Board], list[Point]]]] = {
    "gain": (gain_chart, labelled_gain_points),
    "regret": (regret_figure, curve_points),
    "reward": (reward_figure, curve_points),
    "held-out": (held_out_chart, pass_points),
    "difference": (difference_chart, difference_points),
    "ter": (ter_chart, ter_points),
}


def figure(name: str, board: Board) -> Figure | None:
    """Return a figure with its data and one legend, or None if there is nothing to draw.

    A system looks the same in all figures of a board; its dashes show its role.
    """
    chart, points = FIGURES[name]
    data = [point for point in points(board) if name != "regret" or point["regret"] is not None]
    if not data:
        return None
    rows = drawn_rows(board)
    names = labels(rows)
    systems = [names[row.run] for row in rows]
    shown = {point["system"] for point in data if name != "regret" or point["role"] != RoleKind.ORACLE}
    legend = None if name == "gain" else _legend([system for system in systems if system in shown])
    colours = alt.Scale(domain=systems, range=_colours(rows))
    dashes = alt.Scale(domain=systems, range=_dashes(rows))
    style = LineStyle(
        alt.Stroke("system:N", scale=colours, legend=legend),
        alt.StrokeDash("system:N", scale=dashes, legend=legend),
        alt.Color("system:N", scale=colours, legend=None),
    )
    composed = style.apply_to(chart()).properties(data=alt.InlineData(values=data))
    drawing: Figure = composed.configure_view(stroke=None).configure_axis(**AXIS_STYLE)
    return drawing


def _legend(systems: Sequence[str]) -> alt.Legend:
    symbols: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2}
    return alt.Legend(title=None, values=list(systems), labelLimit=260, **symbols)


def _colours(rows: Sequence[Row]) -> list[str]:
    """Return a colour for every contestant, and grey for all others."""
    free = iter(LIGHT_SERIES)
    return [next(free) if row.role is RoleKind.CONTESTANT else LIGHT_REFERENCE for row in rows]


def _dashes(rows: Sequence[Row]) -> list[list[int]]:
    """Return the dashes of each row: those of its role, and longer ones for each further row of a role that is grey."""
    seen: Counter[str] = Counter()
    dashes = []
    for row in rows:
        if row.role is not RoleKind.CONTESTANT:
            seen[row.role] += 1
        dashes.append([length * max(1, seen[row.role]) for length in DASHES_BY_ROLE[row.role]])
    return dashes


AXIS_STYLE: dict[str, Any] = {
    "titleFontWeight": "normal",
    "titleFontSize": 12,
    "labelFontSize": 11,
    "gridColor": "#e6e6e6",
}


class LineStyle(NamedTuple):
    """The style of the lines, and of the points on them."""

    stroke: alt.Stroke
    dash: alt.StrokeDash
    points: alt.Color

    def apply_to(self, chart: Any) -> Any:
        """Return the chart with this style on every panel."""
        if isinstance(chart, alt.VConcatChart):
            return alt.vconcat(*map(self.apply_to, chart.vconcat))
        if isinstance(chart, alt.HConcatChart):
            return alt.hconcat(*map(self.apply_to, chart.hconcat))
        if isinstance(chart, alt.LayerChart):
            return alt.layer(*map(self.apply_to, chart.layer)).properties(width=chart.width, height=chart.height)
        if chart.mark.type == "rule":
            return chart
        if chart.mark.type in ("circle", "area", "text"):
            return chart.encode(color=self.points)
        if not chart.mark.point:
            return chart.encode(stroke=self.stroke, strokeDash=self.dash)
        lines = chart.mark_line(strokeWidth=1.8).encode(stroke=self.stroke, strokeDash=self.dash)
        return alt.layer(lines, chart.mark_circle(size=30, opacity=1).encode(color=self.points))


def save_figures(board: Board, folder: Path, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Draw every figure that has data in every format; return the files."""
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
