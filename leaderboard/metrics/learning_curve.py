"""The percentage slope: one number that says whether a system learns, stands still or forgets (Bertoldi et al. 2012).

A learning curve is a power law, ``error = a x^b``, where x counts blocks of text. Each time the number of blocks
doubles, the error becomes ``S = 100 * 2^b`` percent of what it was: 100 is no learning, less is learning, more is
forgetting. The unit model fits the error of each block alone, the cumulative-average model the error over all blocks up
to it.

Errors are TER, ``100 - BLEU``, or ``1 - reward``: scores for which less is better.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from statistics import stdev

from leaderboard.metrics.bootstrap import CONFIDENCE, MIN_BLOCKS, RESAMPLES, Interval, percentile_interval


class CurveModel(StrEnum):
    """What the curve is fitted to."""

    UNIT = "unit"  # the error of each block
    CUMULATIVE = "cumulative"  # the error over all blocks so far


class ErrorRate(StrEnum):
    """The error whose curve is fitted."""

    TER = "ter"  # edits per reference word
    SENTENCE_BLEU = "sentence-bleu"  # how far the mean of sentence BLEU is below 1


class LearningCurveError(ValueError):
    """Scores that no curve can be fitted to."""


@dataclass(frozen=True, slots=True)
class Block:
    """What a system did in a block of text: errors out of so many; what they count adds up over blocks."""

    errors: float  # edits, lost reward, or points below a perfect score times sentences
    size: float  # reference words, or sentences

    @property
    def rate(self) -> float:
        return self.errors / self.size


@dataclass(frozen=True, slots=True)
class Slope:
    """A power law fitted to a learning curve."""

    exponent: float  # b
    first: float  # a: the fitted error of the first block
    blocks: int  # that were fitted
    left_out: int  # blocks without an error: their logarithm is minus infinity
    standard_error: float | None = None  # of the percentage slope
    interval: Interval | None = None  # of the percentage slope; None where there are too few blocks

    @property
    def percentage(self) -> float:
        """S: the percentage of errors that is left each time the number of blocks doubles."""
        return 100 * math.pow(2, self.exponent)

    def fitted(self, block: int) -> float:
        """Return the error of a block, counted from 1, on the fitted curve."""
        return self.first * math.pow(block, self.exponent)


def percentage_slope(scores: Sequence[float]) -> Slope:
    """Fit a learning curve to the errors of blocks 1, 2, and so on.

    Blocks without an error are left out, and counted.

    Raises:
        LearningCurveError: A score is negative or not finite, or fewer than two are above zero.
    """
    for place, score in enumerate(scores, start=1):
        if not math.isfinite(score) or score < 0:
            raise LearningCurveError(f"the error of block {place} is {score}: errors are numbers from 0 on")
    points = [(math.log(place), math.log(score)) for place, score in enumerate(scores, start=1) if score > 0]
    if len(points) < 2:
        raise LearningCurveError(
            f"a learning curve needs at least 2 blocks with errors, but got {len(points)} (of {len(scores)} blocks)"
        )
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    covariance = math.fsum((x - mean_x) * (y - mean_y) for x, y in points)
    exponent = covariance / math.fsum((x - mean_x) ** 2 for x, _ in points)
    return Slope(exponent, math.exp(mean_y - exponent * mean_x), len(points), len(scores) - len(points))


def series(blocks: Sequence[Block], model: CurveModel) -> list[float]:
    """Return the errors that a model is fitted to: of each block, or pooled over the blocks up to it."""
    if model is CurveModel.UNIT:
        return [block.rate for block in blocks]
    errors = accumulate(block.errors for block in blocks)
    sizes = accumulate(block.size for block in blocks)
    return [error / size for error, size in zip(errors, sizes, strict=True)]


def fit_blocks(blocks: Sequence[Block], model: CurveModel, *, resamples: int = RESAMPLES, seed: int = 0) -> Slope:
    """Fit a learning curve to blocks, with the standard error and the interval of its percentage slope.

    The interval is from a bootstrap of residuals: what the unit model leaves unexplained in each block is drawn again,
    in runs of neighbouring blocks because neighbours are alike, and the curve is fitted again.

    Raises:
        LearningCurveError: As ``percentage_slope``, or a block has no size.
    """
    if any(not block.size > 0 for block in blocks):
        raise LearningCurveError("a block without words or sentences has no error rate")
    slope = percentage_slope(series(blocks, model))
    if slope.blocks < MIN_BLOCKS or not all(block.errors for block in blocks):
        return slope
    drawn = resampled_slopes(blocks, model, resamples=resamples, seed=seed)
    return replace(slope, standard_error=stdev(drawn), interval=percentile_interval(drawn, CONFIDENCE))


def resampled_slopes(
    blocks: Sequence[Block], model: CurveModel, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[float]:
    """Return the percentage slopes of curves with residuals that are drawn again.

    The n-th slope of one system is drawn like the n-th of any other with as many blocks, so differences are paired.
    """
    unit = percentage_slope(series(blocks, CurveModel.UNIT))
    count = len(blocks)
    expected = [unit.fitted(place) for place in range(1, count + 1)]
    # Two parameters were fitted, so residuals are smaller than the noise that they stand for.
    wider = math.sqrt(count / (count - 2))
    residuals = [wider * math.log(block.rate / fitted) for block, fitted in zip(blocks, expected, strict=True)]
    run = max(1, round(math.cbrt(count)))  # neighbouring residuals that are drawn together
    fitted_blocks = [Block(error * block.size, block.size) for error, block in zip(expected, blocks, strict=True)]
    # A curve that is no power law has another slope than what was fitted to it: draws are centred on the observed one.
    observed = percentage_slope(series(blocks, model)).percentage
    shift = observed - percentage_slope(series(fitted_blocks, model)).percentage
    rng = random.Random(seed)
    slopes = []
    for _ in range(resamples):
        starts = rng.choices(range(count), k=math.ceil(count / run))
        drawn = [residuals[(start + offset) % count] for start in starts for offset in range(run)]
        noisy = [
            Block(block.errors * math.exp(residual), block.size)
            for block, residual in zip(fitted_blocks, drawn, strict=False)
        ]
        slopes.append(shift + percentage_slope(series(noisy, model)).percentage)
    return slopes
