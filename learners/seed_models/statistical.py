"""Statistical seed models: a grammar and a language model, with weights tuned by MERT."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from learners.nmt.batches import Pair
from learners.seed_models.progress import TrainingStage
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.seed_models.settings import Size
from learners.smt.mert import MertConfig, mert
from learners.smt.translator import SmtTranslator

MAX_TUNING_PAIRS = 300  # but at most a tenth of the out-of-domain text
TUNING = {
    Size.TINY: MertConfig(candidates=10, iterations=2, restarts=1, directions=2),
    Size.SMALL: MertConfig(),
    Size.PAPER: MertConfig(),
}


def split_for_tuning(pairs: Sequence[Pair]) -> tuple[Sequence[Pair], Sequence[Pair]]:
    """Return the pairs to train on and the pairs to tune on, which are the last ones of the text."""
    cut = len(pairs) - min(MAX_TUNING_PAIRS, len(pairs) // 10)
    return pairs[:cut], pairs[cut:]


@dataclass(frozen=True, kw_only=True, eq=False)
class StatisticalSeedModel(SeedModel[SmtTranslator]):
    """A hierarchical phrase-based model of the out-of-domain text; an oracle is trained on the in-domain text, too.

    Both are tuned on out-of-domain text. The models of a loaded translator are shared between processes; each learner
    has its own weights.
    """

    def train(self, job: TrainingJob) -> SmtTranslator:
        training, tuning = split_for_tuning(job.texts.out_of_domain)
        references = job.texts.in_domain if self.needs_references else ()
        translator = SmtTranslator.train([*training, *references], report=lambda line: job.report(TrainingStage(line)))
        config = replace(TUNING[job.settings.size], seed=job.pretraining.seed)
        translator.weights = mert(translator, tuning, config, watch=job.report)
        return translator

    def save(self, model: SmtTranslator, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> SmtTranslator:
        return SmtTranslator.load(path)
