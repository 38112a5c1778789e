"""The systems with a model of transformers, for ``banditmt play learners.huggingface.systems:NAME``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learners.bandit.expected_loss import ExpectedLossLearner
from learners.bandit.neural_sampling import NeuralSampling
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.self_imitation import SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.contract import Learner
from learners.huggingface.configs import (
    HuggingFaceExpectedLossConfig,
    HuggingFaceSamplingConfig,
    HuggingFaceSelfImitationConfig,
    HuggingFaceStaticConfig,
)
from learners.huggingface.loading import load_translator, model_digest
from learners.nmt.static import StaticTranslator
from learners.seed_models.store import ModelStore
from learners.systems.system import OURS, Family, System

FAMILY = Family(name="HF", static="HF-static")
# As for our own networks: samples at a low temperature cost little reward. The rate is lower: the models are larger.
SCHEDULE = AnnealingSchedule(temperature=0.3, start=None)
ADAM = OptimiserConfig(learning_rate=1e-5)
SAFEGUARDS = SafeguardConfig(max_length_ratio=1.1, min_length_ratio=0.9, exclude_loops=True)


@dataclass(frozen=True, kw_only=True)
class HuggingFaceSystem(System):
    """A system whose seed model is one of transformers: the setting ``model.name`` says which."""

    learner: Callable[[Any, Any, int], Learner]  # takes the translator, the config and the seed
    stochastic: bool

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(load_translator(self.config.model, trainable=self.learns, seed=seed), self.config, seed)

    def identity(self, store: ModelStore, seed: int) -> dict[str, str | int]:
        return {**super().identity(store, seed), "model files": model_digest(self.config.model.name)}


STATIC = HuggingFaceSystem(
    name="HF-static",
    description="a model of transformers as it is, greedy",
    origin=OURS,
    family=FAMILY,
    config=HuggingFaceStaticConfig(),
    learner=lambda translator, config, _: StaticTranslator(translator, beam=config.beam),
    stochastic=False,
)
BEAM = HuggingFaceSystem(
    name="HF-beam",
    description="HF-static with beam 5: what search alone is worth",
    origin=OURS,
    family=FAMILY,
    config=HuggingFaceStaticConfig(beam=5),
    learner=STATIC.learner,
    stochastic=False,
)
SAMPLING = HuggingFaceSystem(
    name="HF-sampling",
    description="samples as HF-EL does, and does not learn: its control",
    origin=OURS,
    family=FAMILY,
    config=HuggingFaceSamplingConfig(schedule=SCHEDULE),
    learner=lambda translator, config, seed: NeuralSampling(translator, config.schedule, seed=seed),
    stochastic=True,
)
EXPECTED_LOSS = HuggingFaceSystem(
    name="HF-EL",
    description="expected loss with a learned value of each source as baseline, on a model of transformers",
    origin=OURS,
    family=FAMILY,
    control="HF-sampling",
    config=HuggingFaceExpectedLossConfig(optimiser=ADAM, schedule=SCHEDULE, safeguards=SAFEGUARDS, batch=8),
    learner=lambda translator, config, seed: ExpectedLossLearner(translator, config, SourceValue(), seed=seed),
    stochastic=True,
)
SELF_IMITATION = HuggingFaceSystem(
    name="HF-REPLAY",
    description="plays greedily and imitates its translations that earned more than expected",
    origin=OURS,
    family=FAMILY,
    control="HF-static",
    config=HuggingFaceSelfImitationConfig(optimiser=ADAM, safeguards=SAFEGUARDS, batch=8, replay_batch=24, dropout=0.0),
    learner=lambda translator, config, seed: SelfImitationLearner(translator, config, SourceValue(), seed=seed),
    stochastic=True,
)
