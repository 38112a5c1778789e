"""The words of one language, numbered."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from learners.smt.hashing import Array


class WordIndex:
    """WordIndex and their numbers, which start after the reserved ones."""

    def __init__(self, words: Sequence[str], reserved: int = 0) -> None:
        self.reserved = reserved
        self._words = list(words)
        self._numbers = {word: number for number, word in enumerate(words, reserved)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], reserved: int = 0) -> "WordIndex":
        """All words of a text, the most frequent first: neighbours in memory are used together."""
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls(sorted(counts, key=lambda word: (-counts[word], word)), reserved)

    def __len__(self) -> int:
        return self.reserved + len(self._words)

    def number(self, word: str) -> int:
        """The number of a word, or -1."""
        return self._numbers.get(word, -1)

    def numbers(self, sentence: Sequence[str]) -> Array:
        return np.array([self.number(word) for word in sentence], np.int32)

    def spelling(self, number: int) -> str:
        return self._words[number - self.reserved]

    def packed(self) -> Array:
        """All words as bytes."""
        return np.frombuffer("\n".join(self._words).encode(), np.uint8)

    @classmethod
    def unpacked(cls, data: Array, reserved: int = 0) -> "WordIndex":
        text = data.tobytes().decode()
        return cls(text.split("\n") if text else [], reserved)
