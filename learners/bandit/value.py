"""A learned baseline: the reward that a source sentence is expected to earn.

Rewards differ far more between sentences than between two translations of one sentence: a part number is copied and
earns 1, a headline of twenty words earns little. A linear model over the words of the source learns that within a few
hundred rounds. It does not depend on the proposal, so that subtracting it leaves the gradient unbiased.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from learners.bandit.control_variates import ControlVariate
from learners.snapshot import Snapshot
from learners.stored_names import to_stored


def bucket(name: str, buckets: int) -> int:
    """Return the index of a feature's weight. CRC-32 is the same in every process, unlike Python's hash."""
    return zlib.crc32(name.encode()) % buckets


@dataclass(frozen=True, slots=True)
class SourceValueConfig:
    """Features and learning rate of the value model."""

    buckets: int = 1 << 14  # number of weights that words are hashed into
    learning_rate: float = 1.0  # share of the error that the first update of a weight corrects
    decay_exponent: float = 0.3  # the n-th corrects n ** -0.3 of that: slow enough to follow a learner that improves
    max_length: int = 12  # words: longer sentences share one length feature


class SourceValue(ControlVariate):
    """Predicts the reward of a source sentence from its words and its length."""

    def __init__(self, config: SourceValueConfig = SourceValueConfig()) -> None:  # noqa: B008 (cannot be changed)
        self._config = config
        self._weights = np.zeros(config.buckets)
        self._updates = np.zeros(config.buckets)  # number of updates of each weight
        self._sum, self._count = 0.0, 0

    def advantage(self, source: str, reward: float) -> float:
        features = self._features(source)
        error = reward - self._predict(features) if self._count else 0.0  # the first reward has an advantage of 0
        self._sum += reward
        self._count += 1
        self._updates[features] += 1
        step = self._config.learning_rate / len(features) * self._updates[features] ** -self._config.decay_exponent
        self._weights[features] += step * error
        return error

    def identity(self) -> dict[str, Any]:
        return super().identity() | to_stored(self._config)

    def save(self) -> Snapshot:
        arrays = {"weights": self._weights.copy(), "looks": self._updates.copy()}
        return Snapshot(arrays, {"sum": self._sum, "count": self._count})

    def load(self, snapshot: Snapshot) -> None:
        self._weights, self._updates = (snapshot.arrays[name].copy() for name in ("weights", "looks"))
        self._sum, self._count = snapshot.values["sum"], snapshot.values["count"]

    def _features(self, source: str) -> npt.NDArray[np.intp]:
        """Return the buckets of a sentence's words and of its length, each once."""
        words = source.split()
        names = (f"length {min(len(words), self._config.max_length)}", *words)
        buckets = {bucket(name, self._config.buckets) for name in names}
        return np.fromiter(sorted(buckets), np.intp)

    def _predict(self, features: npt.NDArray[np.intp]) -> float:
        """Return the mean of all rewards, corrected by the weights of the features."""
        mean = self._sum / self._count if self._count else 0.0
        return float(np.clip(mean + self._weights[features].sum(), 0.0, 1.0))
