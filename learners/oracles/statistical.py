"""Full information for the statistical learners: the rewards of all candidates in place of one."""

import numpy as np
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.gradient import GradientLearner
from learners.contract import Sentence
from learners.references import PhaseReferences
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.hashing import Array
from learners.smt.proposals import proposal_text
from learners.smt.reranking_learners import ImputationConfig, ImputingLearner, RankedList
from learners.smt.target_ngrams import CandidateList, TargetNgramConfig, score_candidates


class FullInformationReranker(GradientLearner):
    """SMT-full-information: plays the best candidate, and lowers the expected loss over all of them.

    The gradient is exact where SMT-EL-WORDS estimates it from one sample. Nothing is explored, so that the scale of the
    tuned weights can be lower than there: improbable candidates teach more, and cost nothing.
    """

    def __init__(
        self, translator: LogLinearTranslator, references: PhaseReferences, config: TargetNgramConfig, *, seed: int
    ) -> None:
        vector = torch.zeros(config.buckets, dtype=torch.float64)
        vector.grad = torch.zeros_like(vector)
        super().__init__(vector, config, NoControlVariate(), seed=seed)
        self._translator = translator
        self._references = references
        self._config = config
        self._candidates: CandidateList | None = None

    def propose(self, sentence: Sentence) -> str:
        candidates = score_candidates(self._translator, sentence.source, self._config, self._vector.numpy())
        self._candidates = candidates
        return proposal_text(candidates.derivations[int(candidates.scores.argmax())])

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the rewards of all candidates tell more)
        candidates = self._candidates
        assert candidates is not None, "feedback follows a proposal"
        assert self._vector.grad is not None, "the constructor allocates the gradient"
        rewards = self._references.rewards(self._rounds, source, map(proposal_text, candidates.derivations))
        gradient = expected_loss_gradient(candidates, np.array(rewards))
        self._vector.grad.index_add_(0, torch.from_numpy(candidates.indices), torch.from_numpy(gradient))
        self._optimiser.step()


class FullInformationImputation(ImputingLearner):
    """SMT-SPLIT-full-information: SMT-IMPUTE that sees the rewards of all candidates where that one imputes them."""

    def __init__(
        self, translator: LogLinearTranslator, references: PhaseReferences, config: ImputationConfig, *, seed: int
    ) -> None:
        super().__init__(translator, config, seed=seed)
        self._references = references

    def _estimate(self, source: str, ranked: RankedList, reward: float) -> Array:  # noqa: ARG002 (all rewards tell more)
        return np.array(self._references.rewards(self._rounds, source, map(proposal_text, ranked.derivations)))


def expected_loss_gradient(candidates: CandidateList, rewards: Vector) -> Vector:
    """Return the gradient of minus the expected reward over the candidates, by the weights of their n-grams."""
    probabilities = candidates.probabilities()
    gradient: Vector = -(probabilities * (rewards - probabilities @ rewards)) @ candidates.counts
    return gradient
