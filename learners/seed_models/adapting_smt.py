"""The background of the adapting SMT systems as a seed model: phrases, orientations, a language model and weights."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from learners.adaptation.statistical.model import Background
from learners.adaptation.statistical.translator import AdaptingTranslator, Models
from learners.seed_models.progress import TrainingStage
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.seed_models.statistical import TUNING, split_for_tuning
from learners.smt.forest import LogLinearTranslator
from learners.smt.mert import mert


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptingSmtSeedModel(SeedModel[Background]):
    """Background models of the out-of-domain text, with weights tuned on a sample of it."""

    def train(self, job: TrainingJob) -> Background:
        training, tuning = split_for_tuning(job.texts.out_of_domain, seed=job.pretraining.seed)
        background = Background.train(training, report=lambda line: job.report(TrainingStage(line)))
        translator = AdaptingTranslator(background, Models.BACKGROUND)
        config = replace(TUNING[job.settings.size], seed=job.pretraining.seed)
        # Tuning asks for k-best lists only, which is the part of the interface that this translator has.
        background.weights = mert(cast(LogLinearTranslator, translator), tuning, config, watch=job.report)
        return background

    def save(self, model: Background, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> Background:
        return Background.load(path)
