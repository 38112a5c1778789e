"""A translator that does not learn."""

from learners.contract import StaticSystem
from learners.nmt.translator import Translator


class StaticTranslator(StaticSystem):
    """Translates greedily, or with a beam."""

    def __init__(self, translator: Translator, *, beam: int = 1) -> None:
        self._translator = translator
        self._beam = beam

    def propose(self, source: str) -> str:
        if self._beam == 1:
            return self._translator.greedy(source).text
        return self._translator.beam(source, self._beam).text
