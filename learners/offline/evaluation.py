"""Off-policy evaluation: what a system would have earned in the rounds that another system logged.

The system proposes a translation of each logged source. Where it proposes the logged translation, the logged reward is
its own. These rounds are weighted by the inverse of the probability with which they were logged, so that they stand for
all rounds. Whether it proposes the logged translation is an unbiased estimate of the probability that it would: so this
needs nothing but proposals, and holds for systems that sample, too.

A system that learns receives the reward of the rounds in which it agreed, and of no others (Li et al. 2011).

Elsewhere a reward model says what the proposal would have earned. It is fitted to one half of the sources and asked
about the other, because it knows by heart what it was fitted to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from leaderboard.metrics.significance import RESAMPLES, default_block_length
from learners.contract import Feedback, Learner, Sentence, as_proposal
from learners.offline.estimators import effective_sample_size
from learners.offline.logged_round import LogError, LoggedRound, split_by_source, with_probability
from learners.offline.reward_model import RewardModel

MIN_ROUNDS = 20
CONFIDENCE = 0.95

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated reward per round, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OffPolicyEvaluation:
    """What a system would have earned, by each estimator; None where it says nothing."""

    rounds: int
    logged: float  # the mean logged reward
    matches: int  # rounds in which the system proposed the logged translation
    effective_rounds: float  # effective sample size of their weights
    ips: Estimate | None  # inverse propensity scoring
    snips: Estimate | None  # self-normalised; without probabilities, the mean reward where both agree
    direct: Estimate  # the reward model alone; its interval does not contain the error of the model
    doubly_robust: Estimate


class OffPolicyEvaluator:
    """A log, prepared for the evaluation of any number of systems."""

    def __init__(self, rounds: Sequence[LoggedRound], *, seed: int = 0) -> None:
        """Fit the reward model.

        Args:
            rounds: The log, in the order in which it was played. If probabilities are known for a part of it, only
                this part is used. If they are known for none, the log is taken for that of a deterministic system.
            seed: Of the halves that the reward model is fitted to.

        Raises:
            LogError: There are too few rounds.
        """
        known = with_probability(rounds)
        self.is_deterministic = not known
        self.rounds = known or list(rounds)
        self.left_out = len(rounds) - len(self.rounds)
        if len(self.rounds) < MIN_ROUNDS:
            raise LogError(f"an evaluation needs at least {MIN_ROUNDS} logged rounds, but there are {len(self.rounds)}")
        halves = split_by_source(self.rounds, 0.5, seed=seed)
        if min(map(len, halves)) < 2:
            raise LogError("an evaluation needs rounds of more sources: a reward model is fitted to one half of them")
        for_second, for_first = (RewardModel.fit(half, seed=seed) for half in halves)
        self._models = dict.fromkeys((each.source for each in halves[0]), for_first)
        self._models |= dict.fromkeys((each.source for each in halves[1]), for_second)
        self._rewards = np.array([each.reward for each in self.rounds])
        self._inverse = np.exp([-(each.log_probability or 0.0) for each in self.rounds])
        self._predicted = self._predict([each.translation for each in self.rounds])

    def evaluate(self, learner: Learner, watch: Callable[[int], None] = lambda _: None) -> OffPolicyEvaluation:
        """Return what a learner would have earned.

        Args:
            learner: A system before its first round.
            watch: Called with 1 after each round.
        """
        proposed = []
        for each in self.rounds:
            sentence = Sentence(each.source)
            proposed.append(as_proposal(learner.propose(sentence)).translation)
            if proposed[-1] == each.translation:
                learner.update(sentence, each.translation, Feedback(each.reward))
            watch(1)
        matched = np.array([text == each.translation for text, each in zip(proposed, self.rounds, strict=True)])
        weights = np.where(matched, self._inverse, 0.0)
        direct = self._predict(proposed)
        ones = np.ones_like(weights)
        return OffPolicyEvaluation(
            len(self.rounds),
            float(self._rewards.mean()),
            int(matched.sum()),
            effective_sample_size(torch.from_numpy(weights)),
            None if self.is_deterministic else _ratio(weights * self._rewards, ones),
            _ratio(weights * self._rewards, weights) if matched.any() else None,
            _ratio(direct, ones),
            _ratio(direct + weights * (self._rewards - self._predicted), ones),
        )

    def _predict(self, translations: Sequence[str]) -> Vector:
        predictions = [
            self._models[each.source].predict(each.source, [text])
            for each, text in zip(self.rounds, translations, strict=True)
        ]
        return torch.cat(predictions).double().numpy()


def _ratio(numerators: Vector, denominators: Vector, *, seed: int = 0) -> Estimate:
    """Return the ratio of two sums over rounds, with an interval by a bootstrap over blocks of neighbouring rounds."""
    starts = np.arange(0, len(numerators), default_block_length(len(numerators)))
    above, below = np.add.reduceat(numerators, starts), np.add.reduceat(denominators, starts)
    draws = np.random.default_rng(seed).multinomial(len(starts), np.full(len(starts), 1 / len(starts)), RESAMPLES)
    totals = draws @ below
    ratios = (draws @ above)[totals > 0] / totals[totals > 0]
    low, high = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(numerators.sum() / denominators.sum()), float(low), float(high))
