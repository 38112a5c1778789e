"""What the service returns to a participant, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from banditmt_client.errors import ProtocolError
from banditmt_client.text import is_one_line

MAX_COUNT = 2**31 - 1  # of rounds and runs
MAX_FILE_SIZE = 2**63 - 1  # in lines or bytes


@dataclass(frozen=True)
class Sentence:
    """A pending source sentence, which takes exactly one translation.

    Attributes:
        id: An opaque token that proves to the service that all earlier rounds are committed.
        index: The index of the round, counted from 0.
        total: The number of rounds in the run.
        source: The text to translate.
        document: An opaque id of the document that the sentence belongs to, valid in this run only; None if the task
            has no documents. The sentences of a document are served one after the other, in order.
        position: The position of the sentence in its document, counted from 0; None if the task has no documents.
    """

    id: str
    index: int
    total: int
    source: str
    document: str | None = None
    position: int | None = None


@dataclass(frozen=True)
class Round:
    """A committed round.

    Attributes:
        id: The id of the sentence.
        index: The index of the round, counted from 0.
        source: The source sentence.
        translation: The translation that was submitted.
        score: The reward that it received, in [0, 1].
        post_edit: The correct translation, in a phase whose feedback is post-edits; None in other phases.
        document: The document of the sentence, as in ``Sentence``.
        position: The position of the sentence in its document, as in ``Sentence``.
    """

    id: str
    index: int
    source: str
    translation: str
    score: float
    post_edit: str | None = None
    document: str | None = None
    position: int | None = None


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
        feedback: ``"bandit"`` if a translation receives a score, ``"post-edit"`` if it receives a score and the correct
            translation.
        metric: The metric of the score, such as ``"sentence-bleu"`` or ``"chrf"``.
        signature: The metric with all its settings, and the noise that is added; empty if the service does not say.
        opens_at: When the phase opens, in UTC; None if no time is set.
        closes_at: When the phase closes, in UTC; None if no time is set.
        runs_left: How many more runs the participant may open; None if the service does not say.
    """

    name: str
    state: str
    total: int
    repeatable: bool
    feedback: str = "bandit"
    metric: str = "sentence-bleu"
    signature: str = ""
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    runs_left: int | None = None


@dataclass(frozen=True)
class TextConvention:
    """How the sentences of a task are written, and how a translation should be written to score well.

    Attributes:
        signature: The convention in short, for programs to compare.
        description: The convention in words.
    """

    signature: str
    description: str


@dataclass(frozen=True)
class OutOfDomainFile:
    """One language of the out-of-domain text.

    Attributes:
        language: The language, such as ``"de"``.
        lines: The number of sentences.
        bytes: The size of the text, before compression.
        sha256: The digest of the text, before compression.
        url: The path of the gzip file, to append to the address of the service; None if the service does not have it.
    """

    language: str
    lines: int
    bytes: int
    sha256: str
    url: str | None = None


@dataclass(frozen=True)
class OutOfDomainText:
    """Parallel text from outside the task's domain, on which a system may be trained before it plays.

    Attributes:
        url: Where the organiser publishes it; None if the organiser does not say.
        files: One file per language; line n of one translates line n of the other.
    """

    url: str | None
    files: tuple[OutOfDomainFile, ...]


@dataclass(frozen=True)
class TaskInfo:
    """What a task says about itself.

    Attributes:
        title: The title; None if the organiser gave none.
        source: The language to translate from, such as ``"de"``; ``"und"`` if the service does not know it.
        target: The language to translate into, such as ``"en"``; ``"und"`` if the service does not know it.
        text: How the sentences are written, and the translations should be.
        phases: The phases, as ``Client.phases`` returns them.
        licence: The licence of the data; None if the organiser gave none.
        contact: Where to ask the organiser; None if the organiser gave none.
        out_of_domain: Where the out-of-domain text is; None if there is none.
        documents: Whether the sentences of some phase belong to documents.
    """

    title: str | None
    source: str
    target: str
    text: TextConvention
    phases: tuple[Phase, ...]
    licence: str | None = None
    contact: str | None = None
    out_of_domain: OutOfDomainText | None = None
    documents: bool = False


