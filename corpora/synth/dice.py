"""Chance that comes out the same on every machine and Python version.

Only ``random.Random.random()`` is used: of all the methods of that class it alone is promised never to change.
"""

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


def digest(*parts: object) -> int:
    """A 64-bit number that depends on nothing but the parts, unlike ``hash``."""
    return int.from_bytes(blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest(), "big")


def share(*parts: object) -> float:
    """A fixed number in [0, 1) for these parts: a property of a word, the same in every corpus."""
    return digest(*parts) / 2**64


class Weighted(Generic[T]):
    """Items with weights, prepared for quick drawing."""

    def __init__(self, items: Iterable[tuple[T, float]]) -> None:
        pairs = list(items)
        self.items = [item for item, _ in pairs]
        self._bounds = list(accumulate(weight for _, weight in pairs))

    def at(self, position: float) -> T:
        """The item at a position in [0, 1)."""
        return self.items[bisect_right(self._bounds, position * self._bounds[-1], hi=len(self.items) - 1)]


class Dice:
    """One stream of chance, named by its seed and the parts of its address."""

    __slots__ = ("random",)

    def __init__(self, *address: object) -> None:
        self.random = random.Random(digest(*address)).random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def below(self, bound: int) -> int:
        return int(self.random() * bound)

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.random() * len(items))]

    def draw(self, items: Weighted[T]) -> T:
        return items.at(self.random())

    def skewed(self, items: Sequence[T]) -> T:
        """Earlier items more often than later ones, as words and products are distributed."""
        return items[int(self.random() ** 1.6 * len(items))]
