"""Splitting of compounds and hyphenated words into words that the training text has (Koehn and Knight 2003).

*Druckerwarteschlangen* is in no small text, but *Drucker*, *Warte* and *Schlange* are. On German text most unknown
words are compounds, and an unknown word costs more reward than any other error. A word is split if the training text
does not have it, or has it so rarely that its parts are translated better; the same rule holds for the training text
itself, so that a model learns from the words that it will see.

Some parts are unknown all the same, such as those of names. A translation model copies them, and ``rejoin`` puts the
word together again where its parts are copied side by side.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from learners.stored_names import from_stored, to_stored

Array = npt.NDArray[Any]

# Letters between the parts of a compound, by language; none elsewhere. Without them, a part is a whole word.
FILLERS = {
    "de": ("s", "es", "n", "en", "er", "e"),
    "nl": ("s", "e", "en", "er"),
    "sv": ("s",),
    "da": ("s", "e"),
    "nb": ("s", "e"),
    "no": ("s", "e"),
}
# Endings in which two forms of a word may differ, by language.
ENDINGS = {
    "de": ("", "e", "n", "s", "en", "er", "es", "em", "ern"),
    "nl": ("", "e", "s", "en"),
    "sv": ("", "a", "s", "n", "en", "er", "ar", "na"),
    "da": ("", "e", "s", "n", "en", "er", "ne"),
    "nb": ("", "e", "s", "n", "en", "er", "ne"),
    "no": ("", "e", "s", "n", "en", "er", "ne"),
}
HYPHEN = "-"
CACHE_SIZE = 1 << 17  # words


@dataclass(frozen=True, kw_only=True)
class SplitterConfig:
    """Which words are split, and into what."""

    max_count: int = 5  # in the training text, of a compound that is split
    max_hyphenated_count: int = 50  # of a hyphenated word that is split: its parts are words in any case
    min_compound_letters: int = 7
    min_part_letters: int = 4  # shorter words are parts of too many others
    min_part_count: int = 2  # in the training text, of the parts of an unknown word
    min_part_count_of_known: int = 5  # of the parts of a known word: it has a translation of its own to lose
    max_parts: int = 4


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence after splitting, and the words that translations may copy in parts."""

    text: str
    copied: Mapping[tuple[str, ...], str]  # words by their parts, of which at least one is unknown

    def rejoin(self, translation: str) -> str:
        """Return a translation in which words whose parts were copied side by side are whole again."""
        if not self.copied:
            return translation
        tokens, joined, at = translation.split(), [], 0
        while at < len(tokens):
            parts = next((parts for parts in self.copied if tuple(tokens[at : at + len(parts)]) == parts), ())
            joined.append(self.copied[parts] if parts else tokens[at])
            at += len(parts) or 1
        return " ".join(joined)

    def separate(self, translation: str) -> str:
        """Return what ``rejoin`` was given, unless the translation had a whole word before."""
        parts_of = {word: parts for parts, word in self.copied.items()}
        return " ".join(part for word in translation.split() for part in parts_of.get(word, (word,)))


