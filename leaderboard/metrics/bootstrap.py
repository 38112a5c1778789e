"""A block bootstrap without numpy: what a run earned in each block of rounds, resampled for all runs alike.

Every run of a phase is cut into the same blocks, and every run is resampled with the same draws. So the difference of
two resampled means is a paired resample of their difference, and comparing many runs costs no more than resampling
each once. ``significance`` offers the same statistics over the rewards of single rounds.
"""

import math
import random
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul, truediv

RESAMPLES = 1_000
CONFIDENCE = 0.95
MIN_BLOCKS = 10  # an interval from fewer would be a guess

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean reward of the first run minus that of the second."""

    mean: float
    low: float  # of the interval
    high: float
    p_value: float  # two-sided, for the hypothesis of no difference
    confidence: float
    blocks: int

    @property
    def significant(self) -> bool:
        """Does the interval leave out zero?"""
        return self.low > 0 or self.high < 0

    @classmethod
    def from_resamples(
        cls, observed: float, resampled: Sequence[float], *, confidence: float, blocks: int
    ) -> "Difference":
        """What resampled differences of means tell about the observed one.

        Interval and p-value come from the same distribution, so that they agree: the p-value is the smallest level at
        which an interval would leave out zero.
        """
        # Resampling n blocks shows (n - 1) / n of their variance, which matters where blocks are few.
        wider = math.sqrt(blocks / (blocks - 1))
        means = [observed + wider * (mean - observed) for mean in resampled]
        low, high = interval(means, confidence)
        one_side = min(sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means))
        p_value = min(1.0, 2 * (1 + one_side) / (1 + len(means)))  # +1 because the data are one draw too
        return cls(observed, low, high, p_value, confidence, blocks)


def interval(resampled: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The middle of the resampled values that holds this share of them."""
    ordered = sorted(resampled)
    return _quantile(ordered, (1 - confidence) / 2), _quantile(ordered, (1 + confidence) / 2)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between two values it is interpolated linearly."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@dataclass(frozen=True, slots=True)
class BlockRewards:
    """What a run earned in each block, in ticks or any other unit that adds up."""

    earned: tuple[int, ...]
    rounds: tuple[int, ...]  # in each block: all alike, but for the last

    @property
    def mean(self) -> float:
        return sum(self.earned) / sum(self.rounds)

    def prefix(self, blocks: int) -> "BlockRewards":
        """The first blocks of the run."""
        return BlockRewards(self.earned[:blocks], self.rounds[:blocks])

    def resampled(self) -> list[float]:
        """The mean of every resample; the n-th of one run is drawn like the n-th of any other with as many blocks."""
        return list(map(truediv, _resampled_sums(self.earned), _resampled_rounds(self.rounds)))


def _resampled_sums(values: tuple[int, ...]) -> "array[int]":
    """For every resample the sum of the values that it drew.

    All resamples are summed at once: a draw is one large whole number with 64 bits for each resample, which hold how
    often this resample drew that block. Multiplying it by what the block earned and adding up is then a loop in C.
    """
    packed = sum(map(mul, values, _draws(len(values))))
    return array("Q", packed.to_bytes(8 * RESAMPLES, sys.byteorder))


@lru_cache(maxsize=32)
def _resampled_rounds(rounds: tuple[int, ...]) -> "array[int]":
    return _resampled_sums(rounds)


@lru_cache(maxsize=32)
def _draws(blocks: int) -> tuple[int, ...]:
    """How often each block is drawn in every resample: as many blocks as there are, with replacement."""
    if blocks < 2:
        raise ValueError(f"resampling needs at least two blocks, but got {blocks}")
    rng = random.Random(blocks)
    counts = [array("Q", bytes(8 * RESAMPLES)) for _ in range(blocks)]
    for resample in range(RESAMPLES):
        for block in rng.choices(range(blocks), k=blocks):
            counts[block][resample] += 1
    return tuple(int.from_bytes(count.tobytes(), sys.byteorder) for count in counts)
