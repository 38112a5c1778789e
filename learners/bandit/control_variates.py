"""Control variates: baselines that turn rewards into advantages, which lowers the variance of gradients.

A control variate receives every reward exactly once, in order, whether or not the learner uses the advantage.
"""

from abc import ABC, abstractmethod
from typing import Any

from learners.snapshot import Snapshot


class ControlVariate(ABC):
    """Turns rewards into advantages: the reward minus a baseline."""

    @abstractmethod
    def advantage(self, source: str, reward: float) -> float:
        """Return how much the reward exceeds the baseline, and update the baseline with the reward."""

    def identity(self) -> dict[str, Any]:
        """Return what a snapshot must agree on: the state of one baseline means nothing to another."""
        return {"kind": type(self).__name__}

    @abstractmethod
    def save(self) -> Snapshot: ...

    @abstractmethod
    def load(self, snapshot: Snapshot) -> None: ...


class NoControlVariate(ControlVariate):
    """No baseline: the advantage is the reward."""

    def advantage(self, source: str, reward: float) -> float:  # noqa: ARG002 (the same for every source)
        return reward

    def save(self) -> Snapshot:
        return Snapshot()

    def load(self, snapshot: Snapshot) -> None:
        """Do nothing: there is no state."""


class RunningMean(ControlVariate):
    """The mean of all rewards so far, with the current one as published (Sokolov et al. 2017, section 5.1), or without.

    Including the current reward multiplies the advantage of round k by (k - 1) / k and has no other effect.
    """

    def __init__(self, *, include_current: bool = True) -> None:
        self._include_current = include_current
        self._sum = 0.0
        self._count = 0

    def advantage(self, source: str, reward: float) -> float:  # noqa: ARG002 (the same for every source)
        before = self._sum / self._count if self._count else reward  # the first reward has an advantage of 0
        self._sum += reward
        self._count += 1
        return reward - (self._sum / self._count if self._include_current else before)

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"include_current": self._include_current}

    def save(self) -> Snapshot:
        return Snapshot(values={"sum": self._sum, "count": self._count})

    def load(self, snapshot: Snapshot) -> None:
        self._sum, self._count = snapshot.values["sum"], snapshot.values["count"]
