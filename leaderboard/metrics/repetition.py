"""Repetition rate: how much a text repeats itself, and so how much a system can gain by adapting to it.

The rate is the geometric mean over n = 1 to 4 of the share of n-gram types in a window that occur there more than once,
summed over windows of 1,000 words (Bertoldi et al. 2013, Cettolo et al. 2014). Two policies are in use, and their
numbers differ: a window that slides by one word, and windows side by side.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

MAX_ORDER = 4
WINDOW_WORDS = 1_000


class WindowPolicy(StrEnum):
    """Which windows of a text are counted."""

    SLIDING = "sliding"  # every window of so many words
    SIDE_BY_SIDE = "side-by-side"  # windows that do not overlap; an incomplete one at the end does not count


class RepetitionCounts(NamedTuple):
    """N-gram types of orders 1 to 4 that are repeated in their window, and all of them, summed over windows."""

    repeated: tuple[int, ...]
    types: tuple[int, ...]
    windows: int

    @property
    def rate(self) -> float | None:
        """The repetition rate in [0, 1]; None where a text has no n-gram of some order."""
        if not all(self.types):
            return None
        product = 1.0
        for repeated, types in zip(self.repeated, self.types, strict=True):
            product *= repeated / types
        return math.pow(product, 1 / MAX_ORDER)


def repetition_signature(policy: WindowPolicy = WindowPolicy.SLIDING, window: int = WINDOW_WORDS) -> str:
    """Return what the number means, in the manner of sacreBLEU."""
    return f"RR|order:{MAX_ORDER}|window:{window}|policy:{policy}|tok:none|case:mixed|v:1"


def repetition_counts(
    sentences: Iterable[str], *, window: int = WINDOW_WORDS, policy: WindowPolicy = WindowPolicy.SLIDING
) -> RepetitionCounts:
    """Count repeated n-gram types of sentences that are split on whitespace; no n-gram crosses a sentence.

    A text that is shorter than a window is one window.

    Raises:
        ValueError: A window has no word.
    """
    if window < 1:
        raise ValueError(f"a window has at least one word, but got {window}")
    words = [(number, word) for number, sentence in enumerate(sentences) for word in sentence.split()]
    repeated, types = [0] * MAX_ORDER, [0] * MAX_ORDER
    windows = 0
    for counter in _windows(words, window, policy):
        windows += 1
        for order in range(MAX_ORDER):
            repeated[order] += counter.repeated[order]
            types[order] += len(counter.counts[order])
    return RepetitionCounts(tuple(repeated), tuple(types), windows)


class _WindowCounter:
    """How often each n-gram occurs in a window to which words are added and from which they are taken."""

    def __init__(self) -> None:
        self.counts: list[dict[tuple[str, ...], int]] = [{} for _ in range(MAX_ORDER)]
        self.repeated = [0] * MAX_ORDER

    def add(self, order: int, ngram: tuple[str, ...]) -> None:
        counts = self.counts[order]
        times = counts.get(ngram, 0) + 1
        counts[ngram] = times
        self.repeated[order] += times == 2

    def take(self, order: int, ngram: tuple[str, ...]) -> None:
        counts = self.counts[order]
        times = counts[ngram] - 1
        self.repeated[order] -= times == 1
        if times:
            counts[ngram] = times
        else:
            del counts[ngram]


def _windows(words: Sequence[tuple[int, str]], window: int, policy: WindowPolicy) -> Iterator[_WindowCounter]:
    """Yield the counts of each window."""
    counter, start = _WindowCounter(), 0
    for end in range(1, len(words) + 1):
        for order, ngram in _ngrams_ending(words, start, end):
            counter.add(order, ngram)
        if end - start == window:
            yield counter
            if policy is WindowPolicy.SIDE_BY_SIDE:
                counter, start = _WindowCounter(), end
                continue
            for order, ngram in _ngrams_starting(words, start, end):
                counter.take(order, ngram)
            start += 1
    if 0 < len(words) < window:
        yield counter


def _ngrams_ending(words: Sequence[tuple[int, str]], start: int, end: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the n-grams whose last word is the one before ``end``, in one sentence and from ``start`` on."""
    sentence = words[end - 1][0]
    for order in range(MAX_ORDER):
        first = end - 1 - order
        if first < start or words[first][0] != sentence:
            return
        yield order, tuple(word for _, word in words[first:end])


def _ngrams_starting(words: Sequence[tuple[int, str]], start: int, end: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the n-grams whose first word is the one at ``start``, in one sentence and before ``end``."""
    sentence = words[start][0]
    for order in range(MAX_ORDER):
        last = start + order
        if last >= end or words[last][0] != sentence:
            return
        yield order, tuple(word for _, word in words[start : last + 1])
