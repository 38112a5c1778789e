"""Neural seed models: networks trained from scratch, or trained further from another seed model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from learners.errors import TrainingError
from learners.nmt.batches import Pair
from learners.nmt.configs import ModelConfig
from learners.nmt.fragments import extract_fragments
from learners.nmt.pretraining import PretrainingConfig, new_translator, train
from learners.nmt.translator import Translator
from learners.seed_models.dictionary import Dictionary
from learners.seed_models.progress import TrainingStage
from learners.seed_models.seed_model import SeedModel, TrainingJob, TrainingTexts
from learners.seed_models.settings import BuildSettings
from learners.segmentation.compounds import CompoundSplitter


def out_of_domain(texts: TrainingTexts) -> Sequence[Pair]:
    return texts.out_of_domain


def in_domain(texts: TrainingTexts) -> Sequence[Pair]:
    return texts.in_domain


def _continued_steps(seed: Translator, max_steps: int | None) -> int:
    """Return how long to train a seed model further: as many steps as it was trained for, or the bound if it is lower.

    So a comparison with the seed model shows what as much training again is worth.
    """
    bounds = [steps for steps in (seed.training_steps, max_steps) if steps is not None]
    if not bounds:
        raise TrainingError(
            "the model to train further was made by an earlier version, which did not record its number of steps: "
            "give --steps"
        )
    return min(bounds)


def _unchanged(config: PretrainingConfig) -> PretrainingConfig:
    return config


@dataclass(frozen=True, kw_only=True, eq=False)
class NeuralSeedModel(SeedModel[Translator]):
    """A network that is trained from scratch, unless it starts from another one."""

    configs: Mapping[BuildSettings, ModelConfig] = field(default_factory=dict)  # of networks trained from scratch
    starts_from: "NeuralSeedModel | None" = None  # train this one further, with its vocabulary and config
    text: Callable[[TrainingTexts], Sequence[Pair]] = out_of_domain
    adapt_config: Callable[[PretrainingConfig], PretrainingConfig] = _unchanged  # from the config of all networks
    fragments: bool = True  # train on parts of sentences, too: they teach attention where to look
    ensemble: bool = False  # of the last checkpoints, instead of the best one alone
    lexicon: SeedModel[Dictionary] | None = None  # the dictionary that replaces its unknown words

    @property
    def requires(self) -> tuple[SeedModel[Any], ...]:
        return tuple(model for model in (self.starts_from, self.lexicon) if model)

    def train(self, job: TrainingJob) -> Translator:
        pairs, config = self.text(job.texts), self.adapt_config(job.pretraining)
        translator = self._initial_translator(job, pairs, config.seed)
        if config.continued_training:
            config = replace(config, max_steps=_continued_steps(translator, config.max_steps))

        def fragments_of(pairs: Sequence[Pair]) -> Sequence[Pair]:
            if not self.fragments:
                return ()
            job.report(TrainingStage("cutting fragments out of sentences"))
            return extract_fragments(pairs, seed=config.seed)

        train(translator, pairs, config, augment=fragments_of, folder=job.checkpoints, watch=job.report)
        if self.ensemble:  # of the last checkpoints only: the very last one takes the place of the best one
            translator.model.load_state_dict(translator.ensemble_members.pop().state_dict())
        if self.lexicon:
            translator.lexicon = job.load(self.lexicon)
        return translator

    def _initial_translator(self, job: TrainingJob, pairs: Sequence[Pair], seed: int) -> Translator:
        if self.starts_from:
            return job.load(self.starts_from)
        config = self.configs[replace(job.settings, split=False)]
        if not job.settings.split:
            return new_translator(config, pairs, seed=seed)
        splitter = CompoundSplitter.learn((source for source, _ in pairs), job.texts.source_language)
        split_pairs = [(splitter.split(source).text, target) for source, target in pairs]
        translator = new_translator(config, split_pairs, seed=seed)
        translator.splitter = splitter
        return translator

    def save(self, model: Translator, path: Path) -> None:
        model.save(path)

    def load(self, path: Path) -> Translator:
        return Translator.load(path)

    def settings_of(self, model: Translator) -> Sequence[BuildSettings]:
        if self.starts_from:
            return self.starts_from.settings_of(model)
        split = model.splitter is not None
        return [replace(one, split=split) for one, config in self.configs.items() if config.name == model.config.name]
