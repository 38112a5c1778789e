"""A translator that does not learn."""

from functools import lru_cache

from learners.contract import Sentence, StaticSystem
from learners.nmt.translator import Translator

CACHE_SIZE = 65_536  # translations: product texts repeat themselves, and beam search is slow


class StaticTranslator(StaticSystem):
    """Translates greedily or with a beam. A source that comes again is answered from a cache."""

    def __init__(self, translator: Translator, *, beam: int = 1) -> None:
        self._translator = translator
        self._beam = beam
        self._cached_translation = lru_cache(CACHE_SIZE)(self._translate)

    def propose(self, sentence: Sentence) -> str:
        return self._cached_translation(sentence.source)

    def _translate(self, source: str) -> str:
        if self._beam == 1:
            return self._translator.greedy(source).text
        return self._translator.beam(source, self._beam).text
