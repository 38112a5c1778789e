"""Pre-training of seed models: maximum likelihood on parallel text, until it has converged on a held-out part of it.

The learning rate is halved where the held-out loss stops falling, and training ends where that no longer helps
(``learners.nmt.plateau``). A number of steps is a bound on the time, not the way to end a training.

An interrupted training resumes from its last snapshot and ends with the same model: every random choice is a function
of the seed and the step, and nothing depends on the clock.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from learners.errors import DivergedError, SnapshotError, TrainingError
from learners.nmt.batches import EncodedPair, Pair, bucket_by_length, pad, shift_right
from learners.nmt.configs import ModelConfig
from learners.nmt.copying import mask_or_rename
from learners.nmt.model import with_dropout
from learners.nmt.plateau import PlateauConfig, PlateauSchedule
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import PAD, SubwordVocabulary, Vocabulary, WordVocabulary
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

SNAPSHOT_KIND = "training 3"  # changes when an older snapshot can no longer be read
ADAM_MOMENTS = ("exp_avg", "exp_avg_sq")  # torch's names


@dataclass(frozen=True, kw_only=True)
class PretrainingConfig:
    """How long to train, on what, and what to keep."""

    max_steps: int | None = None  # None: until it has converged
    validate_every: int = 250  # steps; each validation also takes a snapshot
    plateau: PlateauConfig = field(default_factory=PlateauConfig)
    held_out: int = 500  # pairs, but at most a tenth of all
    mask_share: float = 0.02  # share of pairs in which a copied token is made unknown: teaches to copy unknown tokens
    rename_share: float = 0.15  # share of pairs in which it becomes a made-up name: teaches to copy any name
    learning_rate_factor: float = 1.0  # times the model's learning rate: less when a trained model is trained further
    learning_rate: float | None = None  # in place of the model's
    dropout: float | None = None  # in place of the model's
    continued_training: bool = False  # constant rate, max_steps, last parameters kept: as bandit learners train
    keep_checkpoints: int = 0  # the models of this many last validations become ensemble members
    seed: int = 0


@dataclass(frozen=True)
class PretrainingProgress:
    """The state of a training after a validation."""

    step: int
    max_steps: int | None
    held_out_loss: float  # per token
    best_loss: float  # the lowest held-out loss so far
    end: str = ""  # why training has ended; empty while it has not

    @property
    def steps(self) -> int:
        """The maximum number of steps; 0 if there is none."""
        return self.max_steps or 0

    @property
    def status(self) -> str:
        """One line for the user."""
        bound = f" of at most {self.max_steps:,}" if self.max_steps and not self.end else ""
        end = f", {self.end}" if self.end else ""
        return f"{self.step:,}{bound} steps, loss {self.best_loss:.3f}{end}"


Watch = Callable[[PretrainingProgress], None]
Augment = Callable[[Sequence[Pair]], Sequence[Pair]]  # returns further pairs to learn from, made of the given ones


def new_translator(config: ModelConfig, pairs: Sequence[Pair], *, seed: int = 0) -> Translator:
    """Return an untrained translator with vocabularies learned from the pairs."""
    source: Vocabulary
    target: Vocabulary
    if config.vocabulary == "bpe":
        source = target = SubwordVocabulary.learn((text for pair in pairs for text in pair), config.vocabulary_size)
    else:
        source = WordVocabulary.learn((pair[0] for pair in pairs), config.vocabulary_size)
        target = WordVocabulary.learn((pair[1] for pair in pairs), config.vocabulary_size)
    return Translator(config, new_model(config, source.size, target.size, seed=seed), source, target)


def train(
    translator: Translator,
    pairs: Iterable[Pair],
    config: PretrainingConfig | None = None,
    *,
    augment: Augment = lambda _: (),
    folder: Path | None = None,
    watch: Watch | None = None,
) -> None:
    """Train a new translator, or a trained one further; it ends with the best parameters on the held-out pairs.

    Args:
        translator: The translator; its model is changed in place.
        pairs: Parallel text. A part of it is held out for validation.
        config: How long to train, on what, and what to keep.
        augment: Makes further training pairs from those that are not held out. It never sees held-out pairs: parts of
            them among the training pairs would make the held-out loss measure memory.
        folder: Where snapshots are kept. A later call with the same arguments resumes from the last one.
        watch: Called after each validation.
    """
    training = _Training(translator, list(pairs), config or PretrainingConfig(), augment)
    snapshot = folder / "training" if folder else None
    if snapshot and snapshot.exists():
        training.load(Snapshot.read(snapshot), snapshot)
    elif snapshot:
        snapshot.parent.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng():
        while not training.finished:
            progress = training.advance()
            if snapshot:
                training.save().write(snapshot)
            if watch:
                watch(progress)
    training.finish()


class _Training:
    """The state of a training: everything that a snapshot holds."""

    def __init__(self, translator: Translator, pairs: list[Pair], config: PretrainingConfig, augment: Augment) -> None:
        if config.max_steps is None and config.continued_training:
            raise TrainingError("continued training does not converge: it needs a number of steps")
        self._translator, self._config = translator, config
        max_words = translator.config.max_training_words
        held_out, rest = split_held_out(pairs, max_words, config)
        self._held_out = [self._encode(pair) for pair in held_out]
        self._pairs = _up_to([*rest, *augment(rest)], max_words)
        self._text_digest = _digest(repr(pairs).encode())
        self._start_digest = _digest(translator.vector.detach().cpu().numpy().tobytes())
        self._optimiser = torch.optim.Adam([translator.vector], betas=(0.9, translator.config.beta2), fused=True)
        self._step = 0
        self._plateau = PlateauSchedule(config.plateau)
        self._best_loss = math.inf
        self._best = translator.vector.detach().clone()
        self._checkpoints: list[torch.Tensor] = []  # parameters at the last validations
        self._epoch = -1
        self._batches: list[list[EncodedPair]] = []
        self._epoch_start = 0

    @property
    def finished(self) -> bool:
        return bool(self._end)

    @property
    def _end(self) -> str:
        """Why training has ended; empty while it has not."""
        if self._plateau.converged and not self._config.continued_training:
            return f"converged: no gain in the last {self._plateau.validations_without_gain} validations"
        if self._config.max_steps is not None and self._step >= self._config.max_steps:
            return "all steps taken" if self._config.continued_training else "not converged: stopped at the bound"
        return ""

    def advance(self) -> PretrainingProgress:
        """Train until the next validation, and validate."""
        end = self._step + self._config.validate_every
        if self._config.max_steps is not None:
            end = min(end, self._config.max_steps)
        dropout = self._translator.config.dropout if self._config.dropout is None else self._config.dropout
        with with_dropout(self._translator.model, dropout):
            while self._step < end:
                self._update(self._next_batch())
                self._step += 1
        held_out_loss = self._validate()
        return PretrainingProgress(self._step, self._config.max_steps, held_out_loss, self._best_loss, self._end)

    def finish(self) -> None:
        """Give the translator its final parameters and its ensemble members."""
        translator = self._translator
        translator.ensemble_members = []
        for vector in self._checkpoints:
            member = new_model(
                translator.config, translator.source_vocabulary.size, translator.target_vocabulary.size
            ).to(vector.device)
            nn.utils.vector_to_parameters(vector, member.parameters())
            translator.ensemble_members.append(member.eval())
        if not self._config.continued_training:
            translator.vector.data.copy_(self._best)
        translator.training_steps = self._step
        translator.zero_gradient()

    def save(self) -> Snapshot:
        state = self._optimiser.state[self._translator.vector]
        arrays = {name: state[name].cpu().numpy() for name in ADAM_MOMENTS}
        arrays |= {"vector": self._translator.vector.detach().cpu().numpy(), "best": self._best.cpu().numpy()}
        arrays |= {f"last{number}": vector.cpu().numpy() for number, vector in enumerate(self._checkpoints)}
        return Snapshot(
            arrays,
            {
                "about": self._identity(),
                "step": self._step,
                "plateau": self._plateau.state(),
                "best": self._best_loss,
            },
        )

    def load(self, snapshot: Snapshot, path: Path) -> None:
        if snapshot.values.get("about") != self._identity():
            raise SnapshotError(
                f"{path} is a snapshot of another training: use an empty folder, or the arguments of that training"
            )
        vector = self._translator.vector
        arrays = {name: torch.from_numpy(array).to(vector.device) for name, array in snapshot.arrays.items()}
        self._step, self._best_loss = snapshot.values["step"], snapshot.values["best"]
        self._plateau.load_state(snapshot.values["plateau"])
        vector.data.copy_(arrays["vector"])
        self._best = arrays["best"]
        self._checkpoints = [arrays[f"last{number}"] for number in range(len(arrays) - len(ADAM_MOMENTS) - 2)]
        state: dict[str, Any] = {name: arrays[name] for name in ADAM_MOMENTS}
        self._optimiser.state[vector] = state | {"step": torch.tensor(float(self._step), device=vector.device)}

    def _identity(self) -> dict[str, Any]:
        """Return what a snapshot must agree on; only the bound on steps may change."""
        config = to_stored(self._config)
        del config["steps"]
        return {
            "kind": SNAPSHOT_KIND,
            "recipe": to_stored(self._translator.config),
            "schedule": config,
            "text": self._text_digest,
            "beginning": self._start_digest,
        }

    def _next_batch(self) -> list[EncodedPair]:
        """Return the batch of this step; each epoch has its own order."""
        while self._step - self._epoch_start >= len(self._batches):
            self._epoch_start += len(self._batches)
            self._epoch += 1
            rng = np.random.default_rng([self._config.seed, self._epoch])
            shares = (self._config.mask_share, self._config.rename_share)
            encoded = [self._encode(mask_or_rename(pair, rng, *shares)) for pair in self._pairs]
            batches = bucket_by_length(encoded, self._translator.config.batch_tokens, rng)
            self._batches = [[encoded[index] for index in batch] for batch in batches]
        return self._batches[self._step - self._epoch_start]

    def _update(self, batch: list[EncodedPair]) -> None:
        """Take one step along the mean gradient of the batch."""
        translator, model_config = self._translator, self._translator.config
        torch.manual_seed(self._config.seed * 1_000_003 + self._step)  # for dropout
        translator.zero_gradient()
        (self._loss(batch) / len(batch)).backward()
        if not math.isfinite(translator.parameters.clip_gradient(model_config.clip_norm)):
            raise DivergedError(f"training diverged at step {self._step:,}: try a lower learning rate")
        rate = model_config.learning_rate if self._config.learning_rate is None else self._config.learning_rate
        self._optimiser.param_groups[0]["lr"] = rate * self._config.learning_rate_factor * self._rate_schedule()
        self._optimiser.step()

    def _rate_schedule(self) -> float:
        """Return the share of the learning rate that this step has.

        It is linear warm-up, then inverse square root, both times the plateau's factor. Continued training has a
        constant rate after its warm-up.
        """
        model_config = self._translator.config
        warmups = (self._step + 1) / model_config.warmup
        if self._config.continued_training:
            return min(warmups, 1.0)
        return self._plateau.rate_factor * min(warmups, warmups**-0.5 if model_config.inverse_sqrt else 1.0)

    @torch.no_grad()
    def _validate(self) -> float:
        """Return the held-out loss per token; remember the parameters if they are the best or a checkpoint."""
        batches = bucket_by_length(self._held_out, self._translator.config.batch_tokens, np.random.default_rng(0))
        total = sum(self._loss([self._held_out[index] for index in batch]).item() for batch in batches)
        loss = total / sum(len(target) for _, target in self._held_out)
        vector = self._translator.vector.detach().clone()
        self._plateau.update(loss)
        if loss < self._best_loss:
            self._best_loss, self._best = loss, vector
        kept = self._config.keep_checkpoints
        self._checkpoints = [*self._checkpoints, vector][-kept:] if kept else []
        return loss

    def _loss(self, batch: list[EncodedPair]) -> torch.Tensor:
        device = self._translator.model.device
        targets = pad([target for _, target in batch], device)  # [batch, target]
        logits = self._translator.model(pad([source for source, _ in batch], device), shift_right(targets))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum")

    def _encode(self, pair: Pair) -> EncodedPair:
        return self._translator.encode_source(pair[0]), self._translator.encode_target(pair[1])


def split_held_out(pairs: Sequence[Pair], max_words: int, config: PretrainingConfig) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs that a training validates on, and those that it trains on: both depend on its seed."""
    order = np.random.default_rng(config.seed).permutation(len(pairs))
    return _split([pairs[place] for place in order], max_words, config.held_out)


def _split(pairs: Sequence[Pair], max_words: int, max_held_out: int) -> tuple[list[Pair], list[Pair]]:
    """Return the held-out pairs and the rest.

    Held out are the first pairs that are short enough to train on, at most a tenth of them.
    """
    usable = len(_up_to(pairs, max_words))
    if usable < 2:
        raise TrainingError(
            f"training needs at least two sentence pairs of up to {max_words} words, but there are {usable}"
        )
    count = max(1, min(max_held_out, usable // 10))
    held_out: list[Pair] = []
    rest: list[Pair] = []
    for pair in pairs:
        (held_out if len(held_out) < count and _up_to([pair], max_words) else rest).append(pair)
    return held_out, rest


def _up_to(pairs: Sequence[Pair], max_words: int) -> list[Pair]:
    """Return the pairs whose sources have at most this many words."""
    return [pair for pair in pairs if len(pair[0].split()) <= max_words]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
