"""Estimators of what a policy would earn, from what another one was logged to earn (Lawrence et al. 2017).

A log says what a translation earned, for the translations that were logged only. An estimator weights each reward by
how much the new policy likes the logged translation. It is a differentiable function of the log-probabilities of these
translations, so that it can be maximised. All of it is computed in log space: a sentence of twenty words has a
probability that single precision cannot hold.

Three degeneracies are inherent, and tests show them:

- IPS and DPM with rewards that are never negative grow with the probability of every logged translation, bad ones too.
- The reweighted estimators are largest where only the best logged translation keeps any probability.
- Reweighting within a batch of one round says nothing: the value is the reward, and the gradient is zero.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from torch import Tensor


class Method(StrEnum):
    """The estimators that a policy can be trained by."""

    IPS = "ips"  # inverse propensity scoring
    SNIPS = "snips"  # the same, self-normalised
    DPM = "dpm"  # deterministic propensity matching: every propensity is taken for 1
    DPM_R = "dpm-r"  # the same, reweighted
    OSL = "osl"  # one-step-late reweighting: normalised by the mean probability under earlier parameters
    DC = "dc"  # doubly controlled: DPM-R plus a reward model for all other translations
    C_DC = "c-dc"  # the same with the optimal weight of the reward model
    DR = "dr"  # doubly robust: IPS plus a reward model

    @property
    def needs_propensities(self) -> bool:
        """Whether the logged probabilities must be known."""
        return self in (Method.IPS, Method.SNIPS, Method.DR)

    @property
    def needs_reward_model(self) -> bool:
        return self in (Method.DC, Method.C_DC, Method.DR)


@dataclass(frozen=True, kw_only=True)
class LoggedBatch:
    """What estimators see of a minibatch; all tensors are [rounds]."""

    rewards: Tensor
    log_pi: Tensor  # log-probability of the logged translation under the policy, with torch's graph
    log_mu: Tensor | None = None  # under the system that logged it
    predicted: Tensor | None = None  # reward of the logged translation by the reward model
    expected: Tensor | None = None  # reward that the model expects of the policy, with torch's graph
    log_normaliser: float = 0.0  # of OSL: log of the mean probability under earlier parameters
    max_weight: float = math.inf  # of IPS, SNIPS and DR: a larger weight is cut to this


def estimate(method: Method, batch: LoggedBatch) -> Tensor:
    """Return the estimated reward per round, a scalar with torch's graph."""
    match method:
        case Method.IPS:
            return (batch.rewards * importance_weights(batch)).mean()
        case Method.SNIPS:
            return batch.rewards @ _log_importance_weights(batch).softmax(0)
        case Method.DPM:
            return (batch.rewards * batch.log_pi.exp()).mean()
        case Method.DPM_R:
            return batch.rewards @ batch.log_pi.softmax(0)
        case Method.OSL:
            return (batch.rewards * (batch.log_pi - batch.log_normaliser).exp()).mean()
        case Method.DC:
            return _doubly_controlled(batch, 1.0)
        case Method.C_DC:
            return _doubly_controlled(batch, control_scale(batch))
        case Method.DR:
            predicted, expected = _reward_model(batch)
            return ((batch.rewards - predicted) * importance_weights(batch) + expected).mean()


def importance_weights(batch: LoggedBatch) -> Tensor:
    """Return pi / mu of each round, cut to the largest weight; where it was cut, its gradient is zero."""
    return _log_importance_weights(batch).exp()


def _log_importance_weights(batch: LoggedBatch) -> Tensor:
    if batch.log_mu is None:
        raise ValueError("importance weights need the logged probabilities")
    return (batch.log_pi - batch.log_mu).clamp(max=math.log(batch.max_weight))


def control_scale(batch: LoggedBatch) -> float:
    """Return the weight of the reward model with the least variance: Cov(r w, r' w) / Var(r' w), with weights w.

    It is a constant of the batch, not a function of the parameters. With too few rounds to tell, it is 1.
    """
    predicted, _ = _reward_model(batch)
    weights = len(batch.rewards) * batch.log_pi.detach().softmax(0)
    logged, modelled = batch.rewards * weights, predicted * weights
    spread = modelled - modelled.mean()
    variance = float(spread @ spread)
    return float((logged - logged.mean()) @ spread) / variance if variance > 0 else 1.0


def _doubly_controlled(batch: LoggedBatch, scale: float) -> Tensor:
    predicted, expected = _reward_model(batch)
    return (batch.rewards - scale * predicted) @ batch.log_pi.softmax(0) + scale * expected.mean()


def _reward_model(batch: LoggedBatch) -> tuple[Tensor, Tensor]:
    if batch.predicted is None or batch.expected is None:
        raise ValueError("this estimator needs a reward model")
    return batch.predicted, batch.expected


def effective_sample_size(weights: Tensor) -> float:
    """Return how many rounds with equal weights would say as much: (sum w)^2 / sum w^2; 0 if all weights are 0."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares else 0.0
