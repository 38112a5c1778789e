"""The measures of adaptation along a run of a post-edit phase: BLEU, mean sentence BLEU, TER, R0, R1 and R0+1.

Every round of such a phase keeps the counts of ``post_edit``. Here they are summed, and the sums are sampled along the
run: from two samples follow the measures of all rounds between them. All sums are whole numbers, so they do not depend
on how rounds were batched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add, sub
from typing import NamedTuple

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu
from leaderboard.metrics.packing import unpack_counts
from leaderboard.metrics.post_edit import COUNTS
from leaderboard.metrics.sentence_bleu import smoothed_bleu

# Sentence BLEU is summed in millionths: logarithms differ in their last bit between machines, and in units as small as
# the ticks of rewards the sums of two machines would differ, too.
MILLION = 10**6


class AdaptationCounts(NamedTuple):
    """Sums over any set of rounds, in the order of the counts of a round. Measures are in percent."""

    rounds: int = 0
    matches_1: int = 0
    matches_2: int = 0
    matches_3: int = 0
    matches_4: int = 0
    candidates_1: int = 0
    candidates_2: int = 0
    candidates_3: int = 0
    candidates_4: int = 0
    reference_length: int = 0
    edits: int = 0
    edited_length: int = 0  # reference words that the edits are counted against
    found_new: int = 0  # words that no earlier reference has
    found_repeated: int = 0  # words that exactly one earlier reference has
    wanted_new: int = 0
    wanted_repeated: int = 0
    sentence_bleu_millionths: int = 0

    def minus(self, other: "AdaptationCounts") -> "AdaptationCounts":
        """Return the counts of the rounds that the other counts do not cover."""
        return AdaptationCounts(*map(sub, self, other))

    @property
    def bleu_statistics(self) -> BleuStatistics:
        matches = (self.matches_1, self.matches_2, self.matches_3, self.matches_4)
        candidates = (self.candidates_1, self.candidates_2, self.candidates_3, self.candidates_4)
        return BleuStatistics(matches, candidates, self.reference_length)

    @property
    def bleu(self) -> float:
        """Corpus BLEU of these rounds."""
        return corpus_bleu(self.bleu_statistics)

    @property
    def sbleu(self) -> float | None:
        """The mean of smoothed sentence BLEU."""
        return 100 * self.sentence_bleu_millionths / MILLION / self.rounds if self.rounds else None

    @property
    def ter(self) -> float | None:
        return _percentage(self.edits, self.edited_length)

    @property
    def r0(self) -> float | None:
        return _percentage(self.found_new, self.wanted_new)

    @property
    def r1(self) -> float | None:
        return _percentage(self.found_repeated, self.wanted_repeated)

    @property
    def r0_1(self) -> float | None:
        return _percentage(self.found_new + self.found_repeated, self.wanted_new + self.wanted_repeated)


NO_COUNTS = AdaptationCounts()


def _percentage(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


@dataclass(frozen=True, slots=True)
class AdaptationRecord:
    """The counts of a run so far, and as they were after some of its rounds."""

    total: AdaptationCounts = NO_COUNTS
    samples: Mapping[int, AdaptationCounts] = field(default_factory=dict)  # by rounds, at coarse ends


class AdaptationSums:
    """A record that is being added to: every round of a run passes through here."""

    __slots__ = ("_counts", "_samples")

    def __init__(self, record: AdaptationRecord) -> None:
        self._counts, self._samples = list(record.total), dict(record.samples)

    def add(self, packed: bytes) -> BleuStatistics:
        """Add the counts of a round, and return those of BLEU. Raises ValueError if they are malformed."""
        is_small = len(packed) == COUNTS and packed.isascii()  # nearly every sentence: one byte for each count
        counts = packed if is_small else unpack_counts(packed, COUNTS, "statistics of a post-edit")
        m1, m2, m3, m4, c1, c2, c3, c4, reference_length, *_ = counts
        bleu = BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length)
        self._counts = list(map(add, self._counts, (1, *counts, round(MILLION * smoothed_bleu(bleu)))))
        return bleu

    def sample(self) -> None:
        """Remember the counts as they are after the last round."""
        counts = AdaptationCounts(*self._counts)
        self._samples[counts.rounds] = counts

    def record(self) -> AdaptationRecord:
        return AdaptationRecord(AdaptationCounts(*self._counts), self._samples)
