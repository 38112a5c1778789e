"""Training of context-aware translators in the asymmetric regime of Voita et al. 2019.

All sentence pairs are trained on, of which a quarter have three sentences of context. The model without context learns
from all pairs, CONCAT and S-HIER-TO-2.TIED from the mixture, and CADec only from what has context. Training ends when
neither BLEU nor consistency rises any more: BLEU alone would stop long before the model has learned to be consistent
(section 6.4). The result is the mean of the last checkpoints.

An interrupted training resumes from its last snapshot and ends with the same model: every random choice is a function
of the seed and the step.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from leaderboard.metrics.bleu import corpus_bleu, count_ngram_matches, sum_statistics
from leaderboard.metrics.contrastive import ContrastiveGroup, judge_groups
from learners.context.examples import MAX_CONTEXT, Example
from learners.context.translator import ContextTranslator
from learners.errors import DivergedError, SnapshotError, TrainingError
from learners.nmt.batches import Pair, bucket
from learners.nmt.model import with_dropout
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

SNAPSHOT_KIND = "context training 1"  # changes when an older snapshot can no longer be read
ADAM_MOMENTS = ("exp_avg", "exp_avg_sq")  # torch's names

Documents = Sequence[Sequence[Pair]]


@dataclass(frozen=True, kw_only=True)
class ContextTrainingConfig:
    """How long to train, and what to keep."""

    max_steps: int | None = None  # None: until neither BLEU nor consistency rises
    validate_every: int = 500  # steps; each validation also takes a snapshot
    patience: int = 10  # validations without a gain before training ends: consistency rises late
    min_gain: float = 0.3  # in points of BLEU or of consistency
    averaged_checkpoints: int = 5  # the last ones (section 6)
    learning_rate_scale: float = 1.0  # see ``learning_rate``
    label_smoothing: float = 0.1
    development_documents: int = 40  # held out of the training text
    development_groups: int = 200  # of each contrastive set
    seed: int = 0


def learning_rate(scale: float, width: int, warmup: int, step: int) -> float:
    """Return the rate of a step, counted from 1: it rises for ``warmup`` steps, then falls with their square root.

    The paper (Appendix B.3) prints the formula without the width, its code multiplies by ``width ** -0.5``.
    """
    return scale * width**-0.5 * min(step**-0.5, step * warmup**-1.5)


@dataclass(frozen=True)
class CurvePoint:
    """What was measured at a validation."""

    step: int
    bleu: float
    accuracies: Mapping[str, float]  # in percent, by contrastive set

    @property
    def consistency(self) -> float:
        """The mean accuracy of all sets; 0 without any."""
        return math.fsum(self.accuracies.values()) / len(self.accuracies) if self.accuracies else 0.0


@dataclass(frozen=True)
class ContextTrainingProgress:
    """The state of a training after a validation."""

    step: int
    max_steps: int | None
    last: CurvePoint
    end: str = ""  # why training has ended; empty while it has not

    @property
    def steps(self) -> int:
        """The maximum number of steps; 0 if there is none."""
        return self.max_steps or 0

    @property
    def status(self) -> str:
        """One line for the user."""
        sets = "".join(f", {name} {accuracy:.1f}" for name, accuracy in self.last.accuracies.items())
        return f"{self.step:,} steps, BLEU {self.last.bleu:.1f}{sets}{f', {self.end}' if self.end else ''}"


def translate_documents(
    translator: ContextTranslator, documents: Sequence[Sequence[str]], *, beam: int
) -> list[list[str]]:
    """Translate the sources of documents in order, each with its own translations of the sentences before it.

    The n-th sentences of all documents are translated together.
    """
    translations: list[list[str]] = [[] for _ in documents]
    for place in range(max(map(len, documents), default=0)):
        open_documents = [number for number, document in enumerate(documents) if place < len(document)]
        examples = []
        for number in open_documents:
            first = max(0, place - MAX_CONTEXT)
            context = zip(documents[number][first:place], translations[number][first:place], strict=True)
            examples.append(Example(documents[number][place], tuple(context)))
        for number, text in zip(open_documents, translator.translate(examples, beam=beam), strict=True):
            translations[number].append(text)
    return translations


def document_bleu(translator: ContextTranslator, documents: Documents, *, beam: int) -> float:
    """Return the corpus BLEU of documents that are translated in order."""
    found = translate_documents(translator, [[source for source, _ in each] for each in documents], beam=beam)
    counts = [
        count_ngram_matches(text, target)
        for document, texts in zip(documents, found, strict=True)
        for (_, target), text in zip(document, texts, strict=True)
    ]
    return corpus_bleu(sum_statistics(counts))


def accuracy(translator: ContextTranslator, groups: Sequence[ContrastiveGroup]) -> float:
    """Return the share of contrastive groups that a translator gets right, in percent."""
    return 100 * sum(judge_groups(groups, translator.group_losses(groups))) / len(groups)


@dataclass(frozen=True)
class DevelopmentSets:
    """What a training is validated on."""

    documents: Documents
    contrastive: Mapping[str, Sequence[ContrastiveGroup]]


Watch = Callable[[ContextTrainingProgress], None]


def train_in_context(
    translator: ContextTranslator,
    examples: Sequence[Example],
    development: DevelopmentSets,
    config: ContextTrainingConfig,
    *,
    folder: Path | None = None,
    watch: Watch | None = None,
) -> list[CurvePoint]:
    """Train a new translator, and return the curve of BLEU and consistency.

    Args:
        translator: Its trained part is changed in place.
        examples: What to learn from.
        development: What is measured at each validation.
        config: How long to train, and what to keep.
        folder: Where snapshots are kept. A later call with the same arguments resumes from the last one.
        watch: Called after each validation.
    """
    training = _Training(translator, examples, development, config)
    snapshot = folder / "training" if folder else None
    if snapshot and snapshot.exists():
        training.load(Snapshot.read(snapshot), snapshot)
    elif snapshot:
        snapshot.parent.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng():
        while not training.end:
            progress = training.advance()
            if snapshot:
                training.save().write(snapshot)
            if watch:
                watch(progress)
    training.finish()
    return training.curve


class _Training:
    """The state of a training: everything that a snapshot holds."""

    def __init__(
        self,
        translator: ContextTranslator,
        examples: Sequence[Example],
        development: DevelopmentSets,
        config: ContextTrainingConfig,
    ) -> None:
        if not examples:
            raise TrainingError(
                "there is nothing to train on: a context-aware model needs out-of-domain text with documents"
            )
        self._translator, self._examples, self._config = translator, examples, config
        count = config.development_groups
        self._groups = {name: groups[:count] for name, groups in development.contrastive.items()}
        self._documents = development.documents
        self._costs = [translator.cost(example) for example in examples]
        text = repr((examples, self._documents, self._groups)).encode()
        self._text_digest = hashlib.sha256(text).hexdigest()
        self._vector = translator.parameters.vector
        self._optimiser = torch.optim.Adam([self._vector], betas=(0.9, translator.config.beta2), eps=1e-9, fused=True)
        self._start_digest = hashlib.sha256(self._vector.detach().cpu().numpy().tobytes()).hexdigest()
        self._step = 0
        self.curve: list[CurvePoint] = []
        self._checkpoints: list[torch.Tensor] = []
        self._epoch, self._epoch_start = -1, 0
        self._batches: list[list[int]] = []

    @property
    def end(self) -> str:
        """Why training has ended; empty while it has not."""
        if self._validations_without_gain() >= self._config.patience:
            return f"converged: no gain in the last {self._config.patience} validations"
        if self._config.max_steps is not None and self._step >= self._config.max_steps:
            return "not converged: stopped at the bound"
        return ""

    def _validations_without_gain(self) -> int:
        """Return for how many validations neither BLEU nor consistency has exceeded its best by the minimum gain."""
        best_bleu = best_consistency = -math.inf
        since = 0
        for point in self.curve:
            gained = False
            if point.bleu >= best_bleu + self._config.min_gain:
                best_bleu, gained = point.bleu, True
            if point.consistency >= best_consistency + self._config.min_gain:
                best_consistency, gained = point.consistency, True
            since = 0 if gained else since + 1
        return since

    def advance(self) -> ContextTrainingProgress:
        """Train until the next validation, and validate."""
        end = self._step + self._config.validate_every
        if self._config.max_steps is not None:
            end = min(end, self._config.max_steps)
        with with_dropout(self._translator.trained, self._translator.config.dropout):
            while self._step < end:
                self._update(self._next_batch())
                self._step += 1
        self._checkpoints = [*self._checkpoints, self._vector.detach().clone()][-self._config.averaged_checkpoints :]
        self.curve.append(self._measure())
        return ContextTrainingProgress(self._step, self._config.max_steps, self.curve[-1], self.end)

    def _measure(self) -> CurvePoint:
        bleu = document_bleu(self._translator, self._documents, beam=1) if self._documents else 0.0
        return CurvePoint(
            self._step, bleu, {name: accuracy(self._translator, groups) for name, groups in self._groups.items()}
        )

    def finish(self) -> None:
        """Give the translator the mean of the last checkpoints."""
        self._vector.data.copy_(torch.stack(self._checkpoints).mean(0))
        self._translator.parameters.zero_gradient()

    def _next_batch(self) -> list[Example]:
        """Return the batch of this step; each epoch has its own order."""
        while self._step - self._epoch_start >= len(self._batches):
            self._epoch_start += len(self._batches)
            self._epoch += 1
            rng = np.random.default_rng([self._config.seed, self._epoch])
            self._batches = bucket(self._costs, self._translator.config.batch_tokens, rng)
        return [self._examples[place] for place in self._batches[self._step - self._epoch_start]]

    def _update(self, batch: list[Example]) -> None:
        translator, config, model_config = self._translator, self._config, self._translator.config
        rng = np.random.default_rng([config.seed, self._step, 1])
        torch.manual_seed(config.seed * 1_000_003 + self._step)  # for dropout
        translator.parameters.zero_gradient()
        loss = translator.loss(batch, rng, smoothing=config.label_smoothing)
        (loss / len(batch)).backward()
        if not math.isfinite(translator.parameters.clip_gradient(model_config.clip_norm)):
            raise DivergedError(f"training diverged at step {self._step:,}: try a lower learning rate")
        self._optimiser.param_groups[0]["lr"] = learning_rate(
            config.learning_rate_scale, model_config.embedding, model_config.warmup, self._step + 1
        )
        self._optimiser.step()

    def save(self) -> Snapshot:
        state = self._optimiser.state[self._vector]
        arrays = {name: state[name].cpu().numpy() for name in ADAM_MOMENTS}
        arrays["vector"] = self._vector.detach().cpu().numpy()
        arrays |= {f"last{number}": vector.cpu().numpy() for number, vector in enumerate(self._checkpoints)}
        curve = [asdict(point) for point in self.curve]
        return Snapshot(arrays, {"about": self._identity(), "step": self._step, "curve": curve})

    def load(self, snapshot: Snapshot, path: Path) -> None:
        if snapshot.values.get("about") != self._identity():
            raise SnapshotError(
                f"{path} is a snapshot of another training: use an empty folder, or the arguments of that training"
            )
        arrays = {name: torch.from_numpy(array).to(self._vector.device) for name, array in snapshot.arrays.items()}
        self._step = snapshot.values["step"]
        self.curve = [CurvePoint(**point) for point in snapshot.values["curve"]]
        self._vector.data.copy_(arrays["vector"])
        self._checkpoints = [arrays[f"last{number}"] for number in range(len(arrays) - len(ADAM_MOMENTS) - 1)]
        state: dict[str, Any] = {name: arrays[name] for name in ADAM_MOMENTS}
        self._optimiser.state[self._vector] = state | {"step": torch.tensor(float(self._step))}

    def _identity(self) -> dict[str, Any]:
        """Return what a snapshot must agree on; only the bound on steps may change."""
        config = to_stored(self._config)
        del config["max_steps"]
        return {
            "kind": SNAPSHOT_KIND,
            "model": self._translator.kind,
            "config": to_stored(self._translator.config),
            "training": config,
            "text": self._text_digest,
            "beginning": self._start_digest,
        }
