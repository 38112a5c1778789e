"""Smoothed sentence BLEU, the task's feedback, and corpus BLEU, both from the same sufficient statistics.

The sentence score follows cdec: a zero match count becomes 0.01, and orders longer than the hypothesis do not count. It
differs from sacreBLEU's ``floor[0.01]`` with effective order only if no unigram matches: sacreBLEU returns 0, this
function a small positive number. The corpus score is sacreBLEU's default BLEU-4. Its smoothing matters only for texts
so small that some order has no match at all.
"""

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple, Self

from leaderboard.metrics.packing import pack_counts, unpack_counts

MAX_ORDER = 4
SMOOTHING_OFFSET = 0.01  # as task.feedback.SENTENCE_BLEU has it in its signature

CORPUS_SIGNATURE = "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|v:1"


class BleuStatistics(NamedTuple):
    """The sufficient statistics of BLEU for one sentence or for many; they add up field by field."""

    matches: tuple[int, int, int, int]  # clipped n-gram matches of orders 1 to 4
    candidates: tuple[int, int, int, int]  # n-grams in the hypothesis of orders 1 to 4
    reference_length: int

    @property
    def hypothesis_length(self) -> int:
        return self.candidates[0]

    def plus(self, other: Self) -> "BleuStatistics":
        """Return the statistics of both texts together (``+`` on a named tuple would concatenate)."""
        m, n = self.matches, other.matches
        c, d = self.candidates, other.candidates
        return BleuStatistics(
            (m[0] + n[0], m[1] + n[1], m[2] + n[2], m[3] + n[3]),
            (c[0] + d[0], c[1] + d[1], c[2] + d[2], c[3] + d[3]),
            self.reference_length + other.reference_length,
        )

    def minus(self, other: Self) -> "BleuStatistics":
        """Return the statistics of this text without the other, which is a part of it."""
        m, n = self.matches, other.matches
        c, d = self.candidates, other.candidates
        return BleuStatistics(
            (m[0] - n[0], m[1] - n[1], m[2] - n[2], m[3] - n[3]),
            (c[0] - d[0], c[1] - d[1], c[2] - d[2], c[3] - d[3]),
            self.reference_length - other.reference_length,
        )

    def to_bytes(self) -> bytes:
        """Return nine variable-length integers: nine bytes for a sentence of up to 127 tokens."""
        return pack_counts((*self.matches, *self.candidates, self.reference_length))

    @classmethod
    def from_bytes(cls, packed: bytes) -> "BleuStatistics":
        """Return the statistics that ``to_bytes`` wrote; raise ValueError for anything else."""
        if len(packed) == 2 * MAX_ORDER + 1 and packed.isascii():  # nearly every sentence: one byte each
            return cls(
                (packed[0], packed[1], packed[2], packed[3]), (packed[4], packed[5], packed[6], packed[7]), packed[8]
            )
        counts = unpack_counts(packed, 2 * MAX_ORDER + 1, "BLEU statistics")
        m1, m2, m3, m4, c1, c2, c3, c4, reference_length = counts
        return cls((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length)


EMPTY_STATISTICS = BleuStatistics((0, 0, 0, 0), (0, 0, 0, 0), 0)


def count_ngram_matches(hypothesis: str, reference: str) -> BleuStatistics:
    """Return the n-gram statistics of two whitespace-tokenised strings."""
    return count_token_matches(hypothesis.split(), reference.split())


def count_token_matches(candidate: list[str], gold: list[str]) -> BleuStatistics:
    """Return the n-gram statistics of the tokens of a hypothesis and of its reference."""
    length = len(candidate)
    totals = (length, length - 1, length - 2, length - 3)
    if length < MAX_ORDER:
        totals = (length, max(length - 1, 0), max(length - 2, 0), 0)
    if candidate == gold:
        return BleuStatistics(totals, totals, length)
    matches = [0] * MAX_ORDER
    for order, ngrams in enumerate(NGRAM_ITERATORS):
        matches[order] = matched = _clipped_matches(candidate, gold, order, ngrams)
        if not matched:
            break  # a longer n-gram cannot match where no shorter one does
    return BleuStatistics((matches[0], matches[1], matches[2], matches[3]), totals, len(gold))


# The n-grams of orders 1 to 4, written out because this is the hot path; a unigram needs no tuple.
NGRAM_ITERATORS: tuple[Callable[[list[str]], Iterable[object]], ...] = (
    iter,
    pairwise,
    lambda tokens: zip(tokens, tokens[1:], tokens[2:], strict=False),
    lambda tokens: zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False),
)


def _clipped_matches(
    candidate: list[str], gold: list[str], missing: int, ngrams: Callable[[list[str]], Iterable[object]]
) -> int:
    """Return the clipped matches of n-grams of one order; a text has ``missing`` fewer of them than tokens."""
    proposed = set(ngrams(candidate))
    shared = proposed.intersection(ngrams(gold))
    if len(proposed) == len(candidate) - missing or not shared:
        return len(shared)  # no n-gram occurs twice, so none can match more than once
    available: dict[object, int] = {}
    for ngram in ngrams(gold):
        available[ngram] = available.get(ngram, 0) + 1
    matched = 0
    for ngram in ngrams(candidate):
        left = available.get(ngram, 0)
        if left:
            available[ngram] = left - 1
            matched += 1
    return matched


def sentence_score(counts: BleuStatistics) -> float:
    """Return smoothed sentence BLEU in [0, 1] from the statistics of one sentence."""
    (m1, m2, m3, m4), (c1, c2, c3, c4), reference_length = counts
    if not c1:
        return 0.0
    precisions = (m1 or SMOOTHING_OFFSET) / c1  # multiplied, so that one logarithm is enough
    if c2:  # written out, because this is the hot path
        precisions *= (m2 or SMOOTHING_OFFSET) / c2
    if c3:
        precisions *= (m3 or SMOOTHING_OFFSET) / c3
    if c4:
        precisions *= (m4 or SMOOTHING_OFFSET) / c4
    return math.exp(math.log(precisions) / min(c1, MAX_ORDER) + min(0.0, 1 - reference_length / c1))


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """Return the task's feedback: smoothed sentence BLEU in [0, 1] of two whitespace-tokenised strings."""
    return sentence_score(count_ngram_matches(hypothesis, reference))


def corpus_bleu(counts: BleuStatistics) -> float:
    """Return BLEU-4 in [0, 100] from the summed statistics of a corpus, as sacreBLEU computes it by default."""
    if not counts.matches[0] or not all(counts.candidates):
        return 0.0
    log_precisions, halving = 0.0, 1  # one logarithm of the product would change published boards in the last bit
    for matched, total in zip(counts.matches, counts.candidates, strict=True):
        if not matched:
            halving *= 2
        log_precisions += math.log((matched or 1 / halving) / total)
    brevity = min(0.0, 1 - counts.reference_length / counts.hypothesis_length)
    return 100 * math.exp(log_precisions / MAX_ORDER + brevity)


def sum_statistics(many: Iterable[BleuStatistics]) -> BleuStatistics:
    """Return the summed statistics of a corpus."""
    summed = EMPTY_STATISTICS
    for counts in many:
        summed = summed.plus(counts)
    return summed
