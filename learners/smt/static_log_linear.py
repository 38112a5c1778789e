"""A log-linear translator that does not learn."""

from learners.contract import Sentence, StaticSystem
from learners.smt.forest import LogLinearTranslator
from learners.smt.proposals import proposal_text


class StaticLogLinear(StaticSystem):
    """SMT-static and SMT-oracle: the Viterbi derivation under the tuned weights."""

    def __init__(self, translator: LogLinearTranslator) -> None:
        self._translator = translator

    def propose(self, sentence: Sentence) -> str:
        weights = self._translator.weights
        return proposal_text(self._translator.forest(sentence.source, weights).best(weights))
