"""OFFLINE: seed models that were trained on a log of another system's feedback, and do not learn while they play."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

from learners.bandit.optimiser import OptimiserConfig
from learners.contract import Learner
from learners.errors import SettingError
from learners.nmt.static import StaticTranslator
from learners.nmt.translator import Translator
from learners.offline.estimators import Method
from learners.offline.policies import PolicyConfig
from learners.offline.training import OfflineConfig
from learners.seed_models.catalogue import BNMT, OFFLINE_MODELS, SMT
from learners.seed_models.offline import OfflineSeedModel
from learners.seed_models.store import ModelStore
from learners.smt.static_log_linear import StaticLogLinear
from learners.systems import bnmt, smt
from learners.systems.system import System
from task.names import NAME_RULE, is_name

ORIGIN = "Lawrence et al. 2017"
WHAT = {
    Method.IPS: "inverse propensity scoring: for logs with probabilities",
    Method.SNIPS: "self-normalised inverse propensity scoring: for logs with probabilities",
    Method.DPM: "deterministic propensity matching: for any log",
    Method.DPM_R: "deterministic propensity matching, reweighted: for any log",
    Method.OSL: "one-step-late reweighting: for any log, in minibatches of any size",
    Method.DC: "the doubly controlled estimator, with a reward model: for any log",
    Method.C_DC: "the doubly controlled estimator with its optimal scale: for any log",
    Method.DR: "the doubly robust estimator, with a reward model: for logs with probabilities",
}


@dataclass(frozen=True, kw_only=True)
class OfflinePlayConfig:
    """Which seed model is played."""

    model: str  # the name that it was given with --out

    def __post_init__(self) -> None:
        if not is_name(self.model):
            raise SettingError(f"model must have {NAME_RULE}, not {self.model!r}")


@dataclass(frozen=True, kw_only=True)
class OfflineSystem(System):
    """Translates with a seed model that was trained on a log."""

    config: OfflinePlayConfig
    stochastic: bool = False

    def with_settings(self, settings: Mapping[str, str]) -> Self:
        changed = super().with_settings(settings)
        (model,) = self.seed_models
        assert isinstance(model, OfflineSeedModel), "an offline system has no other"
        return replace(changed, seed_models=(replace(model, name=changed.config.model),))

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        (model,) = self._load_seed_models(store)
        return StaticTranslator(model) if isinstance(model, Translator) else StaticLogLinear(model)


def _systems() -> Iterator[OfflineSystem]:
    prefixes = {BNMT: ("OFFLINE", "BNMT-static", bnmt.FAMILY), SMT: ("OFFLINE-SMT", "SMT-static", smt.FAMILY)}
    for model in OFFLINE_MODELS:
        prefix, control, family = prefixes[model.starts_from]
        yield OfflineSystem(
            name=f"{prefix}-{model.method.upper()}",
            description=f"{control} after training on a log by {WHAT[model.method]}",
            origin=ORIGIN,
            family=family,
            control=control,
            seed_models=(model,),
            config=OfflinePlayConfig(model=model.name),
        )


def default_model(method: Method, starts_from: str) -> OfflineSeedModel:
    """Return the seed model that the OFFLINE system of this method plays, made from the model of this name."""
    return next(one for one in OFFLINE_MODELS if (one.method, one.starts_from.name) == (method, starts_from))


# The probability of a whole sentence is so small that a few short ones would outweigh all others.
NEURAL = OfflineConfig(policy=PolicyConfig(length_normalised=True), optimiser=OptimiserConfig(learning_rate=1e-4))
# Propensities are compared as they were logged: whole, and at the temperature of our samplers.
NEURAL_REWEIGHTED = replace(NEURAL, policy=PolicyConfig(temperature=bnmt.EL_VALUE.schedule.temperature))
LOG_LINEAR = OfflineConfig(
    policy=PolicyConfig(weight_scale=smt.WEIGHT_SCALE),
    optimiser=OptimiserConfig(learning_rate=0.03, clip_norm=None),
    epochs=10,
)


def training_config(model: OfflineSeedModel) -> OfflineConfig:
    """Return how a seed model is trained on a log by default."""
    if model.starts_from is SMT:
        return LOG_LINEAR
    return NEURAL_REWEIGHTED if model.method.needs_propensities else NEURAL


SYSTEMS = tuple(_systems())
