"""The seed model: what it is trained from, and how it is trained, saved and loaded.

A kind of seed model is a subclass; a seed model is an instance of it in ``learners.seed_models.catalogue``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from leaderboard.metrics.contrastive import ContrastiveGroup
from learners.nmt.batches import Pair
from learners.nmt.pretraining import PretrainingConfig
from learners.references import PhaseReferences
from learners.seed_models.progress import TrainingProgress
from learners.seed_models.settings import BuildSettings

ModelT = TypeVar("ModelT")


@dataclass(frozen=True)
class TrainingTexts:
    """The parallel text that seed models are trained on."""

    out_of_domain: Sequence[Pair]
    served_sources: Sequence[str] = field(default=(), kw_only=True)  # distinct sources of phases that can be repeated
    # What learners never see, for oracles only:
    in_domain: Sequence[Pair] = ()  # the distinct sentences of all phases with their references
    references: Mapping[str, PhaseReferences] = field(default_factory=dict)  # of each phase, by round
    source_language: str = "de"  # its code: how compounds are split depends on it
    # The out-of-domain text by document, for context-aware models; a pair of no known document is one of its own.
    documents: Sequence[Sequence[Pair]] = ()
    contrastive: Mapping[str, Sequence[ContrastiveGroup]] = field(default_factory=dict)  # sets to stop training by


class LoadModel(Protocol):
    """Loads another seed model, which this one requires."""

    def __call__(self, model: "SeedModel[ModelT]", /) -> ModelT: ...


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What the training of a seed model is given."""

    texts: TrainingTexts
    settings: BuildSettings
    pretraining: PretrainingConfig
    load: LoadModel
    checkpoints: Path  # its own folder, from which an interrupted training resumes
    report: Callable[[TrainingProgress], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class SeedModel(ABC, Generic[ModelT]):
    """A model that systems start from; ``ModelT`` is what it is once it is loaded."""

    name: str  # of its file, in messages, and in the identity of runs
    needs_references: bool = False  # only oracles do
    needs_documents: bool = False  # only context-aware models do

    def __str__(self) -> str:
        return self.name

    @property
    def requires(self) -> tuple["SeedModel[Any]", ...]:
        """The seed models that must be trained before this one."""
        return ()

    @property
    def advice(self) -> str:
        """What a user does to get this model, for the message that it is missing."""
        return "train it with banditmt pretrain"

    @abstractmethod
    def train(self, job: TrainingJob) -> ModelT:
        """Return the trained model; after an interruption, resume from the job's checkpoints."""

    @abstractmethod
    def save(self, model: ModelT, path: Path) -> None:
        """Write the model to a file, atomically."""

    @abstractmethod
    def load(self, path: Path) -> ModelT:
        """Return the model of a file, or raise ``SnapshotError``."""

    def settings_of(self, model: ModelT) -> Sequence[BuildSettings]:  # noqa: ARG002 (networks look at it)
        """Return the settings that build this model; none if it is the same for all settings."""
        return ()
