"""Online ridge regression: what reward do these features promise? (card B12)

The closed form ``v = (F'F + penalty I)^-1 F'r`` is kept up to date by rank-one updates, so a round costs d^2, not d^3.
"""

import numpy as np
import numpy.typing as npt

from learners.snapshot import Snapshot

Vector = npt.NDArray[np.float64]


class OnlineRidge:
    """A linear model of the reward, fitted to all that was observed so far and pulled towards a prior."""

    def __init__(self, prior: Vector, penalty: float) -> None:
        if penalty <= 0:
            raise ValueError(f"ridge regression needs a positive penalty, but got {penalty}")
        self._prior = prior
        self._inverse = np.eye(len(prior)) / penalty  # of F'F + penalty I
        self._moment = np.zeros(len(prior))  # F'(r - F prior)

    @property
    def weights(self) -> Vector:
        fitted: Vector = self._prior + self._inverse @ self._moment
        return fitted

    def observe(self, features: Vector, reward: float) -> None:
        """Take one example into account."""
        seen = self._inverse @ features
        self._inverse -= np.outer(seen, seen) / (1 + features @ seen)
        self._moment += (reward - features @ self._prior) * features

    def save(self) -> Snapshot:
        return Snapshot({"inverse": self._inverse.copy(), "moment": self._moment.copy()})

    def load(self, snapshot: Snapshot) -> None:
        self._inverse, self._moment = snapshot.arrays["inverse"].copy(), snapshot.arrays["moment"].copy()
