"""The figures of the task paper as Vega-Lite charts: regret, cumulative reward, held-out BLEU; drawn without a browser.

A chart says how to draw; ``curve_points`` and ``pass_points`` say what. Charts take their data by name or inline, so
that the same charts serve files and the page, which makes its own points.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from leaderboard.families import RoleKind
from leaderboard.table import Board, Row

FORMATS = ("svg", "png", "pdf")
MOST_RUNS = 20  # in one figure: more lines, and their colours, cannot be told apart
PNG_SCALE = 2.0
DASHES = [[1, 0], [2, 2], [7, 4]]  # of contestants, baselines and oracles

Point = dict[str, Any]
Data = Sequence[Point] | alt.NamedData


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
    return [*pinned, *others[: max(0, MOST_RUNS - len(pinned))]]


def curve_points(board: Board) -> list[Point]:
    """Cumulative reward and running regret of every run that is drawn, at every checkpoint."""
    rows, curves = drawn(board), {row.run: row.curve for row in board.rows}
    names, points = labels(rows), []
    for row in rows:
        oracle = curves[row.regret.oracle] if row.regret else []
        for place, (rounds, reward) in enumerate(zip(board.checkpoints, row.curve, strict=False)):
            regret = (oracle[place] - reward) / rounds if place < len(oracle) else None
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


def _source(data: Data) -> alt.NamedData | alt.InlineData:
    return data if isinstance(data, alt.NamedData) else alt.InlineData(values=list(data))


def _lines(
    value: str, title: str, *, log: bool = False, marks: bool = False, width: int = 520, height: int = 300
) -> alt.Chart:
    """One line per run; the data are said by who composes the figure."""
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False)
    shown = ["system", "role", "rounds", value]
    chart: alt.Chart = (
        alt.Chart()
        .mark_line(point=marks, strokeWidth=1.8, clip=True)
        .encode(
            x=alt.X(
                "rounds:Q",
                title="rounds" + (" (log scale)" if log else ""),
                scale=scale,
                axis=alt.Axis(labelOverlap="greedy", labelSeparation=10),
            ),
            y=alt.Y(f"{value}:Q", title=title, scale=alt.Scale(zero=False)),
            color=alt.Color("system:N", title="system", sort=None, scale=alt.Scale(scheme="tableau20")),
            strokeDash=alt.StrokeDash(
                "role:N",
                title="role",
                legend=alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeColor="gray"),
                scale=alt.Scale(domain=[kind.value for kind in RoleKind], range=DASHES),
            ),
            tooltip=[alt.Tooltip(f"{name}:{'N' if name in ('system', 'role') else 'Q'}") for name in shown],
        )
        .properties(width=width, height=height)
    )
    return chart


def regret_chart(data: Data) -> alt.Chart:
    """Running regret against the oracle of the family, on a logarithmic axis. Oracles themselves have none."""
    chart = _lines("regret", "running regret per round", log=True).properties(data=_source(data))
    return chart.transform_filter("datum.role != 'oracle' && isValid(datum.regret)")


def reward_chart(data: Data) -> alt.Chart:
    """Cumulative reward."""
    return _lines("reward", "cumulative reward").properties(data=_source(data))


def held_out_chart(data: Data) -> alt.VConcatChart:
    """Corpus and sentence BLEU over the held-out block, as they are and against the first pass."""
    rows = []
    for prefix, gain in (("", ""), ("relative_", ", gain on the first pass")):
        panels = [
            _lines(f"{prefix}{kind}_bleu", f"{kind} BLEU{gain}", marks=True, width=250, height=190)
            for kind in ("corpus", "sentence")
        ]
        rows.append(alt.hconcat(*panels))
    return alt.vconcat(*rows, data=_source(data))


def page_charts() -> dict[str, alt.Chart]:
    """The same lines for the page, one chart each: as wide as there is room, in the colours that runs have there."""
    points = alt.NamedData("points")
    held_out = {
        f"{prefix}{kind}_bleu": _lines(f"{prefix}{kind}_bleu", f"{kind} BLEU{gain}", marks=True)
        for prefix, gain in (("", ""), ("relative_", ", gain"))
        for kind in ("corpus", "sentence")
    }
    charts = {
        "regret": regret_chart(points),
        "reward": reward_chart(points),
        "mean_reward": _lines("mean_reward", "reward per round so far", log=True),
        **held_out,
        "length_ratio": _lines("length_ratio", "tokens per reference token", marks=True),
    }
    return {name: _for_page(chart.properties(data=points)) for name, chart in charts.items()}


def _for_page(chart: alt.Chart) -> alt.Chart:
    """No legend and no tooltips: the page's table is the legend, and it shows values under the pointer itself."""
    styles = alt.Scale(domain=[kind.value for kind in RoleKind], range=DASHES)
    fitted: alt.Chart = chart.encode(
        color=alt.Color("color:N", scale=None),
        strokeDash=alt.StrokeDash("role:N", scale=styles, legend=None),
        detail="run:N",
        tooltip=alt.value(None),
    ).properties(width="container", height=240, autosize=alt.AutoSizeParams(type="fit", contains="padding"))
    return fitted


FIGURES: Mapping[str, tuple[Callable[[Data], Any], Callable[[Board], list[Point]]]] = {
    "regret": (regret_chart, curve_points),
    "reward": (reward_chart, curve_points),
    "held-out": (held_out_chart, pass_points),
}


def save_figures(board: Board, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw every figure for which there are data, in every format; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (chart, points) in FIGURES.items():
        data = points(board)
        if name == "regret":
            data = [point for point in data if point["regret"] is not None]
        if not data:
            continue
        drawing = chart(data).configure_legend(labelLimit=260).configure_view(stroke=None)
        for kind in formats:
            path = folder / f"{board.phase}-{name}.{kind}"
            drawing.save(path, format=kind, scale_factor=PNG_SCALE if kind == "png" else 1.0)
            written.append(path)
    return written
