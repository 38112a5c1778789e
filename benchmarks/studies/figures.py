"""The figures of a study: the gain of each system over the static one and over its control, and its held-out passes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from benchmarks.studies.comparison import Comparison
from benchmarks.studies.study_run import StudyRun
from leaderboard.metrics.significance import paired_block_bootstrap

CURVE_POINTS = 200
INTERVAL_POINTS = 40  # each takes a bootstrap
FIRST_ROUND = 500  # of a curve: means of fewer rounds are so noisy that they would squeeze the rest
WIDTH, HEIGHT = 520, 300
FLOOR_SYSTEMS = ("copy-source", "word-for-word")

LEGEND = alt.Legend(labelLimit=260, symbolType="stroke", symbolOpacity=1, symbolSize=500, symbolStrokeWidth=2)

Point = dict[str, Any]


def gain_points(runs: Sequence[StudyRun], static: StudyRun) -> Iterator[Point]:
    """Yield the mean reward per round so far of each run, minus that of the static system."""
    for run in runs:
        gain = np.cumsum(run.rewards - static.rewards)
        for rounds in _curve_rounds(len(gain), CURVE_POINTS):
            yield {**_labels(run), "rounds": rounds, "gain": round(float(gain[rounds - 1] / rounds), 5)}


def control_points(comparison: Comparison) -> Iterator[Point]:
    """Yield the mean reward per round so far of each learner, minus that of its control, with intervals.

    Each seed is paired with the same seed of the control, and the differences are averaged over seeds.
    """
    for system in dict.fromkeys(run.spec.system for run in comparison.runs):
        pairs = [(run, comparison.control(run)) for run in comparison.of_system(system)]
        differences = [run.rewards - control.rewards for run, control in pairs if control]
        if not differences:
            continue
        gain = np.mean(differences, axis=0)
        for rounds in _curve_rounds(len(gain), INTERVAL_POINTS):
            so_far = paired_block_bootstrap(gain[:rounds], np.zeros(rounds))
            values = {"gain": so_far.mean, "low": so_far.low, "high": so_far.high}
            yield {"system": system, "rounds": rounds} | {name: round(value, 5) for name, value in values.items()}


def pass_points(runs: Sequence[StudyRun]) -> Iterator[Point]:
    """Yield the corpus BLEU of every held-out pass of every run."""
    for run in runs:
        for number, held_out in enumerate(run.passes, start=1):
            yield {**_labels(run), "pass": number, "bleu": round(held_out.bleu, 3)}


def _curve_rounds(total: int, points: int) -> list[int]:
    return [int(rounds) for rounds in np.unique(np.linspace(min(FIRST_ROUND, total), total, points).astype(int))]


def _labels(run: StudyRun) -> Point:
    return {"system": run.spec.system, "seed": run.spec.seed}


def save_figures(comparison: Comparison, folder: Path) -> list[Path]:
    """Save the figures as SVG, with a line per system for the mean of its seeds.

    Bands are from the worst to the best seed; in the figure of gains over controls, they are 95 % intervals. The
    oracles and the floor are left out: they are so far away that all other lines would become one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    family, static = comparison.family, comparison.static
    far_away = (family.oracle, family.k_best_oracle, *FLOOR_SYSTEMS)
    runs = [run for run in comparison.runs if run.spec.system not in far_away]
    gains, over_control, passes = list(gain_points(runs, static)), list(control_points(comparison)), pass_points(runs)
    drawings = {
        "gain": _seeds_chart(gains, "rounds:Q", "gain", f"mean reward so far, minus {static.spec.system}"),
        "held-out": _seeds_chart(list(passes), "pass:O", "bleu", "corpus BLEU of the held-out passes"),
    }
    if over_control:
        drawings["gain-over-control"] = _interval_chart(over_control, "mean reward so far, minus its control (95 %)")
    paths = []
    for name, drawing in drawings.items():
        paths.append(folder / f"{name}.svg")
        drawing.save(paths[-1], format="svg")
    return paths


def _seeds_chart(points: list[Point], x: str, y: str, title: str) -> Any:
    base = _base_chart(points, x, title)
    mean = alt.Y(f"mean({y}):Q", title=None, scale=alt.Scale(zero=False))
    band = base.mark_area(opacity=0.15).encode(y=alt.Y(f"min({y}):Q", title=None), y2=f"max({y}):Q")
    return alt.layer(band, base.mark_line(strokeWidth=1.8).encode(y=mean))


def _interval_chart(points: list[Point], title: str) -> Any:
    base = _base_chart(points, "rounds:Q", title)
    line = base.mark_line(strokeWidth=1.8).encode(y=alt.Y("gain:Q", title=None))
    return alt.layer(base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=None), y2="high:Q"), line)


def _base_chart(points: list[Point], x: str, title: str) -> Any:
    colours = alt.Scale(domain=sorted({point["system"] for point in points}), scheme="tableau20")
    return alt.Chart(alt.InlineData(values=points), width=WIDTH, height=HEIGHT, title=title).encode(
        x=alt.X(x, axis=alt.Axis(labelAngle=0)), color=alt.Color("system:N", title=None, scale=colours, legend=LEGEND)
    )
