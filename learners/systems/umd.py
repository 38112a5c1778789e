"""UMD: the systems of the University of Maryland, reconstructed from what the task paper says of them."""

from collections.abc import Callable
from dataclasses import dataclass

from learners.bandit.actor_critic import (
    ActorCriticConfig,
    ActorCriticLearner,
    MixedActorCriticConfig,
    MixedActorCriticLearner,
)
from learners.contract import Learner
from learners.nmt.static import StaticTranslator
from learners.seed_models.catalogue import BNMT, CRITIC, PARALLEL_TEXT, UMD_ADAPTATION
from learners.seed_models.store import ModelStore
from learners.selection.online import OnlineSelectionConfig, OnlineSelectionLearner
from learners.systems.bnmt import FAMILY
from learners.systems.system import OURS, TASK_PAPER, NonLearningSystem, System

ORIGIN = f"{TASK_PAPER}, section 5.3 (a reconstruction)"


@dataclass(frozen=True, kw_only=True)
class UmdLearnerSystem(System):
    """A system that trains while it plays, with a learner that takes its seed models, its config and a seed."""

    learner: Callable[..., Learner]
    stochastic: bool = True

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store), self.config, seed=seed)


SYSTEMS = (
    NonLearningSystem(
        name="UMD-domain-adaptation",
        description="BNMT-static after training on out-of-domain pairs that resemble the sources of mock and dev",
        origin=ORIGIN,
        family=FAMILY,
        control="BNMT-control",
        seed_models=(UMD_ADAPTATION,),
        learner=StaticTranslator,
    ),
    UmdLearnerSystem(
        name="UMD-domain-adaptation-online",
        description="BNMT-static that selects and trains again whenever enough new sources were served",
        origin=OURS,
        family=FAMILY,
        control="BNMT-static",
        seed_models=(BNMT, PARALLEL_TEXT),
        learner=OnlineSelectionLearner,
        config=OnlineSelectionConfig(),
    ),
    UmdLearnerSystem(
        name="UMD-reinforce",
        description="advantage actor-critic: a critic of source and prefix gives every token an advantage of its own",
        origin=ORIGIN,
        family=FAMILY,
        control="BNMT-sampling-T1",
        seed_models=(BNMT, CRITIC),
        learner=ActorCriticLearner,
        config=ActorCriticConfig(),
    ),
    UmdLearnerSystem(
        name="UMD-reinforce2",
        description="UMD-reinforce with the schedule of MIXER: cross-entropy of out-of-domain text gives way by epochs",
        origin=ORIGIN,
        family=FAMILY,
        control="BNMT-sampling-T1",
        seed_models=(BNMT, CRITIC, PARALLEL_TEXT),
        learner=MixedActorCriticLearner,
        config=MixedActorCriticConfig(),
    ),
)
