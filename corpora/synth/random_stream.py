"""Random numbers that are the same on every machine and Python version.

``random.Random.random()`` is the only method of that class whose output Python promises never to change, so it is the
only one used here. The strings that callers hash or use as an address are part of the seed: renaming one changes the
generated text.
"""

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")

SKEW = 1.6  # exponent of ``skewed_choice``


def stable_hash(*parts: object) -> int:
    """Return a 64-bit hash of the parts. Unlike ``hash``, it does not depend on the process."""
    return int.from_bytes(blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest(), "big")


def stable_fraction(*parts: object) -> float:
    """Return a fixed number in [0, 1) for these parts: a property of a word that is the same in every corpus."""
    return stable_hash(*parts) / 2**64


class Weighted(Generic[T]):
    """Items with weights, indexed for fast sampling."""

    def __init__(self, items: Iterable[tuple[T, float]]) -> None:
        pairs = list(items)
        self.items = [item for item, _ in pairs]
        self._cumulative_weights = list(accumulate(weight for _, weight in pairs))

    def at(self, quantile: float) -> T:
        """Return the item at a quantile in [0, 1) of the total weight."""
        weights = self._cumulative_weights
        return self.items[bisect_right(weights, quantile * weights[-1], hi=len(self.items) - 1)]


class RandomStream:
    """One reproducible stream of random numbers, identified by the parts of its address, such as seed and phase."""

    __slots__ = ("random",)

    def __init__(self, *address: object) -> None:
        self.random = random.Random(stable_hash(*address)).random

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.random() < probability

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound)."""
        return int(self.random() * bound)

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def weighted_choice(self, items: Weighted[T]) -> T:
        """Return one of the items with a probability proportional to its weight."""
        return items.at(self.random())

    def skewed_choice(self, items: Sequence[T]) -> T:
        """Return one of the items, earlier ones more often, as word and product frequencies are distributed."""
        return items[int(self.random() ** SKEW * len(items))]
