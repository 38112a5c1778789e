"""LinUCB (Li et al. 2010): the upper confidence bound of a linear model of the reward, one for each arm."""

from collections.abc import Sequence

import numpy as np

from learners.bandit.ridge import OnlineRidge, Vector
from learners.snapshot import Snapshot


class LinearUcb:
    """Plays the arm with the highest bound for the features of the round.

    The bound of an arm is the reward that its ridge regression predicts, plus the uncertainty of the prediction times
    ``exploration``. Where an arm was never played, the prediction is 0 and the uncertainty is at its largest.
    """

    def __init__(self, arms: int, features: int, *, exploration: float, penalty: float) -> None:
        self._exploration = exploration
        self._regressions = [OnlineRidge(np.zeros(features), penalty) for _ in range(arms)]

    def choose(self, features: Vector) -> int:
        """Return the arm to play in a round with these features."""
        return int(np.argmax(self.bounds(features)))

    def bounds(self, features: Vector) -> Sequence[float]:
        """Return the upper confidence bound of each arm."""
        return [
            float(features @ regression.weights) + self._exploration * regression.uncertainty(features)
            for regression in self._regressions
        ]

    def observe(self, arm: int, features: Vector, reward: float) -> None:
        """Update an arm with the reward of playing it in a round with these features."""
        self._regressions[arm].observe(features, reward)

    def save(self) -> Snapshot:
        snapshot = Snapshot()
        for arm, regression in enumerate(self._regressions):
            snapshot.put(f"arm {arm}", regression.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        for arm, regression in enumerate(self._regressions):
            regression.load(snapshot.part(f"arm {arm}"))
