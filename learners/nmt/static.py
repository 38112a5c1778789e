"""A translator that does not learn."""

from functools import lru_cache

from learners.contract import StaticSystem
from learners.nmt.translator import Translator

REMEMBERED = 65_536  # translations: product texts repeat themselves, and a beam takes its time


class StaticTranslator(StaticSystem):
    """Translates greedily, or with a beam; what comes again gets the same answer at once."""

    def __init__(self, translator: Translator, *, beam: int = 1) -> None:
        self._translator = translator
        self._beam = beam
        self._committee = translator.ensemble() if beam > 1 else None
        self._answer = lru_cache(REMEMBERED)(self._translate)

    def propose(self, source: str) -> str:
        return self._answer(source)

    def _translate(self, source: str) -> str:
        if self._beam == 1:
            return self._translator.greedy(source).text
        return self._translator.beam(source, self._beam, self._committee).text
