"""A phase as the service knows it: as it was loaded, with its state, its schedule and its budget of runs."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

from lambdas.scoring import Scorer
from lambdas.store.documents import Document
from task.feedback import METRICS, SENTENCE_BLEU, FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase


class PhaseState(StrEnum):
    """What participants may do in a phase."""

    OPEN = "open"  # open runs and play them
    FROZEN = "frozen"  # finish the runs they opened, but open no more
    CLOSED = "closed"  # read results, but commit no more rounds


@dataclass(frozen=True, slots=True)
class PhaseSchedule:
    """When a phase opens and closes, in milliseconds since 1970; None for no such time."""

    opens_at: int | None
    closes_at: int | None

    def state(self, now: int) -> PhaseState:
        """Return the state of the phase at a time."""
        is_early = self.opens_at is not None and now < self.opens_at
        is_late = self.closes_at is not None and now >= self.closes_at
        return PhaseState.CLOSED if is_early or is_late else PhaseState.OPEN


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """A phase as it was loaded, with its state, its schedule and its budget of runs."""

    phase: Phase
    block_size: int  # sentences in a packed block
    fingerprint: str  # hash of all its sources and references
    runs: int  # how many runs each participant may open
    state: PhaseState = PhaseState.OPEN
    schedule: PhaseSchedule | None = None  # sets the state, unless the organiser has set it by hand since
    language: str = ""  # of the references, for its stop words; unknown in stores of earlier versions
    scorer: Scorer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scorer", Scorer(self.feedback, self.fingerprint))

    @property
    def feedback(self) -> FeedbackSpec:
        return self.phase.feedback

    def as_of(self, now: int) -> "PhaseRecord":
        """Return the record with the state that its schedule gives it at a time."""
        return self if self.schedule is None else replace(self, state=self.schedule.state(now))

    def is_over(self, now: int) -> bool:
        """Return whether the phase is closed, and not by a schedule that has yet to open it."""
        opens_at = self.schedule.opens_at if self.schedule else None
        return self.state is PhaseState.CLOSED and (opens_at is None or now >= opens_at)

    def as_document(self) -> Document:
        """Return the document for the store, without fields added since version 0.1 that have their default."""
        layout, feedback = self.phase.layout, self.phase.feedback
        added = {
            "feedback": feedback.kind.value if feedback.kind is not FeedbackKind.BANDIT else None,
            "metric": feedback.metric.name if feedback.metric is not SENTENCE_BLEU else None,
            "documents": self.phase.documents or None,
            "language": self.language or None,
            "schedule": None if self.schedule is None else [self.schedule.opens_at, self.schedule.closes_at],
        }
        return {
            "name": self.phase.name,
            "repeatable": self.phase.repeatable,
            "layout": [layout.blocks, layout.block, layout.gap],
            "perturbation": feedback.noise,
            "seed": feedback.seed,
            "block_size": self.block_size,
            "fingerprint": self.fingerprint,
            "runs": self.runs,
            "state": self.state.value,
            **{name: value for name, value in added.items() if value is not None},
        }

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Return the record of a document, which may lack the fields that were added since version 0.1."""
        feedback = FeedbackSpec(
            document["perturbation"],
            document["seed"],
            FeedbackKind(document.get("feedback", FeedbackKind.BANDIT)),
            METRICS[document.get("metric", SENTENCE_BLEU.name)],
        )
        schedule = document.get("schedule")
        return cls(
            Phase(
                document["name"],
                Layout(*document["layout"]),
                document["repeatable"],
                feedback,
                document.get("documents", False),
            ),
            document["block_size"],
            document["fingerprint"],
            document["runs"],
            PhaseState(document["state"]),
            None if schedule is None else PhaseSchedule(*schedule),
            document.get("language", ""),
        )