def read_field(response: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """Return one field of a response.

    Raises:
        ProtocolError: The field is missing, has another type, or is a string with control characters, so the response
            is not that of a banditmt service.
    """
    value = response.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise invalid_field_error(name)
    if isinstance(value, str) and not is_one_line(value):
        raise invalid_field_error(name)
    return value


def read_count(response: Mapping[str, Any], name: str, *, at_least: int = 0, at_most: int = MAX_COUNT) -> int:
    """Return a field that is an integer in this range.

    Raises:
        ProtocolError: The field is missing, not an integer, or out of range.
    """
    value: int = read_field(response, name, int)
    if not at_least <= value <= at_most:
        raise invalid_field_error(name)
    return value


def read_optional_count(response: Mapping[str, Any], name: str) -> int | None:
    """Return a field that is an integer of at least 0, or None if it is missing or null; else raise ProtocolError."""
    return None if response.get(name) is None else read_count(response, name)


def read_optional(response: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return one field of a response, or None if it is missing or null.

    Raises:
        ProtocolError: The field has another type.
    """
    return None if response.get(name) is None else read_field(response, name, kind)


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
        index=read_count(response, "index"),
        total=read_count(response, "total"),
        source=read_field(response, "source", str),
        document=read_optional(response, "document", str),
        position=read_optional_count(response, "position"),
    )


def read_round(response: Mapping[str, Any]) -> Round:
    """Return the round that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    return Round(
        id=read_field(response, "id", str),
        index=read_count(response, "index"),
        source=read_field(response, "source", str),
        translation=read_field(response, "translation", str),
        score=read_score(response),
        post_edit=read_optional(response, "post_edit", str),
        document=read_optional(response, "document", str),
        position=read_optional_count(response, "position"),
    )


def read_phase(response: Mapping[str, Any]) -> Phase:
    """Return the phase that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    return Phase(
        name=read_field(response, "phase", str),
        state=read_field(response, "state", str),
        total=read_count(response, "total"),
        repeatable=read_field(response, "repeatable", bool),
        feedback=read_optional(response, "feedback", str) or Phase.feedback,
        metric=read_optional(response, "metric", str) or Phase.metric,
        signature=read_optional(response, "signature", str) or Phase.signature,
        opens_at=_read_time(response, "opens_at"),
        closes_at=_read_time(response, "closes_at"),
        runs_left=read_optional_count(response, "runs_left"),
    )


def read_phases(response: Mapping[str, Any]) -> list[Phase]:
    """Return the phases in the field ``phases``; raise ``ProtocolError`` if it is not a list of phases."""
    return [read_phase(phase) for phase in _read_objects(response, "phases")]


def read_task(response: Mapping[str, Any]) -> TaskInfo:
    """Return the task that a JSON object describes; raise ``ProtocolError`` if it describes none."""
    text = read_field(response, "text", Mapping)
    out_of_domain = read_optional(response, "out_of_domain", Mapping)
    return TaskInfo(
        title=read_optional(response, "title", str),
        source=read_field(response, "source", str),
        target=read_field(response, "target", str),
        text=TextConvention(read_field(text, "signature", str), read_field(text, "description", str)),
        phases=tuple(read_phases(response)),
        licence=read_optional(response, "licence", str),
        contact=read_optional(response, "contact", str),
        out_of_domain=None if out_of_domain is None else _read_out_of_domain(out_of_domain),
        documents=read_optional(response, "documents", bool) or False,
    )


def _read_out_of_domain(response: Mapping[str, Any]) -> OutOfDomainText:
    files = [
        OutOfDomainFile(
            language=read_field(file, "language", str),
            lines=read_count(file, "lines", at_most=MAX_FILE_SIZE),
            bytes=read_count(file, "bytes", at_most=MAX_FILE_SIZE),
            sha256=read_field(file, "sha256", str),
            url=read_optional(file, "url", str),
        )
        for file in _read_objects(response, "files")
    ]
    return OutOfDomainText(read_optional(response, "url", str), tuple(files))


def _read_objects(response: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    objects: list[Any] = read_field(response, name, list)
    if not all(isinstance(item, Mapping) for item in objects):
        raise invalid_field_error(name)
    return objects


def _read_time(response: Mapping[str, Any], name: str) -> datetime | None:
    """Return a field that is a time in ISO 8601 with a zone, in UTC; None if it is missing or null."""
    text: str | None = read_optional(response, name, str)
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))  # Python 3.10 does not read the Z
        if time.tzinfo is not None:
            return time.astimezone(timezone.utc)
    except (ValueError, OverflowError):  # such as the first hour of year 1 in the east
        pass
    raise invalid_field_error(name)
