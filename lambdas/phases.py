"""Where held-out blocks lie in a phase, and the three phases of the task.

A phase of ``blocks`` held-out passes serves the same ``block`` sentences again and again, with ``gap`` fresh sentences
between two passes and a pass at either end::

    HH FFFF HH FFFF HH        blocks = 3, block = 2, gap = 4: 14 rounds, 10 distinct sentences

Indices are zero-based. Distinct sentences are numbered with the held-out block first, then the fresh ones in the order
in which they are served.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class LayoutError(ValueError):
    """A phase of the wished size cannot be laid out; the message names sizes that can."""


class Place(NamedTuple):
    """What one round of a phase is."""

    sentence: int  # number among the distinct sentences of the phase
    held_out_pass: int | None  # which pass over the held-out block, or None for a fresh sentence


@dataclass(frozen=True, slots=True)
class Layout:
    """The order in which a phase serves its distinct sentences."""

    blocks: int  # passes over the held-out block; 0 for a phase without one
    block: int  # sentences in the held-out block
    gap: int  # fresh sentences between two passes; all sentences of a phase without held-out block
    total: int = field(init=False, repr=False, compare=False)  # rounds in the phase

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.blocks * self.block + max(self.blocks - 1, 1) * self.gap)
        if self.blocks < 0 or self.block < 0 or self.gap < 0:
            raise LayoutError(f"a layout has no negative parts, but got {self}")
        if (self.blocks == 0) != (self.block == 0):
            raise LayoutError(f"held-out passes and their length are either both zero or both not, but got {self}")
        if self.blocks == 1 and self.gap:
            raise LayoutError(f"a gap lies between two passes, but there is only one in {self}")
        if self.total == 0:
            raise LayoutError("a phase serves at least one sentence")

    @classmethod
    def plain(cls, total: int) -> "Layout":
        """A phase of fresh sentences only."""
        return cls(blocks=0, block=0, gap=total)

    @classmethod
    def fit(cls, total: int, *, blocks: int, block: int) -> "Layout":
        """The layout of ``total`` rounds with these held-out passes, or an error that names the nearest sizes."""
        if blocks < 2 or block < 1:
            raise LayoutError(f"held-out evaluation needs 2 passes of 1 sentence or more, but got {blocks} of {block}")
        gap, rest = divmod(total - blocks * block, blocks - 1)
        if gap >= 1 and rest == 0:
            return cls(blocks, block, gap)
        below = cls(blocks, block, max(gap, 1)).total
        sizes = f"{below:,}" if below >= total else f"{below:,} or {cls(blocks, block, gap + 1).total:,}"
        raise LayoutError(
            f"{total:,} rounds cannot hold {blocks} passes of {block:,} sentences at equal distances; nearest: {sizes}"
        )

    @property
    def distinct(self) -> int:
        """Different places in the corpus that the phase serves from (texts may repeat by nature)."""
        return self.block + max(self.blocks - 1, 1) * self.gap

    def place(self, index: int) -> Place:
        """What round ``index`` of the phase is."""
        if not 0 <= index < self.total:
            raise IndexError(f"round {index:,} is not one of the {self.total:,} rounds of this phase")
        if not self.blocks:
            return Place(index, None)
        passes_begun, offset = divmod(index, self.block + self.gap)
        if offset < self.block:
            return Place(offset, passes_begun)
        return Place(index - passes_begun * self.block, None)


@dataclass(frozen=True, slots=True)
class Phase:
    """One of the services of the task, and how often a system may run through it."""

    name: str
    layout: Layout
    repeatable: bool  # may a system run through it again?


# The sizes of the WMT 2017 task.
MOCK = Phase("mock", Layout.plain(48), repeatable=True)
DEV = Phase("dev", Layout(blocks=4, block=700, gap=12_400), repeatable=True)
TRAINING = Phase("training", Layout(blocks=12, block=4_000, gap=113_634), repeatable=False)
PHASES = {phase.name: phase for phase in (MOCK, DEV, TRAINING)}
