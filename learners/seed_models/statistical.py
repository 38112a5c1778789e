"""Statistical seed models: a grammar and a language model, with weights tuned by MERT."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from learners.nmt.batches import Pair
from learners.seed_models.progress import TrainingStage
from learners.seed_models.random_order import in_random_order
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.seed_models.settings import Size
from learners.segmentation.compounds import CompoundSplitter
from learners.smt.mert import MertConfig, mert
from learners.smt.translator import SmtTranslator

MAX_TUNING_PAIRS = 300  # but at most a tenth of the distinct pairs
TUNING = {
    Size.TINY: MertConfig(candidates=10, iterations=2, restarts=1, directions=2),
    Size.SMALL: MertConfig(),
    Size.PAPER: MertConfig(),
}


def split_for_tuning(pairs: Sequence[Pair], *, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs to train on, and the pairs to tune on: a random sample, of which no copy is trained on.

    Both depend on the text and the seed, not on the order of the text. If its end is of one kind, weights tuned on its
    end fit that kind only, which costs more reward than learners gain.
    """
    distinct = in_random_order(set(pairs), seed=seed)
    tuning = distinct[: max(1, min(MAX_TUNING_PAIRS, len(distinct) // 10))]
    held_out = set(tuning)
    return [pair for pair in in_random_order(pairs, seed=seed) if pair not in held_out], tuning


@dataclass(frozen=True, kw_only=True, eq=False)
class StatisticalSeedModel(SeedModel[SmtTranslator]):
    """A hierarchical phrase-based model of the out-of-domain text; an oracle is trained on the in-domain text, too.

    With the same seed, both are tuned on the same sample of the out-of-domain text. The models of a loaded translator
    are shared between processes; each learner has its own weights.
    """

    split: bool = False  # compounds and hyphenated words of the source, by their counts in the training text

    def train(self, job: TrainingJob) -> SmtTranslator:
        training, tuning = split_for_tuning(job.texts.out_of_domain, seed=job.pretraining.seed)
        pairs = [*training, *(job.texts.in_domain if self.needs_references else ())]
        splitter = None
        if self.split:
            job.report(TrainingStage("learning to split compounds"))
            splitter = CompoundSplitter.learn((source for source, _ in pairs), job.texts.source_language)
        translator = SmtTranslator.train(pairs, report=lambda line: job.report(TrainingStage(line)), splitter=splitter)
        config = replace(TUNING[job.settings.size], seed=job.pretraining.seed)
        translator.weights = mert(translator, tuning, config, watch=job.report)
        return translator

    def save(self, model: SmtTranslator, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> SmtTranslator:
        return SmtTranslator.load(path)
