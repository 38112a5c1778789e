"""What the service tells a participant, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from banditmt_client.errors import ProtocolError


@dataclass(frozen=True)
class Sentence:
    """A source sentence that waits for its one translation."""

    id: str  # opaque: proves to the service that all rounds before were answered
    index: int  # of the round, counted from 0
    total: int  # rounds in the run
    source: str


@dataclass(frozen=True)
class Round:
    """A round that was answered."""

    id: str
    index: int
    source: str
    translation: str
    score: float


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    index: int  # rounds answered
    total: int
    cumulative_reward: float

    @property
    def finished(self) -> bool:
        return self.index >= self.total


@dataclass(frozen=True)
class Phase:
    """A part of the task that can be played."""

    name: str
    state: str  # open, closed or frozen
    total: int  # rounds
    repeatable: bool  # may a system run through it again?


def field(answer: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """One field of an answer; an answer without it does not come from a banditmt service."""
    value = answer.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _unusable(name)
    return value


def read_number(answer: Mapping[str, Any], name: str, *, at_most: int) -> float:
    """A number that is not negative and not larger than it can be; one that is none would spoil what is learned."""
    value = field(answer, name, (int, float))
    if not 0 <= value <= at_most:
        raise _unusable(name)
    return float(value)


def read_score(answer: Mapping[str, Any]) -> float:
    return read_number(answer, "score", at_most=1)


def _unusable(name: str) -> ProtocolError:
    return ProtocolError(f"the answer of the service has no usable {name!r}; is this the address of the service?")


def read_sentence(answer: Mapping[str, Any]) -> Sentence:
    return Sentence(
        id=field(answer, "id", str),
        index=field(answer, "index", int),
        total=field(answer, "total", int),
        source=field(answer, "source", str),
    )


def read_round(answer: Mapping[str, Any]) -> Round:
    return Round(
        id=field(answer, "id", str),
        index=field(answer, "index", int),
        source=field(answer, "source", str),
        translation=field(answer, "translation", str),
        score=read_score(answer),
    )


def read_phase(answer: Mapping[str, Any]) -> Phase:
    return Phase(
        name=field(answer, "phase", str),
        state=field(answer, "state", str),
        total=field(answer, "total", int),
        repeatable=field(answer, "repeatable", bool),
    )
