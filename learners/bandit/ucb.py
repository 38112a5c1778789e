"""UCB1 (Auer et al. 2002), which chooses between systems in the LIMSI submissions (Sokolov et al. 2017, section 5.4).

An arm's index is its mean reward plus ``sqrt(2 ln n / n_arm)``, which grows while other arms are played.
"""

import numpy as np
import numpy.typing as npt

from learners.snapshot import Snapshot

Vector = npt.NDArray[np.float64]


class Ucb1:
    """Plays each arm once, then always the arm with the highest index."""

    def __init__(self, arms: int) -> None:
        self._plays = np.zeros(arms)
        self._rewards = np.zeros(arms)

    def choose(self, rng: np.random.Generator) -> int:  # noqa: ARG002 (only the variant below samples)
        """Return the arm to play next."""
        untried = self._untried()
        return untried if untried is not None else int(np.argmax(self.indices()))

    def probabilities(self) -> Vector | None:
        """Return the probability of each arm in the next round; None if the next arm is not sampled."""
        return None

    def indices(self) -> Vector:
        """Return the upper confidence bound of each arm; each must have been played."""
        bounds: Vector = self._rewards / self._plays + np.sqrt(2 * np.log(self._plays.sum()) / self._plays)
        return bounds

    def observe(self, arm: int, reward: float) -> None:
        """Update an arm with the reward of playing it."""
        self._plays[arm] += 1
        self._rewards[arm] += reward

    def save(self) -> Snapshot:
        return Snapshot({"plays": self._plays.copy(), "rewards": self._rewards.copy()})

    def load(self, snapshot: Snapshot) -> None:
        self._plays, self._rewards = snapshot.arrays["plays"].copy(), snapshot.arrays["rewards"].copy()

    def _untried(self) -> int | None:
        return int(np.argmin(self._plays)) if not self._plays.all() else None


class SamplingUcb1(Ucb1):
    """Samples an arm in proportion to its index. The paper only says that this variant explores more."""

    def choose(self, rng: np.random.Generator) -> int:
        probabilities = self.probabilities()
        if probabilities is None:
            return super().choose(rng)
        return int(np.searchsorted(np.cumsum(probabilities)[:-1], rng.random(), side="right"))

    def probabilities(self) -> Vector | None:
        if self._untried() is not None:
            return None
        indices = self.indices()
        return indices / indices.sum()
