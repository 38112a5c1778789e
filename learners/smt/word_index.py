"""Integer ids for the words of one language."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from learners.smt.hashing import Array

UNKNOWN_ID = -1


class WordIndex:
    """A two-way mapping of words and ids; the first ids are reserved for special symbols."""

    def __init__(self, words: Sequence[str], reserved: int = 0) -> None:
        self.reserved = reserved
        self._words = list(words)
        self._ids = {word: word_id for word_id, word in enumerate(words, reserved)}

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], reserved: int = 0) -> "WordIndex":
        """Return an index of all words of a text.

        Frequent words come first, so that entries which are used together are close in memory.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls(sorted(counts, key=lambda word: (-counts[word], word)), reserved)

    def __len__(self) -> int:
        return self.reserved + len(self._words)

    def id_of(self, word: str) -> int:
        """Return the id of a word, or ``UNKNOWN_ID``."""
        return self._ids.get(word, UNKNOWN_ID)

    def ids_of(self, sentence: Sequence[str]) -> Array:
        return np.array([self.id_of(word) for word in sentence], np.int32)

    def word_of(self, word_id: int) -> str:
        return self._words[word_id - self.reserved]

    def to_array(self) -> Array:
        """Return all words as UTF-8 bytes, one word per line."""
        return np.frombuffer("\n".join(self._words).encode(), np.uint8)

    @classmethod
    def from_array(cls, data: Array, reserved: int = 0) -> "WordIndex":
        """Return the index whose ``to_array`` this is."""
        text = data.tobytes().decode()
        return cls(text.split("\n") if text else [], reserved)
