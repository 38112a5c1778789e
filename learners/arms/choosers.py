"""How the next system is chosen: by the rewards of each so far, or also by the source to translate."""

from typing import Protocol

import numpy as np

from learners.arms.source_features import NAMES, source_features
from learners.bandit.linear_ucb import LinearUcb
from learners.bandit.thompson import ThompsonSampling
from learners.bandit.ucb import Ucb1
from learners.snapshot import Snapshot


class Chooser(Protocol):
    """Chooses a system by its number, and learns from the reward."""

    @property
    def is_random(self) -> bool:
        """Whether the same history can be followed by different choices."""

    def choose(self, source: str, rng: np.random.Generator) -> int: ...
    def observe(self, arm: int, source: str, reward: float) -> None: ...
    def save(self) -> Snapshot: ...
    def load(self, snapshot: Snapshot) -> None: ...


class RewardChooser:
    """Chooses by rewards alone."""

    def __init__(self, bandit: Ucb1 | ThompsonSampling) -> None:
        self._bandit = bandit

    @property
    def is_random(self) -> bool:
        return self._bandit.is_random

    def choose(self, source: str, rng: np.random.Generator) -> int:  # noqa: ARG002 (all sources are alike)
        return self._bandit.choose(rng)

    def observe(self, arm: int, source: str, reward: float) -> None:  # noqa: ARG002
        self._bandit.observe(arm, reward)

    def save(self) -> Snapshot:
        return self._bandit.save()

    def load(self, snapshot: Snapshot) -> None:
        self._bandit.load(snapshot)


class SourceChooser:
    """Chooses by what systems have earned for sources with such features."""

    is_random = False

    def __init__(self, arms: int, *, exploration: float, penalty: float) -> None:
        self._bandit = LinearUcb(arms, len(NAMES), exploration=exploration, penalty=penalty)

    def choose(self, source: str, rng: np.random.Generator) -> int:  # noqa: ARG002 (nothing is random)
        return self._bandit.choose(source_features(source))

    def observe(self, arm: int, source: str, reward: float) -> None:
        self._bandit.observe(arm, source_features(source), reward)

    def save(self) -> Snapshot:
        return self._bandit.save()

    def load(self, snapshot: Snapshot) -> None:
        self._bandit.load(snapshot)
