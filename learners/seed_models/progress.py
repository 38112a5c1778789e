"""Progress of a training: what is reported while a seed model is trained."""

from dataclasses import dataclass
from typing import Protocol


class TrainingProgress(Protocol):
    """How far the training of a model has come."""

    @property
    def step(self) -> int: ...

    @property
    def steps(self) -> int:
        """The maximum number of steps; 0 if it is unknown."""

    @property
    def status(self) -> str:
        """One line for a user."""


@dataclass(frozen=True)
class TrainingStage:
    """A stage of a training that does not count its steps."""

    status: str
    step: int = 0
    steps: int = 0
