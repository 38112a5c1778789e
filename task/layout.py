"""The layout of a phase: in which order it serves its sentences, and where its held-out block is repeated.

A phase of ``blocks`` held-out passes serves the same ``block`` sentences in every pass, with ``gap`` fresh sentences
between two passes and a pass at either end::

    HH FFFF HH FFFF HH        blocks = 3, block = 2, gap = 4: 14 rounds, 10 distinct sentences

Indices are zero-based. Distinct sentences are numbered with the held-out block first, then the fresh ones in the order
in which they are served.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_HELD_OUT_PASSES = 1_000  # the WMT 2017 task has 12; a leaderboard holds the end of each
MAX_ROUNDS = 10**9  # of a phase; the WMT 2017 task has 1,297,974


class LayoutError(ValueError):
    """A phase cannot be laid out as requested; the message names sizes that can."""


class Place(NamedTuple):
    """What a phase serves in one round."""

    sentence: int  # number among the distinct sentences of the phase
    held_out_pass: int | None  # which pass over the held-out block, or None for a fresh sentence


@dataclass(frozen=True, slots=True)
class Layout:
    """The order in which a phase serves its distinct sentences."""

    blocks: int  # passes over the held-out block; 0 for a phase without one
    block: int  # sentences in the held-out block
    gap: int  # fresh sentences between two passes; all sentences of a phase without a held-out block
    total: int = field(init=False, repr=False, compare=False)  # rounds in the phase
    period: int = field(init=False, repr=False, compare=False)  # rounds from one held-out pass to the next

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.blocks * self.block + max(self.blocks - 1, 1) * self.gap)
        object.__setattr__(self, "period", self.block + self.gap)
        if self.blocks < 0 or self.block < 0 or self.gap < 0:
            raise LayoutError(f"a layout has no negative parts, but got {self}")
        if (self.blocks == 0) != (self.block == 0):
            raise LayoutError(f"the number of held-out passes and their length are both zero or neither, in {self}")
        if self.blocks == 1 and self.gap:
            raise LayoutError(f"a gap lies between two held-out passes, but there is only one in {self}")
        if self.total == 0:
            raise LayoutError("a phase serves at least one sentence")
        if self.blocks > MAX_HELD_OUT_PASSES or self.total > MAX_ROUNDS:
            raise LayoutError(
                f"a phase has at most {MAX_HELD_OUT_PASSES:,} held-out passes and {MAX_ROUNDS:,} rounds, but got {self}"
            )

    @classmethod
    def plain(cls, total: int) -> "Layout":
        """Return the layout of a phase of fresh sentences only."""
        return cls(blocks=0, block=0, gap=total)

    @classmethod
    def fit(cls, total: int, *, blocks: int, block: int) -> "Layout":
        """Return the layout of ``total`` rounds with these held-out passes.

        Raises LayoutError naming the nearest valid sizes.
        """
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
        """The number of distinct sentences that the phase needs (their texts may coincide)."""
        return self.block + max(self.blocks - 1, 1) * self.gap

    @property
    def pass_ends(self) -> Sequence[int]:
        """For each held-out pass, the number of rounds played when it is over."""
        return [number * self.period + self.block for number in range(self.blocks)]

    def place(self, index: int) -> Place:
        """Return what round ``index`` of the phase serves."""
        sentence = self.sentence(index)
        return Place(sentence, index // self.period if sentence < self.block else None)

    def sentence(self, index: int) -> int:
        """Return the number of the distinct sentence that round ``index`` serves."""
        if not 0 <= index < self.total:
            raise IndexError(f"round {index:,} is not one of the {self.total:,} rounds of this phase")
        if not self.blocks:
            return index
        passes_begun, offset = divmod(index, self.period)
        return offset if offset < self.block else index - passes_begun * self.block

    def segment(self, index: int) -> tuple[int | None, int]:
        """Return the held-out pass of round ``index`` (None for a fresh sentence) and where its segment ends.

        A segment is a held-out pass or the fresh sentences between two: all rounds before its end are alike.
        """
        held_out_pass = self.place(index).held_out_pass
        if held_out_pass is not None:
            return held_out_pass, self.rounds_of_pass(held_out_pass).stop
        return None, min((index // self.period + 1) * self.period, self.total)

    def rounds_of_pass(self, number: int) -> range:
        """Return the indices of the rounds of one held-out pass."""
        if not 0 <= number < self.blocks:
            raise IndexError(f"held-out pass {number} is not one of the {self.blocks} passes of this phase")
        return range(number * self.period, number * self.period + self.block)

    def is_border(self, sentence: int) -> bool:
        """Return whether a distinct sentence is never served right after the one before it."""
        fresh = sentence - self.block
        return bool(self.blocks) and fresh >= 0 and fresh % self.gap == 0

    def is_repeat(self, index: int) -> bool:
        """Return whether round ``index`` serves a sentence that an earlier round served."""
        return bool(self.place(index).held_out_pass)
