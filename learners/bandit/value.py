"""A learned baseline: how much reward does a source sentence usually earn?

Rewards differ far more between sentences than between two translations of one: a part number is copied and earns 1, a
headline of twenty words earns little. A linear model over the words of the source learns that within a few hundred
rounds. It never looks at what was proposed, so subtracting it leaves the gradient unbiased.
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
    """Where the weight of a name is. CRC-32 is the same in every process, unlike Python's hash."""
    return zlib.crc32(name.encode()) % buckets


@dataclass(frozen=True, slots=True)
class SourceValueConfig:
    """How the value model sees a sentence and how fast it learns."""

    buckets: int = 1 << 14  # words are hashed into so many weights
    learning_rate: float = 1.0  # share of the error that a first look corrects
    decay_exponent: float = (
        0.3  # later looks correct less: count ** -decay_exponent; slow enough to follow a learner that improves
    )
    max_length: int = 12  # sentences of this many words and more are alike to it


class SourceValue(ControlVariate):
    """Predicts the reward of a source sentence from its words and its length."""

    def __init__(self, config: SourceValueConfig = SourceValueConfig()) -> None:  # noqa: B008 (a config cannot be changed)
        self._config = config
        self._weights = np.zeros(config.buckets)
        self._looks = np.zeros(config.buckets)  # how often each weight was corrected
        self._sum, self._count = 0.0, 0

    def advantage(self, source: str, reward: float) -> float:
        features = self._features(source)
        error = reward - self._predict(features) if self._count else 0.0  # the first reward is compared with nothing
        self._sum += reward
        self._count += 1
        self._looks[features] += 1
        step = self._config.learning_rate / len(features) * self._looks[features] ** -self._config.decay_exponent
        self._weights[features] += step * error
        return error

    def identity(self) -> dict[str, Any]:
        return super().identity() | to_stored(self._config)

    def save(self) -> Snapshot:
        arrays = {"weights": self._weights.copy(), "looks": self._looks.copy()}
        return Snapshot(arrays, {"sum": self._sum, "count": self._count})

    def load(self, snapshot: Snapshot) -> None:
        self._weights, self._looks = (snapshot.arrays[name].copy() for name in ("weights", "looks"))
        self._sum, self._count = snapshot.values["sum"], snapshot.values["count"]

    def _features(self, source: str) -> npt.NDArray[np.intp]:
        """The buckets of a sentence, each once."""
        words = source.split()
        names = (f"length {min(len(words), self._config.max_length)}", *words)
        buckets = {bucket(name, self._config.buckets) for name in names}
        return np.fromiter(sorted(buckets), np.intp)

    def _predict(self, features: npt.NDArray[np.intp]) -> float:
        """The mean of all rewards, corrected by what is known of the words."""
        mean = self._sum / self._count if self._count else 0.0
        return float(np.clip(mean + self._weights[features].sum(), 0.0, 1.0))
