"""Context-aware seed models, and the configs of their networks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from learners.context.concatenation import SentenceTranslator
from learners.context.examples import MAX_CONTEXT, Example
from learners.context.model_files import TRANSLATORS, from_snapshot
from learners.context.training import (
    ContextTrainingConfig,
    CurvePoint,
    DevelopmentSets,
    Documents,
    train_in_context,
)
from learners.context.translator import ContextTranslator
from learners.context.two_pass import DraftConfig, TwoPassTranslator
from learners.errors import SnapshotError, TrainingError
from learners.nmt.configs import TRANSFORMER_BASE, TRANSFORMER_SMALL, ModelConfig
from learners.nmt.vocabulary import SubwordVocabulary
from learners.seed_models.seed_model import SeedModel, TrainingJob, TrainingTexts
from learners.seed_models.settings import Size
from learners.snapshot import Snapshot

MIN_DEVELOPMENT_LINES = MAX_CONTEXT + 1  # of a document that is held out

_SMALL = replace(
    TRANSFORMER_SMALL,
    name="context-small",
    vocabulary_size=1_500,  # dialogues have few words
    feed_forward=256,
    warmup=400,
)
CONTEXT_NETWORKS: dict[Size, ModelConfig] = {
    Size.TINY: replace(
        _SMALL,
        name="context-tiny",
        vocabulary_size=150,
        embedding=16,
        encoder=8,
        decoder=16,
        feed_forward=32,
        warmup=20,
        batch_tokens=200,
    ),
    Size.SMALL: _SMALL,
    # Voita et al. 2019, Appendix B; the recurrent model has the sizes of Bawden et al. 2018's published code. The paper
    # has a vocabulary for each language, here it is joint.
    Size.PAPER: replace(TRANSFORMER_BASE, name="context-paper", encoder=512, decoder=1_024),
}
_VALIDATE_EVERY = {Size.TINY: 50, Size.SMALL: 200, Size.PAPER: 4_000}  # steps; BLEU is flat after 40,000 in the paper


def without_context(documents: Documents) -> list[Example]:
    """Return all sentences by themselves."""
    return [Example(source, (), target) for document in documents for source, target in document]


def mixture(documents: Documents, *, sentences: int = MAX_CONTEXT) -> list[Example]:
    """Return all sentences, with context those that have three sentences before them.

    Groups with less context made CONCAT worse in the paper (Appendix B.1).
    """
    return [
        Example(source, tuple(document[place - sentences : place]) if place >= MAX_CONTEXT else (), target)
        for document in documents
        for place, (source, target) in enumerate(document)
    ]


def one_sentence_mixture(documents: Documents) -> list[Example]:
    """Return the same, with one sentence of context."""
    return mixture(documents, sentences=1)


def only_in_context(documents: Documents) -> list[Example]:
    """Return the sentences that have any context."""
    return [
        Example(source, tuple(document[max(0, place - MAX_CONTEXT) : place]), target)
        for document in documents
        for place, (source, target) in enumerate(document)
        if place
    ]


@dataclass(frozen=True)
class ContextModel:
    """A trained translator, and the curve of its training."""

    translator: ContextTranslator
    curve: list[CurvePoint]


@dataclass(frozen=True, kw_only=True, eq=False)
class ContextSeedModel(SeedModel[ContextModel]):
    """A context-aware translator, or the one without context that CADec corrects."""

    kind: str  # of ``TRANSLATORS``
    examples: Callable[[Documents], Sequence[Example]]
    base: "ContextSeedModel | None" = None  # that CADec starts from, and does not change
    drafts: DraftConfig = field(default_factory=DraftConfig)  # of CADec
    learning_rate_scales: Mapping[Size, float]
    needs_documents: bool = True

    @property
    def requires(self) -> tuple[SeedModel[Any], ...]:
        return (self.base,) if self.base else ()

    def training_config(self, size: Size, *, max_steps: int | None = None, seed: int = 0) -> ContextTrainingConfig:
        """Return how the model is trained at this size."""
        return ContextTrainingConfig(
            max_steps=max_steps,
            validate_every=_VALIDATE_EVERY[size],
            learning_rate_scale=self.learning_rate_scales[size],
            seed=seed,
        )

    def train(self, job: TrainingJob) -> ContextModel:
        config = self.training_config(job.settings.size, max_steps=job.pretraining.max_steps, seed=job.pretraining.seed)
        return self.train_on(
            job.texts,
            CONTEXT_NETWORKS[job.settings.size],
            config,
            base=job.load(self.base).translator if self.base else None,
            folder=job.checkpoints,
            watch=job.report,
        )

    def train_on(
        self,
        texts: TrainingTexts,
        network: ModelConfig,
        config: ContextTrainingConfig,
        *,
        base: ContextTranslator | None = None,
        folder: Path | None = None,
        watch: Callable[[Any], None] | None = None,
    ) -> ContextModel:
        """Train the model on texts with documents, of which a few are held out."""
        training, development = _split(texts, config.development_documents)
        translator = self._new(network, training, base, config.seed)
        curve = train_in_context(translator, self.examples(training), development, config, folder=folder, watch=watch)
        return ContextModel(translator, curve)

    def _new(
        self, network: ModelConfig, documents: Documents, base: ContextTranslator | None, seed: int
    ) -> ContextTranslator:
        kind = TRANSLATORS[self.kind]
        if issubclass(kind, TwoPassTranslator):
            if not isinstance(base, SentenceTranslator):
                raise TrainingError(f"{self.name} needs a base model without context")
            return kind.new(base, self.drafts, seed=seed)
        texts = (text for document in documents for pair in document for text in pair)
        separator = kind is not SentenceTranslator
        return kind.new(
            network, SubwordVocabulary.learn(texts, network.vocabulary_size, separator=separator), seed=seed
        )

    def save(self, model: ContextModel, path: Path) -> None:
        snapshot = model.translator.snapshot()
        snapshot.values["curve"] = [asdict(point) for point in model.curve]
        snapshot.write(path)

    def load(self, path: Path) -> ContextModel:
        snapshot = Snapshot.read(path)
        if snapshot.values.get("kind") != self.kind:
            raise SnapshotError(f"{path} is not a model of kind {self.kind}")
        try:
            curve = [CurvePoint(**point) for point in snapshot.values["curve"]]
        except (KeyError, TypeError):
            raise SnapshotError(f"{path} has no curve of its training: another version of banditmt made it") from None
        return ContextModel(from_snapshot(snapshot, path), curve)


def _split(texts: TrainingTexts, count: int) -> tuple[Documents, DevelopmentSets]:
    """Return the documents to train on, and the last ones with enough context, which are held out."""
    long = [place for place, document in enumerate(texts.documents) if len(document) >= MIN_DEVELOPMENT_LINES]
    if len(long) < 2:
        raise TrainingError(
            "the out-of-domain text has no documents, without which there is no context to learn from: "
            "make a task with banditmt corpus dialogue, or import text with document ids"
        )
    held_out = set(long[-min(count, len(long) // 2) :])
    training = [document for place, document in enumerate(texts.documents) if place not in held_out]
    return training, DevelopmentSets([texts.documents[place] for place in sorted(held_out)], texts.contrastive)
