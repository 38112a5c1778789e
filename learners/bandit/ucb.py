"""UCB1 (Auer et al. 2002): plays the arm whose mean reward may be the highest.

It chooses between systems in the LIMSI submissions (Sokolov et al. 2017, section 5.4) and in our ARMS systems. An arm's
index is its mean reward plus ``sqrt(2 ln n / n_arm)``, which grows while other arms are played.
"""

from typing import ClassVar

import numpy as np

from learners.bandit.arm_rewards import ArmRewards, Vector
from learners.snapshot import Snapshot

MAX_VARIANCE = 0.25  # of rewards between 0 and 1


class Ucb1:
    """Plays each arm once, then always the arm with the highest index."""

    is_random: ClassVar[bool] = False  # whether the same rewards can be followed by different choices

    def __init__(self, arms: int, discount: float = 1.0) -> None:
        self._rewards = ArmRewards(arms, discount)

    def choose(self, rng: np.random.Generator) -> int:  # noqa: ARG002 (only the variant that samples needs it)
        """Return the arm to play next."""
        untried = self._rewards.untried
        return untried if untried is not None else int(np.argmax(self.indices()))

    def probabilities(self) -> Vector | None:
        """Return the probability of each arm in the next round; None if the next arm is not sampled."""
        return None

    def indices(self) -> Vector:
        """Return the upper confidence bound of each arm; each must have been played."""
        bounds: Vector = self._rewards.means + np.sqrt(2 * self._exploration())
        return bounds

    def observe(self, arm: int, reward: float) -> None:
        """Update an arm with the reward of playing it."""
        self._rewards.observe(arm, reward)

    def save(self) -> Snapshot:
        return self._rewards.save()

    def load(self, snapshot: Snapshot) -> None:
        self._rewards.load(snapshot)

    def _exploration(self) -> Vector:
        """Return ``ln n / n_arm`` of each arm."""
        plays = self._rewards.plays
        ratios: Vector = np.log(max(1.0, plays.sum())) / plays  # discounted plays can be fewer than one
        return ratios


class SamplingUcb1(Ucb1):
    """Samples an arm in proportion to its index. The paper only says that this variant explores more."""

    is_random = True

    def choose(self, rng: np.random.Generator) -> int:
        probabilities = self.probabilities()
        if probabilities is None:
            return super().choose(rng)
        return int(np.searchsorted(np.cumsum(probabilities)[:-1], rng.random(), side="right"))

    def probabilities(self) -> Vector | None:
        if self._rewards.untried is not None:
            return None
        indices = self.indices()
        return indices / indices.sum()


class Ucb1Tuned(Ucb1):
    """UCB1-TUNED (Auer et al. 2002, section 4): explores less where rewards vary less than those of a coin.

    UCB1 allows for any rewards between 0 and 1. Those of translations vary little, so that it explores for too long.
    """

    def indices(self) -> Vector:
        exploration = self._exploration()
        variances = self._rewards.deviations / self._rewards.plays + np.sqrt(2 * exploration)
        bounds: Vector = self._rewards.means + np.sqrt(exploration * np.minimum(MAX_VARIANCE, variances))
        return bounds
