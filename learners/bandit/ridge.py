"""Online ridge regression of rewards on features, for the LIMSI systems (Sokolov et al. 2017, section 5.4) and LinUCB.

Rank-one updates keep the closed form ``v = (F'F + penalty I)^-1 F'r`` up to date, so that a round costs d^2, not d^3.
"""

import numpy as np
import numpy.typing as npt

from learners.snapshot import Snapshot

Vector = npt.NDArray[np.float64]


class OnlineRidge:
    """A linear model of the reward, fitted to all observations so far and shrunk towards a prior."""

    def __init__(self, prior: Vector, penalty: float) -> None:
        if penalty <= 0:
            raise ValueError(f"the penalty of ridge regression must be positive, but got {penalty}")
        self._prior = prior
        self._inverse = np.eye(len(prior)) / penalty  # of F'F + penalty I
        self._moment = np.zeros(len(prior))  # F'(r - F prior)

    @property
    def weights(self) -> Vector:
        """The fitted weights."""
        fitted: Vector = self._prior + self._inverse @ self._moment
        return fitted

    def uncertainty(self, features: Vector) -> float:
        """Return the standard deviation of the prediction for these features, where rewards have one of 1."""
        return float(np.sqrt(features @ self._inverse @ features))

    def observe(self, features: Vector, reward: float) -> None:
        """Update the fit with one observation."""
        projected = self._inverse @ features
        self._inverse -= np.outer(projected, projected) / (1 + features @ projected)
        self._moment += (reward - features @ self._prior) * features

    def save(self) -> Snapshot:
        return Snapshot({"inverse": self._inverse.copy(), "moment": self._moment.copy()})

    def load(self, snapshot: Snapshot) -> None:
        self._inverse, self._moment = snapshot.arrays["inverse"].copy(), snapshot.arrays["moment"].copy()
