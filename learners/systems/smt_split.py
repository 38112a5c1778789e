"""SMT-SPLIT: the hierarchical model that reads compounds and hyphenated words in parts, and learners on top of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from learners.contract import Learner
from learners.oracles.k_best import statistical_k_best_oracle
from learners.oracles.statistical import FullInformationImputation
from learners.seed_models.catalogue import REFERENCES, SMT_SPLIT, SMT_SPLIT_ORACLE
from learners.seed_models.store import ModelStore
from learners.smt.reranking_learners import ImputationConfig, ImputingLearner, LinearLearner, LinearLearnerConfig
from learners.smt.static_log_linear import StaticLogLinear
from learners.systems.system import OURS, Family, NonLearningSystem, ReferencesSystem, System

# All settings were tuned on one stream of Debian's text and on one shop (docs/champion.md).
IMPUTE = ImputationConfig()
# Rewards that are known rather than imputed need no critic, and bear longer steps towards the best candidate.
FULL_INFORMATION = replace(
    IMPUTE, weight_scale=7.0, critic_scale=0.0, temperature=0.1, learning_rate=0.8, memory_scale=10.0
)
LINEAR = LinearLearnerConfig()

FAMILY = Family(
    name="SMT-SPLIT",
    static="SMT-SPLIT-static",
    oracle="SMT-SPLIT-oracle",
    k_best_oracle="SMT-SPLIT-k-best-oracle",
    full_information="SMT-SPLIT-full-information",
)


@dataclass(frozen=True, kw_only=True)
class RerankingSystem(System):
    """A system that learns to choose among the candidates of its seed models; nothing in it is random."""

    learner: Callable[..., Learner]  # takes the seed models, the config, and the seed by name
    config: Any
    stochastic: bool = False

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store), self.config, seed=seed)


SYSTEMS = (
    NonLearningSystem(
        name="SMT-SPLIT-static",
        description="SMT-static that reads compounds and hyphenated words in parts",
        origin=f"{OURS}, after Koehn and Knight 2003",
        family=FAMILY,
        seed_models=(SMT_SPLIT,),
        learner=StaticLogLinear,
    ),
    NonLearningSystem(
        name="SMT-SPLIT-oracle",
        description="SMT-SPLIT-static trained on the references as well: full information, not a participant",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT_SPLIT_ORACLE,),
        learner=StaticLogLinear,
    ),
    ReferencesSystem(
        name="SMT-SPLIT-k-best-oracle",
        description=f"proposes the best of SMT-SPLIT-static's {IMPUTE.candidates} best: all that reranking could gain",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT_SPLIT, REFERENCES),
        learner=statistical_k_best_oracle,
        config=IMPUTE.candidates,
        stochastic=False,
    ),
    ReferencesSystem(
        name="SMT-SPLIT-full-information",
        description="SMT-IMPUTE that sees the rewards of all candidates after each round: what can be learned online",
        origin=OURS,
        family=FAMILY,
        control="SMT-SPLIT-static",
        seed_models=(SMT_SPLIT, REFERENCES),
        learner=FullInformationImputation,
        config=FULL_INFORMATION,
        stochastic=False,
    ),
    RerankingSystem(
        name="SMT-LINEAR",
        description="a linear model of the reward reranks the k-best list: learns from rounded and noisy rewards, too",
        origin=OURS,
        family=FAMILY,
        control="SMT-SPLIT-static",
        seed_models=(SMT_SPLIT,),
        learner=LinearLearner,
        config=LINEAR,
    ),
    RerankingSystem(
        name="SMT-IMPUTE",
        description="decodes exact rewards into n-gram matches, and learns from imputed rewards of all candidates",
        origin=OURS,
        family=FAMILY,
        control="SMT-SPLIT-static",
        seed_models=(SMT_SPLIT,),
        learner=ImputingLearner,
        config=IMPUTE,
    ),
    RerankingSystem(
        name="CHAMPION",
        description="our entry: the best of all that was measured on real text; today that is SMT-IMPUTE",
        origin=OURS,
        family=FAMILY,
        control="SMT-SPLIT-static",
        seed_models=(SMT_SPLIT,),
        learner=ImputingLearner,
        config=IMPUTE,
    ),
)
