"""A system of the registry: its name, its origin, the seed models that it starts from, and how its learner is built.

A way of building learners is a subclass of ``System``; a system is an instance of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.contract import Learner
from learners.errors import ReferencesError, SettingError
from learners.references import PhaseReferences, References
from learners.seed_models.seed_model import SeedModel
from learners.seed_models.store import ModelStore
from learners.settings import apply_settings, changed_settings

TASK_PAPER = "Sokolov et al. 2017"  # A Shared Task on Bandit Learning for Machine Translation
OURS = "banditmt"
NO_STEPS = OptimiserConfig(
    Method.SGD, learning_rate=0.0, clip_norm=None
)  # of a control that explores as a learner does


@dataclass(frozen=True, kw_only=True)
class Family:
    """The systems that the learners of a family are compared with, by name; None where the family has none."""

    name: str  # as on the leaderboard
    static: str | None = None  # the seed model as it is
    oracle: str | None = None  # trained on the references
    k_best_oracle: str | None = None  # the best one of the seed model's candidates: what reranking could gain at most
    full_information: str | None = None  # learns online from the reference of each round, on the learners' candidates
    post_edits: str | None = None  # learns online from each reference as from a post-edit
    continued_training: str | None = None  # the seed model, trained further without feedback


@dataclass(frozen=True, kw_only=True)
class System(ABC):
    """A system that can be played."""

    name: str  # on the leaderboard
    description: str  # one line
    origin: str  # the paper with its section, or OURS
    seed_models: tuple[SeedModel[Any], ...] = ()
    stochastic: bool  # whether anything is random; if not, all random seeds are the same, and one run is enough
    family: Family | None = None
    control: str | None = None  # the system with the same search that does not learn; None if this one does not, either
    config: Any = None  # how its learner is set: a dataclass, whose fields are the settings; None if there is no choice
    changed_settings: tuple[tuple[str, str], ...] = ()  # names and values that differ from the registered config

    @property
    def learns(self) -> bool:
        return self.control is not None

    @property
    def needs_references(self) -> bool:
        """Whether it sees references that participants do not see: then it is an oracle, and not a participant."""
        return any(model.needs_references for model in self.seed_models)

    @property
    def needs_post_edits(self) -> bool:
        """Whether it learns from the correct translation of each round, which only post-edit phases show."""
        return False

    @abstractmethod
    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:
        """Return a learner before its first round.

        Args:
            store: The folder of the seed models.
            seed: The seed of everything random in the learner.
            phase: The phase that it plays. Only systems that look references up by round need to know it.
        """

    def with_settings(self, settings: Mapping[str, str]) -> Self:
        """Return this system with other values of some settings, which become part of its identity.

        Args:
            settings: The values as texts, by dotted name (see ``learners.settings``). A value that is the registered
                one changes nothing.

        Raises:
            SettingError: The system has no such setting, or the setting no such value.
        """
        try:
            config = apply_settings(self.config, settings)
        except SettingError as wrong:
            raise SettingError(f"{self.name}: {wrong}") from None
        changes = tuple(sorted(changed_settings(self.config, config).items()))
        return replace(self, config=config, changed_settings=changes)

    @property
    def reference(self) -> str:
        """What the user types to get this system."""
        return self.name

    def identity(self, store: ModelStore, seed: int) -> dict[str, str | int]:
        """Return what identifies a learner, whatever its name on the leaderboard: only the same one resumes a run."""
        digests = {f"model {model.name}": store.digest(model) for model in self.seed_models}
        settings = {f"setting {name}": value for name, value in self.changed_settings}
        return {"system": self.reference, "seed": seed if self.stochastic else 1, **digests, **settings}

    def _load_seed_models(self, store: ModelStore) -> list[Any]:
        return [store.load(model) for model in self.seed_models]


@dataclass(frozen=True, kw_only=True)
class NonLearningSystem(System):
    """A baseline or an oracle: it translates with its seed models as they are."""

    learner: Callable[..., Learner]  # takes the seed models
    stochastic: bool = False

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store))


@dataclass(frozen=True, kw_only=True)
class SamplingSystem(System):
    """A control: it samples from its seed models as a learner does, and does not learn."""

    learner: Callable[..., Learner]  # takes the seed models, the config, and the seed by name
    stochastic: bool = True

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store), self.config, seed=seed)


@dataclass(frozen=True, kw_only=True)
class ReferencesSystem(System):
    """An oracle that looks up the reference of each round: its last seed model has the references of all phases."""

    learner: Callable[..., Learner]  # takes the seed models, the phase's references, the config, and the seed by name

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:
        *models, references = self._load_seed_models(store)
        return self.learner(*models, self._of_phase(references, phase), self.config, seed=seed)

    def _of_phase(self, references: References, phase: str | None) -> PhaseReferences:
        if phase not in references:
            raise ReferencesError(
                f"{self.name} needs the references of the phase that it plays: "
                f"there are those of {', '.join(references)}, not of {phase}"
            )
        return references[phase]


@dataclass(frozen=True, kw_only=True)
class BanditSystem(System):
    """A system that follows a gradient estimated from rewards, each compared with a control variate."""

    learner: Callable[..., Learner]  # takes the seed models, the config, a new control variate, and the seed by name
    config: GradientConfig
    control_variate: Callable[[], ControlVariate]
    stochastic: bool = True

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store), self.config, self.control_variate(), seed=seed)
