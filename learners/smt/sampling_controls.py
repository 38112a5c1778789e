"""Sampling from a log-linear model without learning: the controls of the learners that sample."""

import numpy as np

from learners.contract import Proposal
from learners.sampling_control import SamplingControl
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.log_linear_learners import LogLinearExpectedLossConfig
from learners.smt.proposals import proposal_text, sampled_proposal
from learners.smt.target_ngrams import TargetNgramConfig, sample_candidate, score_candidates


class ForestSampling(SamplingControl):
    """SMT-sampling: samples derivations as LogLinearExpectedLossLearner does."""

    def __init__(self, translator: LogLinearTranslator, config: LogLinearExpectedLossConfig, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._translator = translator
        self._weights: Vector = config.weight_scale * translator.weights
        self._schedule = config.schedule

    def _sample(self, source: str, round_number: int) -> str | Proposal:
        forest = self._translator.forest(source, self._weights)
        if self._schedule.is_frozen(round_number):
            return proposal_text(forest.best(self._weights))
        weights = self._weights / self._schedule.temperature_at(round_number)
        derivation = forest.sample(weights, self._rng)
        return sampled_proposal(derivation, forest.log_probability(derivation.translation, weights))


class KBestSampling(SamplingControl):
    """SMT-k-best-sampling: samples candidates as TargetNgramLearner does."""

    def __init__(self, translator: LogLinearTranslator, config: TargetNgramConfig, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._translator = translator
        self._config = config
        self._ngram_weights = np.zeros(config.buckets)

    def _sample(self, source: str, round_number: int) -> Proposal:  # noqa: ARG002 (the same in every round)
        candidates = score_candidates(self._translator, source, self._config, self._ngram_weights)
        return sample_candidate(candidates, self._rng)[1]
