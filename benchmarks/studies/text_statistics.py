"""Statistics of the translations of a run, in blocks of rounds: the quality of the whole run and of its parts.

Reward alone can mislead: sentence BLEU pays a single right word best, and forgives loops. Corpus BLEU, the length ratio
and the shares of single words and of loops show whether a run that earns more also translates better.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Self

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu, count_ngram_matches, sum_statistics
from leaderboard.metrics.bootstrap import CONFIDENCE, MIN_BLOCKS, Difference, resampled_bleu
from leaderboard.metrics.loops import is_loop
from leaderboard.metrics.online import last_quarter_start
from learners.journal import JournalEntry

BLOCKS = 200  # of a run: a quarter of them are enough to resample


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """What the quality of some rounds follows from; statistics of several blocks add up."""

    rounds: int
    bleu: BleuStatistics
    longer_references: int  # of two or more words
    single_words: int  # longer references that were answered with one word
    loops: int  # translations that repeat themselves where their sources do not

    @classmethod
    def count(cls, entries: Sequence[JournalEntry], references: Sequence[str]) -> Self:
        """Return the statistics of rounds and their references."""
        each = [count_ngram_matches(entry.translation, gold) for entry, gold in zip(entries, references, strict=True)]
        longer = [statistics for statistics in each if statistics.reference_length > 1]
        return cls(
            rounds=len(entries),
            bleu=sum_statistics(each),
            longer_references=len(longer),
            single_words=sum(statistics.hypothesis_length == 1 for statistics in longer),
            loops=sum(is_loop(entry.source, entry.translation) for entry in entries),
        )

    @classmethod
    def total(cls, blocks: Iterable[Self]) -> Self:
        """Return the statistics of several blocks together."""
        many = list(blocks)
        return cls(
            rounds=sum(block.rounds for block in many),
            bleu=sum_statistics(block.bleu for block in many),
            longer_references=sum(block.longer_references for block in many),
            single_words=sum(block.single_words for block in many),
            loops=sum(block.loops for block in many),
        )

    @property
    def corpus_bleu(self) -> float:
        return corpus_bleu(self.bleu)

    @property
    def length_ratio(self) -> float:
        """Proposed tokens per reference token."""
        return self.bleu.hypothesis_length / self.bleu.reference_length

    @property
    def single_word_share(self) -> float | None:
        """The share of longer references that were answered with one word; None if there are no longer references."""
        return self.single_words / self.longer_references if self.longer_references else None

    @property
    def loop_share(self) -> float:
        return self.loops / self.rounds

    def to_numbers(self) -> list[int]:
        """Return 13 integers for a file."""
        counts = (*self.bleu.matches, *self.bleu.candidates, self.bleu.reference_length)
        return [self.rounds, *counts, self.longer_references, self.single_words, self.loops]

    @classmethod
    def from_numbers(cls, numbers: Sequence[int]) -> Self:
        """Return what ``to_numbers`` wrote; raise ValueError for another number of values."""
        rounds, m1, m2, m3, m4, c1, c2, c3, c4, reference_length, longer, single, loops = numbers
        return cls(rounds, BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length), longer, single, loops)


def block_statistics(entries: Sequence[JournalEntry], references: Sequence[str]) -> list[TextStatistics]:
    """Return the statistics of a run in blocks of equal size; a block begins where the last quarter does."""
    borders = dict.fromkeys(number * len(entries) // BLOCKS for number in range(BLOCKS + 1))
    return [TextStatistics.count(entries[start:end], references[start:end]) for start, end in pairwise(borders)]


def last_quarter_blocks(blocks: Sequence[TextStatistics]) -> Sequence[TextStatistics]:
    """Return the blocks in the last quarter of a run."""
    ends = list(accumulate(block.rounds for block in blocks))
    return [block for block, end in zip(blocks, ends, strict=True) if end > last_quarter_start(ends[-1])]


def corpus_bleu_difference(ours: Sequence[TextStatistics], theirs: Sequence[TextStatistics]) -> Difference | None:
    """Return the difference in corpus BLEU over the same blocks with its interval; None if there are too few blocks."""
    if len(ours) < MIN_BLOCKS:
        return None
    observed = TextStatistics.total(ours).corpus_bleu - TextStatistics.total(theirs).corpus_bleu
    resampled = [resampled_bleu(tuple(block.bleu for block in blocks)) for blocks in (ours, theirs)]
    differences = [a - b for a, b in zip(*resampled, strict=True)]
    return Difference.from_resamples(observed, differences, confidence=CONFIDENCE, blocks=len(ours))
