"""What the service answers: the results of its calls, with the names that they have in the HTTP protocol."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """The answer to opening a run."""

    run: str
    phase: str
    system: str
    index: int  # of the pending sentence
    total: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LastRound:
    """The last committed round of a run, as it was answered."""

    id: str
    index: int
    source: str
    translation: str
    score: float


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run has come."""

    run: str
    phase: str
    system: str
    index: int
    total: int
    finished: bool
    cumulative_reward: float  # of observed rewards
    last: LastRound | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that awaits its translation."""

    id: str
    index: int
    total: int
    source: str

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "index": self.index, "total": self.total, "source": self.source}


@dataclass(frozen=True, slots=True)
class Answer:
    """The observed reward of a translation, and the next sentence, if there is one."""

    score: float
    next: Sentence | None

    def as_dict(self) -> dict[str, Any]:
        return {"score": self.score, "next": self.next.as_dict() if self.next else None}


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase as participants see it."""

    phase: str
    state: str
    total: int
    repeatable: bool
    runs: int  # how many a participant may open

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
