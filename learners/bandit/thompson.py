"""Thompson sampling: plays each arm as often as it is probably the best.

Rewards are modelled as normal with unknown mean and variance, so that the spread of draws follows from how much the
rewards of an arm vary. In every round, a mean is drawn from each arm's posterior, and the arm with the highest is
played (Thompson 1933; Chapelle and Li 2011).
"""

from typing import ClassVar

import numpy as np

from learners.bandit.arm_rewards import FORGOTTEN, ArmRewards, Vector
from learners.snapshot import Snapshot

# The prior (normal-inverse-gamma) is as strong as one round: any mean and any variance that rewards can have.
PRIOR_MEAN = 0.5
PRIOR_ROUNDS = 1.0
PRIOR_SHAPE, PRIOR_SCALE = 1.0, 0.125


class ThompsonSampling:
    """Plays the arm with the highest draw from the posterior of its mean reward."""

    is_random: ClassVar[bool] = True

    def __init__(self, arms: int, discount: float = 1.0) -> None:
        self._rewards = ArmRewards(arms, discount)

    def choose(self, rng: np.random.Generator) -> int:
        """Return the arm to play next."""
        means, rounds, shapes, scales = self.posterior()
        precisions = rng.gamma(shapes, 1 / scales)
        return int(np.argmax(rng.normal(means, 1 / np.sqrt(rounds * precisions))))

    def posterior(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the parameters of each arm's posterior: mean, rounds that it is worth, shape and scale."""
        plays, sums = self._rewards.plays, self._rewards.sums
        rounds = PRIOR_ROUNDS + plays
        means = (PRIOR_ROUNDS * PRIOR_MEAN + sums) / rounds
        shift = PRIOR_ROUNDS * (sums - plays * PRIOR_MEAN) ** 2 / (np.maximum(plays, FORGOTTEN) * rounds)
        return means, rounds, PRIOR_SHAPE + plays / 2, PRIOR_SCALE + (self._rewards.deviations + shift) / 2

    def observe(self, arm: int, reward: float) -> None:
        """Update an arm with the reward of playing it."""
        self._rewards.observe(arm, reward)

    def save(self) -> Snapshot:
        return self._rewards.save()

    def load(self, snapshot: Snapshot) -> None:
        self._rewards.load(snapshot)
