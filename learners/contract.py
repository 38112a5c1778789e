"""What every system is: something that proposes a translation, is told one number, and can be saved.

A learner is deterministic: the same snapshot and the same calls give the same proposals. That is what makes an exact
resume possible, wherever a process is killed.
"""

import math
from abc import ABC, abstractmethod

from learners.errors import RewardError
from learners.snapshot import Snapshot
from task.limits import MAX_TRANSLATION_CHARACTERS

PLACEHOLDER = "-"  # what an empty source is translated to, since the service takes no empty translation


def truncate_to_limit(text: str) -> str:
    """The text, cut after the last word that the service takes.

    It would refuse a longer one, and a learner that goes on where it was would propose it again and again.
    """
    if len(text) <= MAX_TRANSLATION_CHARACTERS:
        return text
    return text[: MAX_TRANSLATION_CHARACTERS + 1].rpartition(" ")[0] or text[:MAX_TRANSLATION_CHARACTERS]


def check_reward(reward: float, what: str = "a reward") -> float:
    """The reward, if it is one."""
    if not (math.isfinite(reward) and 0 <= reward <= 1):
        raise RewardError(f"{what} is a number between 0 and 1, but got {reward}")
    return reward


class Learner(ABC):
    """A translation system that may learn from rewards."""

    @abstractmethod
    def propose(self, source: str) -> str:
        """One translation of a tokenised source sentence; never empty."""

    @abstractmethod
    def update(self, source: str, translation: str, reward: float) -> None:
        """Learn from the reward in [0, 1] of what was proposed last."""

    @abstractmethod
    def save(self) -> Snapshot:
        """Everything that ``load`` needs to go on exactly here: model, optimiser, baselines, random state."""

    @abstractmethod
    def load(self, snapshot: Snapshot) -> None:
        """Go back to where ``save`` was called."""


class StaticSystem(Learner):
    """A system that never learns, so there is nothing to save."""

    def update(self, source: str, translation: str, reward: float) -> None:
        """A static system does not care."""

    def save(self) -> Snapshot:
        return Snapshot()

    def load(self, snapshot: Snapshot) -> None:
        """There is nothing to go back to."""
