"""Fragments: parts of sentence pairs that translate each other, extracted along a word alignment.

What a system has to translate may be shorter than any sentence: a word, a name, a measure. A model that has only seen
whole sentences makes a sentence of it. Fragments also teach the words of sentences that are too long to train on.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from learners.nmt.batches import Pair
from learners.smt.fast_align import FastAlign

MAX_PAIR_WORDS = 50  # of both sides: longer pairs take long to align, and align badly
MAX_PAIRS = 20_000  # more take minutes
SPANS_PER_PAIR = 3  # source spans that are tried; on average, two of them can be extracted
MAX_SOURCE_WORDS = 6
MAX_EXTRA_TARGET_WORDS = 2  # beyond the number of source words


def extract_fragments(pairs: Sequence[Pair], *, seed: int) -> list[Pair]:
    """Return fragments of the first pairs that are short enough; the same seed gives the same fragments.

    Training gives the pairs in random order, so that the place of a pair in the text does not matter.
    """
    split = [(source.split(), target.split()) for source, target in pairs]
    usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= MAX_PAIR_WORDS][:MAX_PAIRS]
    if not usable:
        return []
    rng = np.random.default_rng(seed)
    found: list[Pair] = []
    for (source, target), alignment in zip(usable, FastAlign(usable).links(), strict=True):
        for _ in range(SPANS_PER_PAIR):
            length = int(rng.integers(1, min(MAX_SOURCE_WORDS, len(source)) + 1))
            start = int(rng.integers(len(source) - length + 1))
            found += _extract(source, target, alignment.tolist(), start, start + length)
    return found


def _extract(
    source: Sequence[str], target: Sequence[str], alignment: Sequence[Sequence[int]], start: int, end: int
) -> Iterator[Pair]:
    """Yield the source words from ``start`` to ``end`` with the target words aligned to them, if they are consistent.

    They are if none of them is aligned to a word outside, as in phrase extraction.
    """
    aligned = [target_word for source_word, target_word in alignment if start <= source_word < end]
    if not aligned:
        return
    first, last = min(aligned), max(aligned)
    consistent = all(start <= word < end for word, target_word in alignment if first <= target_word <= last)
    if consistent and last - first < end - start + MAX_EXTRA_TARGET_WORDS:
        yield " ".join(source[start:end]), " ".join(target[first : last + 1])