class CompoundSplitter:
    """Splits the words of one language by their counts in a training text."""

    def __init__(self, counts: Mapping[str, int], language: str, config: SplitterConfig | None = None) -> None:
        self.language = language
        self.config = config or SplitterConfig()
        self._counts = dict(counts)
        self._fillers = ("", *FILLERS.get(language, ()))
        self._endings = ENDINGS.get(language, ("",))
        self._parts = lru_cache(CACHE_SIZE)(self._split_word)

    @classmethod
    def learn(cls, sentences: Iterable[str], language: str, config: SplitterConfig | None = None) -> "CompoundSplitter":
        """Return a splitter with the words of a tokenised text, and with the pieces of its hyphenated words."""
        counts = Counter(word for sentence in sentences for word in sentence.split())
        pieces: Counter[str] = Counter()
        for word, count in counts.items():
            for piece in _hyphenated_pieces(word):
                pieces[piece] += count
        return cls(counts + pieces, language, config)

    def split(self, sentence: str) -> SplitSentence:
        """Return the sentence with its compounds and hyphenated words in parts."""
        tokens: list[str] = []
        copied = {}
        for word in sentence.split():
            parts = self._parts(word)
            tokens += parts
            if len(parts) > 1 and not all(map(self._counts.__contains__, parts)):
                copied[parts] = word
        return SplitSentence(" ".join(tokens), copied)

    def _split_word(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word, or the word alone."""
        count, config = self._counts.get(word, 0), self.config
        if (pieces := _hyphenated_pieces(word)) and count <= config.max_hyphenated_count:
            return tuple(part for piece in pieces for part in self._split_word(piece))
        if not word.isalpha() or count > config.max_count:
            return (word,)
        if not count:
            return self._known_form(word, config.min_part_count) or self._best_split(word, inflected=True) or (word,)
        return self._best_split(word, inflected=False) or (word,)

    def _best_split(self, word: str, *, inflected: bool) -> tuple[str, ...]:
        """Return the fewest known parts that make up a word, of several the most frequent ones; () if none do.

        If ``inflected``, the last part may be another form of a known word.
        """
        config = self.config
        if len(word) < config.min_compound_letters:
            return ()
        min_count = config.min_part_count if inflected else config.min_part_count_of_known
        # by where the parts end: the best parts so far, by their number and the sum of the logarithms of their counts
        best: dict[int, tuple[tuple[int, float], tuple[str, ...]]] = {0: ((0, 0.0), ())}
        for start in range(len(word)):
            if start not in best or len(best[start][1]) == config.max_parts:
                continue
            (number, total), parts = best[start]
            for end in range(start + config.min_part_letters, len(word) + (start > 0)):
                is_last = end == len(word)
                found = self._spelling(word[start:end], min_count)
                if not found and is_last and inflected:
                    found = self._known_form(word[start:end], min_count)
                if not found:
                    continue
                rank = (number - 1, total + math.log(self._counts[found[0]]))
                for following in (end,) if is_last else self._after_fillers(word, end):
                    if following not in best or rank > best[following][0]:
                        best[following] = rank, (*parts, *found)
        return best[len(word)][1] if len(word) in best else ()

    def _after_fillers(self, word: str, end: int) -> list[int]:
        """Return where the next part may begin, after each filler that fits; a filler does not end a word."""
        following = (end + len(filler) for filler in self._fillers if word.startswith(filler, end))
        return [start for start in following if start < len(word)]

    def _spelling(self, piece: str, min_count: int) -> tuple[str, ...]:
        """Return the most frequent spelling of a part: inside a compound, nouns have no capital."""
        spellings = {piece, piece.lower(), piece.capitalize()}
        known = [one for one in spellings if self._counts.get(one, 0) >= min_count]
        return (max(known, key=lambda one: (self._counts[one], one)),) if known else ()

    def _known_form(self, piece: str, min_count: int) -> tuple[str, ...]:
        """Return the most frequent known word that differs from a piece in its ending or its capital alone."""
        found = set()
        for ending in self._endings:
            stem = piece.removesuffix(ending) if ending else piece
            if piece.endswith(ending) and len(stem) >= self.config.min_part_letters:
                found |= {word for other in self._endings for word in self._spelling(stem + other, min_count)}
        return (max(found, key=lambda one: (self._counts[one], one)),) if found else ()

    def to_values(self) -> dict[str, Any]:
        """Return the language and the config for a model file."""
        return {"language": self.language, "config": to_stored(self.config)}

    def to_arrays(self) -> dict[str, Array]:
        """Return the words and their counts as named arrays for a model file."""
        return {
            "splitter_words": np.frombuffer("\n".join(self._counts).encode(), np.uint8),
            "splitter_counts": np.array(list(self._counts.values()), np.int64),
        }

    @classmethod
    def from_stored(cls, values: Mapping[str, Any] | None, arrays: Mapping[str, Array]) -> "CompoundSplitter | None":
        """Return the splitter of a model file; None if the file has none."""
        if values is None:
            return None
        text = arrays["splitter_words"].tobytes().decode()
        words = text.split("\n") if text else []
        counts = dict(zip(words, arrays["splitter_counts"].tolist(), strict=True))
        return cls(counts, values["language"], from_stored(SplitterConfig, values["config"]))


def _hyphenated_pieces(word: str) -> list[str]:
    """Return the pieces of a hyphenated word whose last piece is a word; [] for any other, such as ``iso-8859-2``.

    An option of a command begins with a hyphen, and is copied as it is.
    """
    pieces = word.split(HYPHEN)
    is_compound = len(pieces) > 1 and pieces[0] and pieces[-1].isalpha()
    return [piece for piece in pieces if piece] if is_compound else []
