"""A log-linear translator that does not learn."""

from learners.contract import PLACEHOLDER, Sentence, StaticSystem, truncate_to_limit
from learners.smt.forest import Derivation, LogLinearTranslator


def proposal_text(derivation: Derivation) -> str:
    """Return the text to propose: never empty, and within the length limit of the protocol."""
    return truncate_to_limit(derivation.translation.strip()) or PLACEHOLDER


class StaticLogLinear(StaticSystem):
    """SMT-static and SMT-oracle: the Viterbi derivation under the tuned weights."""

    def __init__(self, translator: LogLinearTranslator) -> None:
        self._translator = translator

    def propose(self, sentence: Sentence) -> str:
        weights = self._translator.weights
        return proposal_text(self._translator.forest(sentence.source, weights).best(weights))
