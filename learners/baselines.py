"""Translators without a model: they copy the source, or look up each word. They are the floor for all others."""

from collections.abc import Mapping

from learners.contract import PLACEHOLDER, Sentence, StaticSystem, truncate_to_limit


class CopySource(StaticSystem):
    """Proposes the source itself: the floor that every translator must exceed (Sokolov et al. 2017, Table 3)."""

    def propose(self, sentence: Sentence) -> str:
        return truncate_to_limit(sentence.source).strip() or PLACEHOLDER


class WordForWord(StaticSystem):
    """Translates each word by itself, in the order of the source, and copies unknown words."""

    def __init__(self, dictionary: Mapping[str, str]) -> None:
        self._dictionary = dictionary

    def propose(self, sentence: Sentence) -> str:
        words = (self._dictionary.get(word, word) for word in sentence.source.split())
        return truncate_to_limit(" ".join(words)).strip() or PLACEHOLDER
