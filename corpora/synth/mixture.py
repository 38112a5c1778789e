"""The stream of a phase: as many repeated pairs and sources with several references as the task had, at any size.

Chunks of candidate lines come from anywhere, in order; this sequential pass decides which are kept. Natural repeats are
welcome until their share is reached and dropped afterwards; where nature gives too few, earlier lines are shown again.
"""

from collections.abc import Iterable, Iterator

from corpora.synth.random_stream import RandomStream, stable_hash
from corpora.synth.shop import SHARES, Line

DUPLICATES = 0.11  # share of pairs that occurred before, both sides
VARIED = 0.04  # share of distinct sources with more than one reference
MEMORY = 4096  # earlier lines that can be shown again
TOLERANCE = 1.01  # how much longer lines may exceed their share when short ones run out
PATIENCE = 60  # refusals in a row before a line of any length is welcome: a stream must not dry up
SLACK = 3.0  # how far a running share may be off before something is done about it


class Mixture:
    """Keeps the running shares at their targets. What was seen is remembered as 64-bit numbers, not as text."""

    def __init__(self, rng: RandomStream) -> None:
        self._rng = rng
        self._emitted = 0
        self._duplicates = 0
        self._refusals = 0
        self._pairs: set[int] = set()
        self._sources: set[int] = set()
        self._varied: set[int] = set()
        self._sizes = dict.fromkeys(SHARES, 0)
        self._memory: list[Line] = []

    def stream(self, candidates: Iterable[Line]) -> Iterator[tuple[str, str]]:
        for line in candidates:
            if not self._admit(line):
                continue
            self._remember(line)
            yield line.german, line.english
            yield from self._repeats()

    def _admit(self, line: Line) -> bool:
        """Whether this candidate is emitted; counts it if so."""
        if self._is_too_many(line.size):
            return False
        source = stable_hash(line.german)
        pair = stable_hash(line.german, line.english)
        if pair in self._pairs:
            if self._duplicates >= DUPLICATES * (self._emitted + 1):
                return False
            self._duplicates += 1
        elif source in self._sources:
            if source in self._varied or len(self._varied) >= VARIED * len(self._sources):
                return False
            self._varied.add(source)
            self._pairs.add(pair)
        else:
            self._sources.add(source)
            self._pairs.add(pair)
        self._emitted += 1
        self._sizes[line.size] += 1
        return True

    def _is_too_many(self, size: str) -> bool:
        """Whether lines of this length are over their share; after enough refusals in a row, what comes is taken."""
        refused = self._sizes[size] > SHARES[size] * self._emitted * TOLERANCE + 40 and self._refusals < PATIENCE
        self._refusals = self._refusals + 1 if refused else 0
        return refused

    def _remember(self, line: Line) -> None:
        if len(self._memory) < MEMORY:
            self._memory.append(line)
        else:
            self._memory[self._rng.below(MEMORY)] = line

    def _repeats(self) -> Iterator[tuple[str, str]]:
        """Earlier lines, when the natural repeats fall short of their share."""
        if self._duplicates < DUPLICATES * self._emitted - SLACK:
            line = self._rng.choice(self._memory)
            if self._admit(line):
                yield line.german, line.english
        if len(self._varied) < VARIED * len(self._sources) - SLACK:
            line = self._rng.choice(self._memory)
            other = line._replace(english=line.alternative)
            if line.alternative and stable_hash(line.german) not in self._varied and self._admit(other):
                yield other.german, other.english
