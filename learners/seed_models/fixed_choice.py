"""The choice of ADAPT-fixed in a model store: not a model, but what must be chosen before the first round."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learners.adaptation.fixed import FixedChoice, choose_tensors
from learners.adaptation.neural import AdaptationConfig
from learners.nmt.pretraining import split_held_out
from learners.seed_models.neural import NeuralSeedModel
from learners.seed_models.progress import TrainingStage
from learners.seed_models.seed_model import SeedModel, TrainingJob


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedChoiceSeedModel(SeedModel[FixedChoice]):
    """The tensors that gain most on the text that the base model was validated on, which it has not trained on."""

    base: NeuralSeedModel
    config: AdaptationConfig = AdaptationConfig()  # noqa: RUF009 (it is immutable)

    @property
    def requires(self) -> tuple[SeedModel[Any], ...]:
        return (self.base,)

    def train(self, job: TrainingJob) -> FixedChoice:
        translator = job.load(self.base)
        max_words = translator.config.max_training_words
        stream, _ = split_held_out(self.base.text(job.texts), max_words, job.pretraining)
        job.report(TrainingStage("choosing tensors on a development stream"))
        return choose_tensors(translator, stream, self.config)

    def save(self, model: FixedChoice, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> FixedChoice:
        return FixedChoice.load(path)
