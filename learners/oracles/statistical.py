"""Full information for the statistical learner: the rewards of all candidates in place of one."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.gradient import GradientLearner
from learners.contract import Sentence
from learners.references import PhaseReferences
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.proposals import proposal_text
from learners.smt.target_ngrams import CandidateList, TargetNgramConfig, score_candidates


@dataclass(frozen=True, kw_only=True)
class FullInformationConfig(TargetNgramConfig):
    """Candidates, features and steps as in SMT-EL-WORDS."""

    reward_temperature: float = 0.3  # of the softmax of rewards; infinite for expected reward


class FullInformationReranker(GradientLearner):
    """SMT-full-information: proposes the best candidate, and learns target n-gram weights from all rewards.

    The objective is ``temperature * log E[exp(reward / temperature)]``, the expectation over the candidates. At high
    temperatures it is the expected reward, at low ones the highest: then even improbable candidates teach.
    """

    def __init__(
        self, translator: LogLinearTranslator, references: PhaseReferences, config: FullInformationConfig, *, seed: int
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
        gradient = soft_maximum_gradient(candidates, np.array(rewards), self._config.reward_temperature)
        self._vector.grad.index_add_(0, torch.from_numpy(candidates.indices), torch.from_numpy(gradient))
        self._optimiser.step()


def soft_maximum_gradient(candidates: CandidateList, rewards: Vector, temperature: float) -> Vector:
    """Return the gradient of ``-temperature * log E[exp(reward / temperature)]`` by the weights of n-grams."""
    tilted = replace(candidates, scores=candidates.scores + rewards / temperature)
    gradient: Vector = -temperature * ((tilted.probabilities() - candidates.probabilities()) @ candidates.counts)
    return gradient
