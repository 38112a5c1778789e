"""What a reward is compared with: the advantage is the reward minus a baseline, which lowers the gradient's variance.

A control variate is told every reward exactly once, in order, whether or not the learner uses the advantage.
"""

from abc import ABC, abstractmethod
from typing import Any

from learners.snapshot import Snapshot


class ControlVariate(ABC):
    """Turns rewards into advantages."""

    @abstractmethod
    def advantage(self, source: str, reward: float) -> float:
        """How much better than expected the reward is; the expectation then takes the reward into account."""

    def identity(self) -> dict[str, Any]:
        """What tells it from others: rewards summed up for one baseline mean nothing to another."""
        return {"kind": type(self).__name__}

    @abstractmethod
    def save(self) -> Snapshot: ...

    @abstractmethod
    def load(self, snapshot: Snapshot) -> None: ...


class NoControlVariate(ControlVariate):
    """The reward itself."""

    def advantage(self, source: str, reward: float) -> float:  # noqa: ARG002 (the same for every source)
        return reward

    def save(self) -> Snapshot:
        return Snapshot()

    def load(self, snapshot: Snapshot) -> None:
        """There is nothing to go back to."""


class RunningMean(ControlVariate):
    """The mean of all rewards so far, with the current one as published (card B6), or without it.

    With the current reward the advantage is (k - 1) / k times the one without: smaller, in expectation no different.
    """

    def __init__(self, *, include_current: bool = True) -> None:
        self._include_current = include_current
        self._sum = 0.0
        self._count = 0

    def advantage(self, source: str, reward: float) -> float:  # noqa: ARG002 (the same for every source)
        before = self._sum / self._count if self._count else reward  # the first reward has nothing to be compared with
        self._sum += reward
        self._count += 1
        return reward - (self._sum / self._count if self._include_current else before)

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"include_current": self._include_current}

    def save(self) -> Snapshot:
        return Snapshot(values={"sum": self._sum, "count": self._count})

    def load(self, snapshot: Snapshot) -> None:
        self._sum, self._count = snapshot.values["sum"], snapshot.values["count"]
