"""Parts of sentences that translate each other, cut out along a word alignment.

What is to be translated may be shorter than any sentence: a word, a name, a measure. A model that has only seen whole
sentences makes one up. Fragments also teach the words of sentences that are too long to train on.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from learners.smt.alignment import align_words

Pair = tuple[str, str]  # source and target
ITERATIONS = 5  # of the alignment, as fast_align does by default
LONGEST_SENTENCE = 50  # words of both sides: longer pairs take long to align, and align badly
MOST = 20_000  # pairs: more take minutes
EACH = 3  # fragments that are tried of a pair; two of them can be cut out
LONGEST = 6  # words of a fragment's source
STRETCH = 2  # its target has at most so many words more


def fragments(pairs: Sequence[Pair], *, seed: int) -> list[Pair]:
    """Fragments of all pairs that are short enough, or of the first of them; the same seed cuts the same."""
    split = [(source.split(), target.split()) for source, target in pairs]
    usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= LONGEST_SENTENCE][:MOST]
    if not usable:
        return []
    rng = np.random.default_rng(seed)
    found: list[Pair] = []
    for (source, target), linked in zip(usable, align_words(usable, ITERATIONS), strict=True):
        for _ in range(EACH):
            length = int(rng.integers(1, min(LONGEST, len(source)) + 1))
            start = int(rng.integers(len(source) - length + 1))
            found += _cut(source, target, linked.tolist(), start, start + length)
    return found


def _cut(
    source: Sequence[str], target: Sequence[str], linked: Sequence[Sequence[int]], start: int, end: int
) -> Iterator[Pair]:
    """The source words from ``start`` to ``end`` with all that is linked to them, if to nothing else."""
    inside = [other for position, other in linked if start <= position < end]
    if not inside:
        return
    first, last = min(inside), max(inside)
    alone = all(start <= position < end for position, other in linked if first <= other <= last)
    if alone and last - first < end - start + STRETCH:
        yield " ".join(source[start:end]), " ".join(target[first : last + 1])
