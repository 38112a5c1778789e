"""The figures of a study: the gain of each system over the static one, and its held-out passes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import ComparisonSystems

CURVE_POINTS = 200
FIRST_ROUND = 500  # of a curve: means of fewer rounds are so noisy that they would squeeze the rest
WIDTH, HEIGHT = 520, 300
FLOOR_SYSTEMS = ("copy-source", "word-for-word")

LEGEND = alt.Legend(labelLimit=260, symbolType="stroke", symbolOpacity=1, symbolSize=500, symbolStrokeWidth=2)

Point = dict[str, Any]


def gain_points(runs: Sequence[StudyRun], static: StudyRun) -> Iterator[Point]:
    """Yield the mean reward per round so far of each run, minus that of the static system."""
    for run in runs:
        gain = np.cumsum(run.rewards - static.rewards)
        for rounds in np.unique(np.linspace(min(FIRST_ROUND, len(gain)), len(gain), CURVE_POINTS).astype(int)):
            yield {**_labels(run), "rounds": int(rounds), "gain": round(float(gain[rounds - 1] / rounds), 5)}


def pass_points(runs: Sequence[StudyRun]) -> Iterator[Point]:
    """Yield the corpus BLEU of every held-out pass of every run."""
    for run in runs:
        for number, held_out in enumerate(run.passes, start=1):
            yield {**_labels(run), "pass": number, "bleu": round(held_out.bleu, 3)}


def _labels(run: StudyRun) -> Point:
    return {"system": run.spec.system, "seed": run.spec.seed}


def save_figures(runs: Sequence[StudyRun], comparison: ComparisonSystems, folder: Path) -> list[Path]:
    """Save both figures as SVG: a line per system for the mean of its seeds, and a band from the worst to the best.

    The oracle and the floor are left out: they are so far away that all other lines would become one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    static = next(run for run in runs if run.spec.system == comparison.static)
    runs = [run for run in runs if run.spec.system not in (comparison.oracle, *FLOOR_SYSTEMS)]
    order = sorted({run.spec.system for run in runs})
    drawings = {
        "gain": _chart(list(gain_points(runs, static)), "rounds:Q", "gain", order).properties(
            title=f"mean reward so far, minus {static.spec.system}"
        ),
        "held-out": _chart(list(pass_points(runs)), "pass:O", "bleu", order).properties(
            title="corpus BLEU of the held-out passes"
        ),
    }
    paths = []
    for name, drawing in drawings.items():
        paths.append(folder / f"{name}.svg")
        drawing.save(paths[-1], format="svg")
    return paths


def _chart(points: list[Point], x: str, y: str, order: list[str]) -> Any:
    colours = alt.Scale(domain=order, scheme="tableau20")
    base = alt.Chart(alt.InlineData(values=points), width=WIDTH, height=HEIGHT).encode(
        x=alt.X(x, axis=alt.Axis(labelAngle=0)), color=alt.Color("system:N", title=None, scale=colours, legend=LEGEND)
    )
    mean = alt.Y(f"mean({y}):Q", title=None, scale=alt.Scale(zero=False))
    band = base.mark_area(opacity=0.15).encode(y=alt.Y(f"min({y}):Q", title=None), y2=f"max({y}):Q")
    return alt.layer(band, base.mark_line(strokeWidth=1.8).encode(y=mean))
