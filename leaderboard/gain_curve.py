"""How the gain of a run over its baseline developed: a curve with a confidence band, for charts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.metrics.bootstrap import MIN_BLOCKS, BlockRewards
from leaderboard.metrics.online import coarse_ends
from leaderboard.metrics.student_t import t_quantile
from leaderboard.seeds import half_width_over_seeds
from leaderboard.summaries import Summary
from task.rounds import TICKS

DECIMALS = 5


@dataclass(frozen=True, slots=True)
class GainCurve:
    """Mean reward minus that of the baseline, over all rounds so far."""

    rounds: list[int]
    values: list[float]
    half_widths: list[float | None]  # of the 95 % interval; None below ten blocks


def gain_curve(
    run: Summary,
    baseline: Summary,
    total: int,
    run_seeds: Sequence[Summary] = (),
    baseline_seeds: Sequence[Summary] = (),
) -> GainCurve:
    """Return the curve in a phase of ``total`` rounds, at the ends of coarse blocks and of the phase.

    The band covers chance in sentences by the variance between blocks, which is as good as resampling them and quick
    enough for every point, and chance in seeds where there are several.
    """
    shared = min(run.rounds, baseline.rounds)
    rounds = list(coarse_ends(shared, run.record.stride))
    if shared == total and total not in rounds:
        rounds.append(total)
    values = [(run.curve[k] - baseline.curve[k]) / TICKS / k for k in rounds]
    ours, theirs = (each.blocks(total) for each in (run, baseline))
    by_sentences = _half_widths(ours, theirs)
    halves = []
    for k in rounds:
        sentences = by_sentences[min(math.ceil(k / run.record.stride), len(by_sentences)) - 1]
        seeds = half_width_over_seeds(*(_means_at(k, each) for each in (run_seeds, baseline_seeds)))
        halves.append(None if sentences is None else round(math.hypot(sentences, seeds or 0.0), DECIMALS))
    return GainCurve(rounds, [round(value, DECIMALS) for value in values], halves)


def _means_at(rounds: int, seeds: Sequence[Summary]) -> list[float]:
    """Return the mean reward of every seed after so many rounds."""
    return [seed.curve[rounds] / TICKS / rounds for seed in seeds]


def _half_widths(ours: BlockRewards, theirs: BlockRewards) -> list[float | None]:
    """Return half the interval of the mean difference after 1, 2, ... blocks."""
    halves: list[float | None] = []
    mean = squares = 0.0
    for count, (a, b, size) in enumerate(zip(ours.earned, theirs.earned, ours.rounds, strict=False), start=1):
        difference = (a - b) / TICKS / size
        step = difference - mean
        mean += step / count
        squares += step * (difference - mean)
        enough = count >= MIN_BLOCKS
        halves.append(t_quantile(count - 1) * math.sqrt(squares / (count - 1) / count) if enough else None)
    return halves
