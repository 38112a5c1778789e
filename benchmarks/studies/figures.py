"""What a study draws: how much each system has won over the one that does not learn, and its held-out passes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import ComparisonSystems

POINTS = 200  # of a curve
SETTLED = 500  # rounds before which a mean is noise that would squeeze the rest of its curve
WIDTH, HEIGHT = 520, 300
FLOOR = ("copy-source", "word-for-word")

LEGEND = alt.Legend(labelLimit=260, symbolType="stroke", symbolOpacity=1, symbolSize=500, symbolStrokeWidth=2)

Point = dict[str, Any]


def gains(runs: Sequence[StudyRun], static: StudyRun) -> Iterator[Point]:
    """What each run has won per round so far, above the system that does not learn."""
    for run in runs:
        won = np.cumsum(run.rewards - static.rewards)
        for rounds in np.unique(np.linspace(min(SETTLED, len(won)), len(won), POINTS).astype(int)):
            yield {**_whose(run), "rounds": int(rounds), "gain": round(float(won[rounds - 1] / rounds), 5)}


def passes(runs: Sequence[StudyRun]) -> Iterator[Point]:
    """Corpus BLEU of every held-out pass of every run."""
    for run in runs:
        for number, held_out in enumerate(run.passes, start=1):
            yield {**_whose(run), "pass": number, "bleu": round(held_out.bleu, 3)}


def _whose(run: StudyRun) -> Point:
    return {"system": run.spec.system, "seed": run.spec.seed}


def save_figures(runs: Sequence[StudyRun], names: ComparisonSystems, folder: Path) -> list[Path]:
    """Draw both, one line per system: the mean of its seeds, and a band from the worst to the best of them.

    The oracle and the floor are left out: so far from the others, they would make one line of all of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    static = next(run for run in runs if run.spec.system == names.static)
    runs = [run for run in runs if run.spec.system not in (names.oracle, *FLOOR)]
    order = sorted({run.spec.system for run in runs})
    drawings = {
        "gain": _chart(list(gains(runs, static)), "rounds:Q", "gain", order).properties(
            title=f"mean reward so far, minus {static.spec.system}"
        ),
        "held-out": _chart(list(passes(runs)), "pass:O", "bleu", order).properties(
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
