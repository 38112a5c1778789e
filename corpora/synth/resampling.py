"""Resamples the lines of a phase to the task's shares of lengths, duplicates and sources with several references.

Candidates arrive as a stream, and one sequential pass decides which are kept. Duplicates among them are kept until
their share is reached, and dropped afterwards. Where there are too few, earlier lines are repeated. The shares hold for
a phase of any size.
"""

from collections.abc import Iterable, Iterator

from corpora.synth.random_stream import RandomStream, stable_hash
from corpora.synth.shop import LENGTH_SHARES, ProductLine

DUPLICATE_SHARE = 0.11  # of pairs that occurred before, on both sides (Sokolov et al. 2017, section 2)
SEVERAL_TARGETS_SHARE = 0.04  # of distinct sources that have more than one reference (same section)
RESERVOIR_SIZE = 4096  # earlier lines that can be repeated
LENGTH_TOLERANCE = 1.01  # factor by which a length class may exceed its share
LENGTH_ALLOWANCE = 40  # lines by which it may exceed its share in addition
MAX_REFUSALS = 60  # in a row; then a line of any length is accepted, so that the stream does not dry up
MAX_DEFICIT = 3.0  # of duplicates or varied sources, in lines, before one is added


class Resampler:
    """Keeps the running shares at their targets. What occurred is stored as 64-bit hashes, not as text."""

    def __init__(self, rng: RandomStream) -> None:
        self._rng = rng
        self._emitted = 0
        self._duplicates = 0
        self._refusals = 0
        self._pairs: set[int] = set()
        self._sources: set[int] = set()
        self._varied: set[int] = set()
        self._length_counts = dict.fromkeys(LENGTH_SHARES, 0)
        self._reservoir: list[ProductLine] = []

    def stream(self, candidates: Iterable[ProductLine]) -> Iterator[ProductLine]:
        """Yield the candidates that are kept, and lines that are repeated."""
        for line in candidates:
            if not self._admit(line):
                continue
            self._keep_in_reservoir(line)
            yield line
            yield from self._repeats()

    def _admit(self, line: ProductLine) -> bool:
        """Return whether the line is emitted, and count it if it is."""
        if self._exceeds_share(line.length_class):
            return False
        source = stable_hash(line.german)
        pair = stable_hash(line.german, line.english)
        if pair in self._pairs:
            if self._duplicates >= DUPLICATE_SHARE * (self._emitted + 1):
                return False
            self._duplicates += 1
        elif source in self._sources:
            if source in self._varied or len(self._varied) >= SEVERAL_TARGETS_SHARE * len(self._sources):
                return False
            self._varied.add(source)
            self._pairs.add(pair)
        else:
            self._sources.add(source)
            self._pairs.add(pair)
        self._emitted += 1
        self._length_counts[line.length_class] += 1
        return True

    def _exceeds_share(self, length_class: str) -> bool:
        """Return whether lines of this length are refused because they exceed their share."""
        allowed = LENGTH_SHARES[length_class] * self._emitted * LENGTH_TOLERANCE + LENGTH_ALLOWANCE
        refused = self._length_counts[length_class] > allowed and self._refusals < MAX_REFUSALS
        self._refusals = self._refusals + 1 if refused else 0
        return refused

    def _keep_in_reservoir(self, line: ProductLine) -> None:
        if len(self._reservoir) < RESERVOIR_SIZE:
            self._reservoir.append(line)
        else:
            self._reservoir[self._rng.below(RESERVOIR_SIZE)] = line

    def _repeats(self) -> Iterator[ProductLine]:
        """Yield earlier lines, with the same or another reference, where the candidates repeat too little."""
        if self._duplicates < DUPLICATE_SHARE * self._emitted - MAX_DEFICIT:
            line = self._rng.choice(self._reservoir)
            if self._admit(line):
                yield line
        if len(self._varied) < SEVERAL_TARGETS_SHARE * len(self._sources) - MAX_DEFICIT:
            line = self._rng.choice(self._reservoir)
            other = line._replace(english=line.alternative)
            if line.alternative and stable_hash(line.german) not in self._varied and self._admit(other):
                yield other
