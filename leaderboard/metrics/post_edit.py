"""The statistics of a round of a post-edit phase, in one byte string: BLEU, TER, and recall of words."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from leaderboard.metrics.bleu import BleuStatistics, count_ngram_matches
from leaderboard.metrics.packing import pack_counts, unpack_counts
from leaderboard.metrics.recall import RecallCounts, count_recall
from leaderboard.metrics.ter import TerStatistics, ter_statistics

COUNTS = 15


class PostEditStatistics(NamedTuple):
    """All that the measures of adaptation need to know of one sentence, or of many."""

    bleu: BleuStatistics
    ter: TerStatistics
    recall: RecallCounts  # of words that no earlier reference has, and that exactly one has

    def to_bytes(self) -> bytes:
        """Return fifteen variable-length integers."""
        counts = (*self.bleu.matches, *self.bleu.candidates, self.bleu.reference_length)
        return pack_counts((*counts, *self.ter, *self.recall.found, *self.recall.wanted))

    @classmethod
    def from_bytes(cls, packed: bytes) -> "PostEditStatistics":
        """Return the statistics that ``to_bytes`` packed; raise ValueError for anything else."""
        m1, m2, m3, m4, c1, c2, c3, c4, length, edits, words, *recall = unpack_counts(
            packed, COUNTS, "statistics of a post-edit"
        )
        return cls(
            BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), length),
            TerStatistics(edits, words),
            RecallCounts(tuple(recall[:2]), tuple(recall[2:])),
        )


def bleu_counts(packed: bytes) -> BleuStatistics:
    """Return the BLEU statistics of a round, whether its phase shows post-edits or not."""
    if sum(byte < 0x80 for byte in packed) == COUNTS:  # each count ends with such a byte
        return PostEditStatistics.from_bytes(packed).bleu
    return BleuStatistics.from_bytes(packed)


def all_counts(packed: bytes) -> list[int]:
    """Return the statistics of a round as numbers: nine in a bandit phase, fifteen where post-edits are shown."""
    return unpack_counts(packed, sum(byte < 0x80 for byte in packed), "statistics of a round")


def post_edit_statistics(translation: str, reference: str, wanted: Sequence[Collection[str]]) -> PostEditStatistics:
    """Compare a translation with its post-edit.

    Args:
        translation: What the system proposed.
        reference: The post-edit.
        wanted: The content words of the reference that no earlier reference has, and those that exactly one has.
    """
    return PostEditStatistics(
        count_ngram_matches(translation, reference),
        ter_statistics(translation, reference),
        count_recall(translation, wanted),
    )
