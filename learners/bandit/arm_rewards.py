"""What bandits over arms remember: how often each arm was played, and the sums of its rewards and of their squares."""

import numpy as np
import numpy.typing as npt

from learners.snapshot import Snapshot

FORGOTTEN = 1e-6  # plays: a discount leaves fewer of an arm that was not played for long

Vector = npt.NDArray[np.float64]


class ArmRewards:
    """The rewards of some arms; with a discount below 1, old rounds count less (Garivier and Moulines 2011)."""

    def __init__(self, arms: int, discount: float = 1.0) -> None:
        self.plays, self.sums, self.squares = np.zeros(arms), np.zeros(arms), np.zeros(arms)
        self._discount = discount

    def observe(self, arm: int, reward: float) -> None:
        """Update an arm with the reward of playing it."""
        for kept, new in ((self.plays, 1.0), (self.sums, reward), (self.squares, reward * reward)):
            kept *= self._discount
            kept[arm] += new

    @property
    def untried(self) -> int | None:
        """The arm that was never played, or the one that is forgotten; None if there is none."""
        return int(np.argmin(self.plays)) if self.plays.min() < FORGOTTEN else None

    @property
    def means(self) -> Vector:
        """The mean reward of each arm; each must have been played."""
        means: Vector = self.sums / self.plays
        return means

    @property
    def deviations(self) -> Vector:
        """The sum of squared deviations of each arm's rewards from their mean; zero for an arm that was not played."""
        return np.maximum(0.0, self.squares - self.sums**2 / np.maximum(self.plays, FORGOTTEN))

    def save(self) -> Snapshot:
        return Snapshot({"plays": self.plays.copy(), "rewards": self.sums.copy(), "squares": self.squares.copy()})

    def load(self, snapshot: Snapshot) -> None:
        arrays = snapshot.arrays
        self.plays, self.sums = arrays["plays"].copy(), arrays["rewards"].copy()
        # Earlier versions had no squares, and no bandit that looks at them.
        self.squares = arrays["squares"].copy() if "squares" in arrays else np.zeros_like(self.plays)
