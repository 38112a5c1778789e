"""A paired block bootstrap without numpy, over the rewards or the BLEU statistics of blocks of rounds.

Every run of a phase is divided into the same blocks, and every run is resampled with the same draws. So the difference
of two resampled means is a paired resample of their difference, and comparing many runs costs no more than resampling
each once. ``significance`` computes the same statistics from the rewards of single rounds.
"""

import math
import random
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul, truediv

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu

RESAMPLES = 1_000
CONFIDENCE = 0.95
MIN_BLOCKS = 10  # fewer make no reliable interval
MIN_MEASURED = 0.95  # share of the resamples that have anything to measure: fewer make no reliable interval

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean reward of the first run minus that of the second."""

    mean: float
    low: float  # of the confidence interval
    high: float
    p_value: float  # two-sided, for the hypothesis of no difference
    confidence: float
    blocks: int

    @property
    def significant(self) -> bool:
        """Return whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @classmethod
    def from_resamples(
        cls, observed: float, resampled: Sequence[float], *, confidence: float, blocks: int
    ) -> "Difference":
        """Return the observed difference of means with its interval and p-value, from resampled differences.

        Both come from the same distribution, so they agree: the p-value is the smallest level at which an interval
        would exclude zero.
        """
        # Resampling n blocks yields (n - 1) / n of their variance, which matters if blocks are few.
        correction = math.sqrt(blocks / (blocks - 1))
        means = [observed + correction * (mean - observed) for mean in resampled]
        low, high = percentile_interval(means, confidence)
        one_side = min(sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means))
        p_value = min(
            1.0, 2 * (1 + one_side) / (1 + len(means))
        )  # +1 because the data themselves count as one resample
        return cls(observed, low, high, p_value, confidence, blocks)


def percentile_interval(resampled: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the percentile interval that holds this share of the resampled values."""
    ordered = sorted(resampled)
    return _quantile(ordered, (1 - confidence) / 2), _quantile(ordered, (1 + confidence) / 2)


def interval_where_measured(resampled: Sequence[float | None], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the percentile interval of the resamples that have anything to measure.

    A resample has no R1, for example, if none of its words occurred before. That is rare where at least three blocks
    have such words. Where it is not rare, the interval would rest on one or two blocks, so there is none.
    """
    measured = [value for value in resampled if value is not None]
    return percentile_interval(measured, confidence) if len(measured) >= MIN_MEASURED * len(resampled) else None


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, interpolated linearly."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@dataclass(frozen=True, slots=True)
class BlockRewards:
    """The reward of a run in each block, in ticks or any other unit that adds up."""

    earned: tuple[int, ...]
    rounds: tuple[int, ...]  # in each block; only the last may have fewer

    @property
    def mean(self) -> float:
        return sum(self.earned) / sum(self.rounds)

    def prefix(self, blocks: int) -> "BlockRewards":
        """Return the first blocks of the run."""
        return BlockRewards(self.earned[:blocks], self.rounds[:blocks])

    def resampled(self) -> list[float]:
        """Return the mean of every resample; the n-th resample draws the same blocks in all runs of equal length."""
        return list(map(truediv, resampled_sums(self.earned), resampled_sizes(self.rounds)))


def resampled_sums(values: tuple[int, ...]) -> "array[int]":
    """Return the sum of the drawn values for every resample.

    All resamples are summed at once. The draws of a block are one large integer with 64 bits for each resample: how
    often the resample drew the block. Multiplying it by the block's value and adding up is then a loop in C. Where sums
    are small, 32 bits are enough, which takes half the time.
    """
    lane = "I" if len(values) * max(values, default=0) < 1 << 32 else "Q"
    packed = sum(map(mul, values, _draws(len(values), lane)))
    return array(lane, packed.to_bytes(array(lane).itemsize * RESAMPLES, sys.byteorder))


@lru_cache(maxsize=32)
def resampled_sizes(sizes: tuple[int, ...]) -> "array[int]":
    """Return the same for values that all runs of a phase share, such as the rounds or reference words of blocks."""
    return resampled_sums(sizes)


@lru_cache(maxsize=32)  # all runs of a family are compared with the same baseline
def resampled_bleu(blocks: tuple[BleuStatistics, ...]) -> tuple[float, ...]:
    """Return the corpus BLEU of every resample of blocks with these statistics."""
    all_matches, all_candidates, lengths = zip(*blocks, strict=True)
    matches = zip(*map(resampled_sums, zip(*all_matches, strict=True)), strict=True)
    candidates = zip(*map(resampled_sums, zip(*all_candidates, strict=True)), strict=True)
    return tuple(map(corpus_bleu, map(BleuStatistics, matches, candidates, resampled_sizes(lengths))))


@lru_cache(maxsize=32)
def _draws(blocks: int, lane: str) -> tuple[int, ...]:
    """Return the draws of each block as one integer.

    Args:
        blocks: The number of blocks.
        lane: The type code of ``array`` for the bits that each resample has in the integer.
    """
    return tuple(int.from_bytes(array(lane, counts).tobytes(), sys.byteorder) for counts in _draw_counts(blocks))


@lru_cache(maxsize=16)
def _draw_counts(blocks: int) -> "tuple[array[int], ...]":
    """Return how often each resample draws each block: as many draws as there are blocks, with replacement."""
    if blocks < 2:
        raise ValueError(f"resampling needs at least two blocks, but got {blocks}")
    rng = random.Random(blocks)
    counts = tuple(array("I", [0]) * RESAMPLES for _ in range(blocks))
    for resample in range(RESAMPLES):
        for block in rng.choices(range(blocks), k=blocks):
            counts[block][resample] += 1
    return counts
