"""A system of the registry: its name, its origin, the seed models that it starts from, and how its learner is built.

A way of building learners is a subclass of ``System``; a system is an instance of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.contract import Learner
from learners.seed_models.seed_model import SeedModel
from learners.seed_models.store import ModelStore

TASK_PAPER = "Sokolov et al. 2017"  # A Shared Task on Bandit Learning for Machine Translation
OURS = "banditmt"


@dataclass(frozen=True, kw_only=True)
class System(ABC):
    """A system that can be played."""

    name: str  # on the leaderboard
    description: str  # one line
    origin: str  # the paper with its section, or OURS
    seed_models: tuple[SeedModel[Any], ...] = ()
    stochastic: bool  # whether anything is random; if not, all random seeds are the same, and one run is enough

    @abstractmethod
    def new_learner(self, store: ModelStore, seed: int) -> Learner:
        """Return a learner before its first round; the seed is of everything random in it."""

    def identity(self, store: ModelStore, seed: int) -> dict[str, str | int]:
        """Return what identifies a learner, whatever its name on the leaderboard: only the same one resumes a run."""
        digests = {f"model {model.name}": store.digest(model) for model in self.seed_models}
        return {"system": self.name, "seed": seed if self.stochastic else 1, **digests}

    def _load_seed_models(self, store: ModelStore) -> list[Any]:
        return [store.load(model) for model in self.seed_models]


@dataclass(frozen=True, kw_only=True)
class NonLearningSystem(System):
    """A baseline or an oracle: it translates with its seed models as they are."""

    learner: Callable[..., Learner]  # takes the seed models
    stochastic: bool = False

    def new_learner(self, store: ModelStore, seed: int) -> Learner:  # noqa: ARG002 (nothing is random)
        return self.learner(*self._load_seed_models(store))


@dataclass(frozen=True, kw_only=True)
class BanditSystem(System):
    """A system that follows a gradient estimated from rewards, each compared with a control variate."""

    learner: Callable[..., Learner]  # takes the seed models, the config, a new control variate, and the seed by name
    config: GradientConfig
    control_variate: Callable[[], ControlVariate]
    stochastic: bool = True

    def new_learner(self, store: ModelStore, seed: int) -> Learner:
        return self.learner(*self._load_seed_models(store), self.config, self.control_variate(), seed=seed)
