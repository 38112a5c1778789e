"""What the service returns to a participant, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from banditmt_client.errors import ProtocolError


@dataclass(frozen=True)
class Sentence:
    """A pending source sentence, which takes exactly one translation.

    Attributes:
        id: An opaque token that proves to the service that all earlier rounds are committed.
        index: The index of the round, counted from 0.
        total: The number of rounds in the run.
        source: The text to translate.
    """

    id: str
    index: int
    total: int
    source: str


@dataclass(frozen=True)
class Round:
    """A committed round.

    Attributes:
        id: The id of the sentence.
        index: The index of the round, counted from 0.
        source: The source sentence.
        translation: The translation that was submitted.
        score: The reward that it received, in [0, 1].
    """

    id: str
    index: int
    source: str
    translation: str
    score: float


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        index: The number of committed rounds.
        total: The number of rounds in the run.
        cumulative_reward: The sum of the scores of the committed rounds.
    """

    index: int
    total: int
    cumulative_reward: float

    @property
    def finished(self) -> bool:
        """Whether all rounds are committed."""
        return self.index >= self.total


@dataclass(frozen=True)
class Phase:
    """A phase of the task.

    Attributes:
        name: The name, to pass to ``Client.open_run``.
        state: ``"open"``, ``"closed"`` or ``"frozen"``.
        total: The number of rounds.
        repeatable: Whether a system may play the phase more than once.
    """

    name: str
    state: str
    total: int
    repeatable: bool


def read_field(response: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """Return one field of a response.

    Raises:
        ProtocolError: The field is missing or has another type, so the response is not that of a banditmt service.
    """
    value = response.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise invalid_field_error(name)
    return value


def read_number(response: Mapping[str, Any], name: str, *, at_most: int) -> float:
    """Return a field that is a number between 0 and ``at_most``. Any other number, such as NaN, would spoil learning.

    Raises:
        ProtocolError: The field is missing, not a number, or out of range.
    """
    value = read_field(response, name, (int, float))
    if not 0 <= value <= at_most:
        raise invalid_field_error(name)
    return float(value)


def read_score(response: Mapping[str, Any]) -> float:
    """Return the field ``score``, a number in [0, 1]; raise ``ProtocolError`` if it is not."""
    return read_number(response, "score", at_most=1)


def invalid_field_error(name: str) -> ProtocolError:
    """Return the error for a response without a valid field of this name."""
    return ProtocolError(f"the response has no valid {name!r}; check that the address is that of a banditmt service")


def read_sentence(response: Mapping[str, Any]) -> Sentence:
    """Return the sentence that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    return Sentence(
        id=read_field(response, "id", str),
        index=read_field(response, "index", int),
        total=read_field(response, "total", int),
        source=read_field(response, "source", str),
    )


def read_round(response: Mapping[str, Any]) -> Round:
    """Return the round that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    return Round(
        id=read_field(response, "id", str),
        index=read_field(response, "index", int),
        source=read_field(response, "source", str),
        translation=read_field(response, "translation", str),
        score=read_score(response),
    )


def read_phase(response: Mapping[str, Any]) -> Phase:
    """Return the phase that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    return Phase(
        name=read_field(response, "phase", str),
        state=read_field(response, "state", str),
        total=read_field(response, "total", int),
        repeatable=read_field(response, "repeatable", bool),
    )
