"""The percentage slope: one number that says whether a system learns, stands still or forgets (Bertoldi et al. 2012).

A learning curve is a power law, ``error = a x^b``, where x counts blocks of text. Each time the number of blocks
doubles, the error becomes ``S = 100 * 2^b`` percent of what it was: 100 is no learning, less is learning, more is
forgetting. The unit model fits the error of each block alone, the cumulative-average model the error over all blocks up
to it.

Errors are TER, ``100 - BLEU``, or ``1 - reward``: scores for which lower is better.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, chain
from operator import getitem, mul

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
    """The errors of a system in a block of text, and the size of the block. Both add up over blocks."""

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
        return _percentage(self.exponent)

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
            raise LearningCurveError(f"the error of block {place} is {score}: errors must be 0 or more")
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
    return replace(slope, standard_error=_deviation(drawn), interval=percentile_interval(drawn, CONFIDENCE))


def resampled_slopes(
    blocks: Sequence[Block], model: CurveModel, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[float]:
    """Return the percentage slopes of curves with residuals that are drawn again.

    The n-th slope of one system is drawn like the n-th of any other with as many blocks, so differences are paired.
    """
    unit = percentage_slope(series(blocks, CurveModel.UNIT))
    count = len(blocks)
    expected = [unit.fitted(place) for place in range(1, count + 1)]
    width = max(1, round(math.cbrt(count)))  # neighbouring residuals that are drawn together
    wider = _residual_scale(count, width)
    residuals = [wider * math.log(block.rate / fitted) for block, fitted in zip(blocks, expected, strict=True)]
    starts, weights = _draws(count, math.ceil(count / width), resamples, seed), _weights(count)
    if model is CurveModel.UNIT:  # logarithms of errors: the exponent is linear in them
        changes = [list(map(sum, pieces)) for pieces in _pieces(weights, residuals, width)]
        return [_percentage(unit.exponent + sum(map(getitem, changes, each))) for each in starts]
    fitted_errors = [error * block.size for error, block in zip(expected, blocks, strict=True)]
    sizes = list(accumulate(block.size for block in blocks))
    noise = [math.exp(residual) for residual in residuals]
    # The sizes of blocks are the same in all draws: what they take from the exponent is computed once.
    of_sizes = sum(map(mul, weights, map(math.log, sizes)))

    def cumulative_slope(errors: Iterable[float]) -> float:
        return _percentage(sum(map(mul, weights, map(math.log, accumulate(errors)))) - of_sizes)

    # A curve that is no power law has another slope than what was fitted to it: draws are centred on the observed one.
    shift = percentage_slope(series(blocks, model)).percentage - cumulative_slope(fitted_errors)
    pieces = list(_pieces(fitted_errors, noise, width))
    return [shift + cumulative_slope(chain.from_iterable(map(getitem, pieces, each))) for each in starts]


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample, ten times as fast as ``statistics.stdev``."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _percentage(exponent: float) -> float:
    return 100 * math.pow(2, exponent)


@lru_cache(maxsize=8)
def _draws(count: int, pieces: int, resamples: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return for every resample the blocks at which its pieces of neighbouring residuals begin."""
    rng = random.Random(seed)
    return tuple(tuple(rng.choices(range(count), k=pieces)) for _ in range(resamples))


def _pieces(factors: Sequence[float], values: Sequence[float], width: int) -> Iterator[list[list[float]]]:
    """Yield what can be drawn for each piece of a resample: by start, so many neighbouring values times their factors.

    The first value follows the last. The last piece of a resample may be shorter.
    """
    around = [*values, *values[:width]]
    for place in range(0, len(values), width):
        mine = factors[place : place + width]
        yield [list(map(mul, mine, around[start : start + width])) for start in range(len(values))]


@lru_cache(maxsize=8)
def _weights(count: int) -> tuple[float, ...]:
    """Return what the logarithm of each block's error adds to the exponent of the curve."""
    places = [math.log(place) for place in range(1, count + 1)]
    mean = math.fsum(places) / count
    spread = math.fsum((place - mean) ** 2 for place in places)
    return tuple((place - mean) / spread for place in places)


@lru_cache(maxsize=8)
def _residual_scale(count: int, width: int) -> float:
    """Return the factor by which residuals are smaller than the noise that they stand for.

    Two parameters were fitted. So residuals are smaller than noise, and neighbours among them are less alike. With this
    factor, the resampled exponents of the unit model have the right variance on average if noise is independent. It is
    sqrt(n / (n - 2)) where n residuals are drawn one by one, and more where neighbours are drawn together.
    """
    weights = _weights(count)
    variance = math.fsum(weight * weight for weight in weights)  # of the exponent, for noise of variance 1
    around = [*weights, *weights[:width]]
    lost = 0.0
    for place in range(0, count, width):
        mine = weights[place : place + width]
        products = (sum(map(mul, mine, around[start : start + width])) for start in range(count))
        lost += sum(mine) ** 2 + math.fsum(product * product for product in products) / variance
    return math.sqrt(variance / (variance - lost / count))


def slope_signature(error: str, model: CurveModel, block: str) -> str:
    """Return what a percentage slope means, in the manner of sacreBLEU.

    Args:
        error: The error whose curve is fitted.
        model: What the curve is fitted to.
        block: The size of a block with its unit, such as ``1000w`` for words.
    """
    return f"S|error:{error}|model:{model}|block:{block}|fit:log-log|v:1"
