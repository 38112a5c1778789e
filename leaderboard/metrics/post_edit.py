"""The statistics of a round of a post-edit phase, in one byte string: BLEU, TER, and recall of words."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from leaderboard.metrics.bleu import BleuStatistics, count_token_matches
from leaderboard.metrics.packing import pack_counts, unpack_counts
from leaderboard.metrics.recall import RecallCounts
from leaderboard.metrics.ter import TerStatistics, count_edits

COUNTS = 15  # nine of BLEU, two of TER and four of recall


class PostEditStatistics(NamedTuple):
    """All that the measures of adaptation need to know of one sentence, or of many."""

    bleu: BleuStatistics
    ter: TerStatistics
    recall: RecallCounts  # of words that no earlier reference has, and that exactly one has

    @classmethod
    def from_bytes(cls, packed: bytes) -> "PostEditStatistics":
        """Return the statistics that ``post_edit_statistics`` packed; raise ValueError for anything else."""
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


def post_edit_statistics(
    translation: str, reference: str, wanted: Sequence[Collection[str]]
) -> tuple[BleuStatistics, bytes]:
    """Compare a translation with its post-edit.

    Args:
        translation: What the system proposed.
        reference: The post-edit.
        wanted: The content words of the reference that no earlier reference has, and those that exactly one has.

    Returns:
        The statistics of BLEU, and all statistics of the round, packed: those of BLEU, TER and recall.
    """
    words, target = translation.split(), reference.split()  # once for all three
    bleu = matches, candidates, length = count_token_matches(words, target)
    edits = count_edits(words, target, shared=matches[0])
    shared_with, (new, repeated) = set(words).intersection, wanted
    recall = len(shared_with(new)), len(shared_with(repeated)), len(new), len(repeated)
    return bleu, pack_counts((*matches, *candidates, length, edits, length, *recall))
