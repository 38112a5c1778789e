"""Features of a source sentence, by which a contextual bandit chooses a system. They need no model and no language."""

import math
from collections.abc import Sequence

import numpy as np

from learners.bandit.ridge import Vector

NAMES = ("constant", "length", "word length", "words with digits", "capitalised words", "punctuation", "repeated words")
LONG_SENTENCE, LONG_WORD = 50, 10  # words, and characters per word, at which a feature is about 1


def source_features(source: str) -> Vector:
    """Return one number for each of ``NAMES``, all of about the same size; those of an empty source are mostly 0."""
    words = source.split()
    return np.array(
        [
            1.0,
            math.log1p(len(words)) / math.log1p(LONG_SENTENCE),
            sum(map(len, words)) / LONG_WORD / max(1, len(words)),
            _share([any(map(str.isdigit, word)) for word in words]),
            _share([word[0].isupper() for word in words]),
            _share([not any(map(str.isalnum, word)) for word in words]),
            1 - len(set(words)) / max(1, len(words)) if words else 0.0,
        ]
    )


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
