"""Loops: translations that repeat the same words over and over, as networks do when they lose the thread.

Sentence BLEU may pay for a loop, because it forgives length. A text can repeat itself for good reasons ("very very very
good", a line of dashes), but then its source does so, too. So a translation loops if it repeats an n-gram in a row,
more often than people do, and more often than its source repeats any.
"""

import re
from collections.abc import Sequence

MAX_SHORT_NGRAM = 2  # words: so few stand twice in a row in references now and then ("drag on on friday", "% s % s")
MIN_SHORT_REPEATS = 3
MIN_LONG_REPEATS = 2  # longer n-grams hardly ever do
MAX_NGRAM = 32  # words of the longest n-gram that is looked for
_LOOP_OF_LETTERS = re.compile(r"([^\W\d_]{2,8}?)\1{3,}")  # within a word, from subwords: "shirtirtirtirt"


def is_loop(source: str, translation: str) -> bool:
    """Return whether a translation repeats itself over and over where its source does not.

    Args:
        source: The source sentence. Both texts are split on whitespace.
        translation: A translation of it.
    """
    words = translation.split()
    short = _max_repeats(words, 1, MAX_SHORT_NGRAM)
    long = _max_repeats(words, MAX_SHORT_NGRAM + 1, MAX_NGRAM)
    is_repetitive = short >= MIN_SHORT_REPEATS or long >= MIN_LONG_REPEATS
    if is_repetitive and max(short, long) > _max_repeats(source.split(), 1, MAX_NGRAM):
        return True
    return any(loop.group() not in source for loop in _LOOP_OF_LETTERS.finditer(translation))


def max_repeats(words: Sequence[str], n: int) -> int:
    """Return how many times in a row the most repeated n-gram occurs; 1 if none is repeated.

    Raises:
        ValueError: There is no such n-gram.
    """
    if n < 1:
        raise ValueError(f"an n-gram has at least one word, but got {n}")
    longest = run = 0  # words in a row that are equal to the word n positions before
    for word, before in zip(words[n:], words, strict=False):
        run = run + 1 if word == before else 0
        longest = max(longest, run)
    return 1 + longest // n


def _max_repeats(words: Sequence[str], min_order: int, max_order: int) -> int:
    orders = range(min_order, min(max_order, len(words) // 2) + 1)  # a longer n-gram does not fit twice
    return max((max_repeats(words, n) for n in orders), default=1)
