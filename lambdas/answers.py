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
    document: str | None = None  # where the task has documents: an id that only this run has
    position: int | None = None  # of the sentence in its document, counted from 0
    post_edit: str | None = None  # in a phase that shows post-edits

    def as_dict(self) -> dict[str, Any]:
        return _known(asdict(self))


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
    head: str | None = None  # the link of the last round, in hex: a receipt for all rounds so far

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "last": self.last and self.last.as_dict()}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that awaits its translation."""

    id: str
    index: int
    total: int
    source: str
    document: str | None = None  # where the task has documents: an id that only this run has
    position: int | None = None  # of the sentence in its document, counted from 0

    def as_dict(self) -> dict[str, Any]:
        answer = {"id": self.id, "index": self.index, "total": self.total, "source": self.source}
        if self.document is None:
            return answer
        return {**answer, "document": self.document, "position": self.position}


@dataclass(frozen=True, slots=True)
class Answer:
    """The feedback on a translation, and the next sentence, if there is one."""

    score: float  # the observed reward
    next: Sentence | None
    post_edit: str | None = None  # in a phase that shows post-edits

    def as_dict(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"score": self.score, "next": self.next.as_dict() if self.next else None}
        if self.post_edit is not None:
            answer["post_edit"] = self.post_edit
        return answer


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase as participants see it."""

    phase: str
    state: str
    total: int
    repeatable: bool
    runs: int  # how many a participant may open
    feedback: str  # bandit or post-edit
    metric: str
    signature: str  # of the score
    opens_at: str | None = None  # ISO 8601 in UTC; None for no such time
    closes_at: str | None = None
    runs_left: int | None = None  # how many more the caller may open; None without an API key

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TextInfo:
    """How the sentences of a task are written, and how translations should be."""

    signature: str
    description: str


@dataclass(frozen=True, slots=True)
class OutOfDomainFile:
    """One language of the out-of-domain text. The size and the digest are those of the text, not of its gzip file."""

    language: str
    lines: int
    bytes: int
    sha256: str
    url: str | None  # relative to the service, if the service itself has the file


@dataclass(frozen=True, slots=True)
class OutOfDomain:
    """The out-of-domain text, on which systems may be trained before they play."""

    url: str | None  # a page or a file of the organiser's
    files: list[OutOfDomainFile]


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task as participants see it."""

    title: str | None
    source: str  # a language code; ``und`` if it is not known
    target: str
    text: TextInfo
    documents: bool  # whether sentences tell their document, and their position in it
    licence: str | None  # of the text
    contact: str | None
    out_of_domain: OutOfDomain | None
    phases: list[PhaseInfo]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without those that a phase does not have."""
    return {name: value for name, value in fields.items() if value is not None}
