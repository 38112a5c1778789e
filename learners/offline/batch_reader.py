"""What an estimator sees of logged rounds: probabilities under a policy, and rewards that a model predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from learners.offline.estimators import LoggedBatch
from learners.offline.logged_round import LoggedRound
from learners.offline.policies import Policy
from learners.offline.reward_model import RewardModel


@dataclass(frozen=True, slots=True)
class PreparedRound:
    """A logged round that the policy can produce, as the policy reads it."""

    logged: LoggedRound
    prepared: Any


@dataclass(frozen=True)
class BatchReader:
    """Turns logged rounds into batches for an estimator."""

    policy: Policy
    reward_model: RewardModel | None
    reads_propensities: bool
    max_weight: float

    def prepare(self, rounds: Sequence[LoggedRound]) -> list[PreparedRound]:
        """Return the rounds whose translations the policy can produce."""
        ready = ((each, self.policy.prepare(each)) for each in rounds)
        return [PreparedRound(each, prepared) for each, prepared in ready if prepared is not None]

    def read(
        self, rounds: Sequence[PreparedRound], rng: np.random.Generator, *, log_normaliser: float = 0.0
    ) -> LoggedBatch:
        """Return a batch with torch's graph. ``rng`` draws the samples of expected rewards."""
        logged = [each.logged for each in rounds]
        prepared = [each.prepared for each in rounds]
        log_pi = self.policy.log_probabilities(prepared)
        model = self.reward_model
        return LoggedBatch(
            rewards=torch.tensor([each.reward for each in logged]).to(log_pi),
            log_pi=log_pi,
            log_mu=torch.tensor([each.log_probability for each in logged]).to(log_pi)
            if self.reads_propensities
            else None,
            predicted=None if model is None else _predictions(model, logged).to(log_pi),
            expected=None if model is None else self.policy.expected_rewards(prepared, model, rng).to(log_pi),
            log_normaliser=log_normaliser,
            max_weight=self.max_weight,
        )

    @torch.no_grad()
    def read_all(self, rounds: Sequence[PreparedRound], size: int, rng: np.random.Generator) -> LoggedBatch:
        """Return all rounds as one batch without a graph, read in parts of at most ``size``."""
        parts = [self.read(rounds[start : start + size], rng) for start in range(0, len(rounds), size)]
        return LoggedBatch(
            rewards=torch.cat([part.rewards for part in parts]),
            log_pi=torch.cat([part.log_pi for part in parts]),
            log_mu=_join([part.log_mu for part in parts]),
            predicted=_join([part.predicted for part in parts]),
            expected=_join([part.expected for part in parts]),
            max_weight=self.max_weight,
        )


def _predictions(model: RewardModel, logged: Sequence[LoggedRound]) -> Tensor:
    return torch.cat([model.predict(each.source, [each.translation]) for each in logged])


def _join(parts: Sequence[Tensor | None]) -> Tensor | None:
    known = [part for part in parts if part is not None]
    return torch.cat(known) if known else None
