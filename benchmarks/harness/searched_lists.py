"""K-best lists that are searched once, so that learners can be compared or measured without the time of search."""

from functools import cache
from typing import Any

from learners.smt.forest import Derivation, Vector
from learners.smt.translator import SmtTranslator

LIST_LENGTH = 60  # the longest list of any learner


class SearchedLists:
    """A translator that searches each source once, with the tuned weights, and keeps its k best translations."""

    def __init__(self, translator: SmtTranslator) -> None:
        self.weights = translator.weights
        self.features = translator.features
        self._search = cache(lambda source: translator.forest(source, self.weights).k_best(self.weights, LIST_LENGTH))

    def forest(self, source: str, weights: Vector) -> Any:  # a part of a forest is enough for learners that rerank
        assert weights is self.weights, "only the tuned weights were searched with"
        return SearchedList(self._search(source))


class SearchedList:
    """A list of derivations, as learners ask a forest for it."""

    def __init__(self, derivations: list[Derivation]) -> None:
        self._derivations = derivations

    def best(self, weights: Vector) -> Derivation:  # noqa: ARG002 (the tuned ones)
        return self._derivations[0]

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:  # noqa: ARG002
        assert k <= LIST_LENGTH
        return self._derivations[:k]
