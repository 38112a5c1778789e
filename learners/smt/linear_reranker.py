"""A linear model of the reward over bigrams, with a diagonal Gaussian posterior: it needs no exact rewards.

It predicts the reward minus the value of the source, a small regression on what the search says of its candidates:
without that, every bigram of an easy sentence would look good.
"""

from dataclasses import dataclass

import numpy as np

from learners.bandit.ridge import OnlineRidge
from learners.smt.candidate_words import CandidateWords, feature_scores
from learners.smt.hashing import Array, compiled
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class LinearConfig:
    """The posterior, and how much a candidate's score depends on it."""

    weight_scale: float = 2.0  # on the tuned weights
    prior_variance: float = 0.01  # of each weight before anything was seen; smaller learns more slowly
    noise_variance: float = 0.1  # of a reward around its prediction; larger for perturbed feedback
    exploration: float = 0.1  # standard deviations of the prediction that are added to it
    value_penalty: float = 1.0  # of the regression of the source's value
    buckets: int = 1 << 20  # bigrams are hashed into this many weights; a power of two


class LinearReranker:
    """Scores candidates, and learns from the reward of the one that was played."""

    def __init__(self, config: LinearConfig) -> None:
        self._config = config
        self._mean = np.zeros(config.buckets)
        self._variance = np.full(config.buckets, config.prior_variance)
        self._value = OnlineRidge(np.zeros(len(source_features(np.zeros(1), 1))), config.value_penalty)

    def scores(self, candidates: CandidateWords, model_scores: Array) -> Array:
        """Return the score of each candidate: the seed model's, the predicted reward, and a bonus for the unknown."""
        config = self._config
        width = np.sqrt(feature_scores(candidates, self._variance))
        predicted = feature_scores(candidates, self._mean)
        scores: Array = config.weight_scale * model_scores + predicted + config.exploration * width
        return scores

    def learn(self, candidates: CandidateWords, model_scores: Array, played: int, reward: float) -> None:
        """Update the posterior and the value of the source with one reward."""
        features = source_features(model_scores, int(candidates.starts[1]))
        value = float(features @ self._value.weights)
        predicted = _update(candidates, played, self._mean, self._variance, reward - value, self._config.noise_variance)
        self._value.observe(features, reward - predicted)

    def save(self) -> Snapshot:
        touched = np.flatnonzero(self._variance != self._config.prior_variance)
        arrays = {"touched": touched, "mean": self._mean[touched], "variance": self._variance[touched]}
        snapshot = Snapshot(arrays)
        snapshot.put("value", self._value.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        touched = snapshot.arrays["touched"]
        self._mean[:], self._variance[:] = 0.0, self._config.prior_variance
        self._mean[touched], self._variance[touched] = snapshot.arrays["mean"], snapshot.arrays["variance"]
        self._value.load(snapshot.part("value"))


def source_features(model_scores: Array, length: int) -> Array:
    """Return what the list says of its source: its length, the best score per word, and the gap to the second best."""
    gap = model_scores[0] - model_scores[1] if len(model_scores) > 1 else 0.0
    words = max(length, 1)
    return np.array([1.0, np.log(words), float(words == 1), model_scores[0] / words, gap])


@compiled
def _update(
    candidates: CandidateWords, played: int, mean: Array, variance: Array, target: float, noise: float
) -> float:
    """Move the posterior of the played candidate's features towards a target; return what was predicted before."""
    mask, starts = len(mean) - 1, candidates.starts
    first, end = starts[played] + played, starts[played + 1] + played + 1
    predicted, total = 0.0, noise
    for k in range(first, end):
        predicted += mean[candidates.features[k] & mask]
        total += variance[candidates.features[k] & mask]
    for k in range(first, end):
        feature = candidates.features[k] & mask
        gain = variance[feature] / total
        mean[feature] += gain * (target - predicted)
        variance[feature] -= gain * variance[feature]
    return predicted
