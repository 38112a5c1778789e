"""Seed models that were trained on a log of feedback (``banditmt offline``), not on the text of a task."""

from dataclasses import dataclass
from pathlib import Path

from learners.errors import TrainingError
from learners.nmt.translator import Translator
from learners.offline.estimators import Method
from learners.offline.policies import LogLinearPolicy, NeuralPolicy, Policy, PolicyConfig
from learners.seed_models.neural import NeuralSeedModel
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.seed_models.statistical import StatisticalSeedModel
from learners.smt.translator import SmtTranslator


@dataclass(frozen=True, kw_only=True, eq=False)
class OfflineSeedModel(SeedModel[Translator | SmtTranslator]):
    """Another seed model after training on a log."""

    starts_from: NeuralSeedModel | StatisticalSeedModel
    method: Method

    @property
    def requires(self) -> tuple[SeedModel[Translator] | SeedModel[SmtTranslator], ...]:
        return (self.starts_from,)

    @property
    def advice(self) -> str:
        start = "" if isinstance(self.starts_from, NeuralSeedModel) else f" --start {self.starts_from.name}"
        return f"make it from a log with banditmt offline {self.method} --log FILE{start}"

    def train(self, job: TrainingJob) -> Translator | SmtTranslator:  # noqa: ARG002 (it has no log)
        raise TrainingError(f"the seed model {self} is not trained on the text of a task: {self.advice}")

    def save(self, model: Translator | SmtTranslator, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> Translator | SmtTranslator:
        return self.starts_from.load(path)


def policy_of(model: Translator | SmtTranslator, config: PolicyConfig) -> Policy:
    """Return the policy whose parameters are those of a loaded seed model."""
    return NeuralPolicy(model, config) if isinstance(model, Translator) else LogLinearPolicy(model, config)


def adopt_parameters(model: Translator | SmtTranslator, policy: Policy) -> None:
    """Give a trained policy's parameters to its model. Those of a network are the policy's own."""
    if isinstance(model, SmtTranslator):
        model.weights = policy.vector.detach().numpy().copy()
