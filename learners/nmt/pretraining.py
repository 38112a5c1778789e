"""Making seed models: maximum likelihood on parallel text, until a held-out part of it stops improving.

Whatever interrupts it, training goes on from its last snapshot and ends with the same model: every random choice is a
function of the seed and the step, and nothing depends on the clock.
"""

import hashlib
import math
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from learners.errors import DivergedError, SnapshotError, TrainingError
from learners.nmt.batches import Encoded, bucketed, padded, previous
from learners.nmt.configs import ModelConfig
from learners.nmt.model import with_dropout
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import PAD, SubwordVocabulary, Vocabulary, WordVocabulary
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

Pair = tuple[str, str]  # source and target
HIDDEN = "\ufffc"  # the object replacement character, which no text has: it stands for any unknown
PUNCTUATION = frozenset(string.punctuation)  # is the same on both sides, but no name
LETTERS, DIGITS = string.ascii_lowercase, string.digits
PART_NUMBERS = 0.3  # share of made-up names that are letters and digits
MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True, kw_only=True)
class PretrainingConfig:
    """How long to train, and what to keep."""

    steps: int = 5_000  # at most
    validate_every: int = 250  # steps; a snapshot is taken then, too
    patience: int = 4  # validations without improvement before it stops
    held_out: int = 500  # pairs, but at most a tenth of all
    mask_share: float = (
        0.02  # share of pairs in which a copied token is made unknown, so that copying unknowns is learned
    )
    rename_share: float = 0.15  # share in which it is made up of random letters and digits, so that copying any name is
    learning_rate_factor: float = 1.0  # times the config's learning rate: less when a trained model is trained on
    learning_rate: float | None = None  # in place of the config's
    dropout: float | None = None  # in place of the config's
    continued_training: bool = False  # all steps at one rate, and the last parameters are kept: as learners learn
    keep_checkpoints: int = 0  # the models of so many last validations are kept as ensemble_members, for an ensemble
    seed: int = 0


@dataclass(frozen=True)
class PretrainingProgress:
    """How training stands after a validation."""

    step: int
    steps: int
    train_loss: float  # per token, since the last validation
    held_out_loss: float
    best_loss: float

    @property
    def status(self) -> str:
        """In words."""
        return f"{self.step:,} of at most {self.steps:,} steps, loss {self.best_loss:.3f}"


Watch = Callable[[PretrainingProgress], None]
Augment = Callable[[Sequence[Pair]], Sequence[Pair]]  # pairs to learn from besides these, made of them


def new_translator(config: ModelConfig, pairs: Sequence[Pair], *, seed: int = 0) -> Translator:
    """An untrained translator with vocabularies learned from the pairs."""
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
    schedule: PretrainingConfig | None = None,
    *,
    augment: Augment = lambda _: (),
    folder: Path | None = None,
    watch: Watch | None = None,
) -> None:
    """Train a new translator, or train an old one on; it ends with the best parameters on the held-out part.

    Only what is not held out is augmented: parts of held-out sentences would tell how well they are remembered.

    With a ``folder``, snapshots are kept there, and a later call with the same arguments goes on from the last one.
    """
    training = _Training(translator, list(pairs), schedule or PretrainingConfig(), augment)
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

    def __init__(
        self, translator: Translator, pairs: list[Pair], schedule: PretrainingConfig, augment: Augment
    ) -> None:
        self._translator, self._schedule = translator, schedule
        order = np.random.default_rng(schedule.seed).permutation(len(pairs))
        held_out, rest = _split(
            [pairs[place] for place in order], translator.config.max_training_words, schedule.held_out
        )
        self._held_out = [self._encoded(pair) for pair in held_out]
        self._pairs = _up_to([*rest, *augment(rest)], translator.config.max_training_words)
        self._origin = _digest(repr(pairs).encode()), _digest(translator.vector.detach().cpu().numpy().tobytes())
        self._optimiser = torch.optim.Adam([translator.vector], betas=(0.9, translator.config.beta2), fused=True)
        self._step = 0
        self._bad = 0
        self._best_loss = math.inf
        self._best = translator.vector.detach().clone()
        self._last: list[torch.Tensor] = []
        self._epoch = -1
        self._batches: list[list[Encoded]] = []
        self._epoch_start = 0

    @property
    def finished(self) -> bool:
        worn_out = self._bad >= self._schedule.patience and not self._schedule.continued_training
        return worn_out or self._step >= self._schedule.steps

    def advance(self) -> PretrainingProgress:
        """Train until the next validation, and validate."""
        loss, tokens = 0.0, 0
        end = min(self._schedule.steps, self._step + self._schedule.validate_every)
        dropout = self._translator.config.dropout if self._schedule.dropout is None else self._schedule.dropout
        with with_dropout(self._translator.model, dropout):
            while self._step < end:
                batch = self._next_batch()
                loss += self._learn(batch)
                tokens += sum(len(target) for _, target in batch)
                self._step += 1
        held_out = self._validate()
        return PretrainingProgress(self._step, self._schedule.steps, loss / tokens, held_out, self._best_loss)

    def finish(self) -> None:
        """Give the translator its parameters, and ensemble_members if they are wanted."""
        self._translator.ensemble_members = []
        for vector in self._last:
            companion = new_model(
                self._translator.config,
                self._translator.source_vocabulary.size,
                self._translator.target_vocabulary.size,
            ).to(vector.device)
            nn.utils.vector_to_parameters(vector, companion.parameters())
            self._translator.ensemble_members.append(companion.eval())
        if not self._schedule.continued_training:
            self._translator.vector.data.copy_(self._best)
        self._translator.zero_gradient()

    def save(self) -> Snapshot:
        state = self._optimiser.state[self._translator.vector]
        arrays = {name: state[name].cpu().numpy() for name in MOMENTS}
        arrays |= {"vector": self._translator.vector.detach().cpu().numpy(), "best": self._best.cpu().numpy()}
        arrays |= {f"last{number}": vector.cpu().numpy() for number, vector in enumerate(self._last)}
        return Snapshot(arrays, {"about": self._about(), "step": self._step, "bad": self._bad, "best": self._best_loss})

    def load(self, snapshot: Snapshot, path: Path) -> None:
        if snapshot.values.get("about") != self._about():
            raise SnapshotError(f"{path} is of another training: begin in an empty folder, or with the same arguments")
        vector = self._translator.vector
        arrays = {name: torch.from_numpy(array).to(vector.device) for name, array in snapshot.arrays.items()}
        self._step, self._bad = snapshot.values["step"], snapshot.values["bad"]
        self._best_loss = snapshot.values["best"]
        vector.data.copy_(arrays["vector"])
        self._best = arrays["best"]
        self._last = [arrays[f"last{number}"] for number in range(len(arrays) - len(MOMENTS) - 2)]
        state: dict[str, Any] = {name: arrays[name] for name in MOMENTS}
        self._optimiser.state[vector] = state | {"step": torch.tensor(float(self._step), device=vector.device)}

    def _about(self) -> dict[str, Any]:
        """What a snapshot must agree on; a training may be given more steps, though."""
        schedule = to_stored(self._schedule)
        del schedule["steps"]
        config, (text, beginning) = to_stored(self._translator.config), self._origin
        return {"kind": "training 2", "recipe": config, "schedule": schedule, "text": text, "beginning": beginning}

    def _next_batch(self) -> list[Encoded]:
        """The batch of this step: epochs follow each other without a gap, each in an order of its own."""
        while self._step - self._epoch_start >= len(self._batches):
            self._epoch_start += len(self._batches)
            self._epoch += 1
            rng = np.random.default_rng([self._schedule.seed, self._epoch])
            shares = (self._schedule.mask_share, self._schedule.rename_share)
            encoded = [self._encoded(_disguised(pair, rng, *shares)) for pair in self._pairs]
            groups = bucketed(encoded, self._translator.config.batch_tokens, rng)
            self._batches = [[encoded[number] for number in group] for group in groups]
        return self._batches[self._step - self._epoch_start]

    def _learn(self, batch: list[Encoded]) -> float:
        """One step; returns the summed loss of the batch."""
        translator, config = self._translator, self._translator.config
        torch.manual_seed(self._schedule.seed * 1_000_003 + self._step)  # of the dropout
        translator.zero_gradient()
        loss = self._loss(batch)
        (loss / len(batch)).backward()
        if not math.isfinite(translator.parameters.clip_gradient(config.clip_norm)):
            raise DivergedError(f"training diverged at step {self._step:,}: try a lower learning rate")
        rate = config.learning_rate if self._schedule.learning_rate is None else self._schedule.learning_rate
        self._optimiser.param_groups[0]["lr"] = rate * self._schedule.learning_rate_factor * self._ramp()
        self._optimiser.step()
        return loss.item()

    def _ramp(self) -> float:
        """The share of the learning rate that this step has."""
        config = self._translator.config
        passed = (self._step + 1) / config.warmup
        return min(passed, passed**-0.5 if config.inverse_sqrt and not self._schedule.continued_training else 1.0)

    @torch.no_grad()
    def _validate(self) -> float:
        groups = bucketed(self._held_out, self._translator.config.batch_tokens, np.random.default_rng(0))
        total = sum(self._loss([self._held_out[number] for number in group]).item() for group in groups)
        loss = total / sum(len(target) for _, target in self._held_out)
        vector = self._translator.vector.detach().clone()
        self._bad += 1
        if loss < self._best_loss:
            self._best_loss, self._best, self._bad = loss, vector, 0
        self._last = (
            [*self._last, vector][-self._schedule.keep_checkpoints :] if self._schedule.keep_checkpoints else []
        )
        return loss

    def _loss(self, batch: list[Encoded]) -> torch.Tensor:
        device = self._translator.model.device
        targets = padded([target for _, target in batch], device)
        logits = self._translator.model(padded([source for source, _ in batch], device), previous(targets))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum")

    def _encoded(self, pair: Pair) -> Encoded:
        return self._translator.encode_source(pair[0]), self._translator.encode_target(pair[1])


def _split(pairs: Sequence[Pair], longest: int, most: int) -> tuple[list[Pair], list[Pair]]:
    """The first pairs of a usable length are held out, but at most a tenth of them; the rest is for learning."""
    usable = len(_up_to(pairs, longest))
    if usable < 2:
        raise TrainingError(
            f"training needs at least two sentence pairs of up to {longest} words, but there are {usable}"
        )
    left = max(1, min(most, usable // 10))
    held_out: list[Pair] = []
    rest: list[Pair] = []
    for pair in pairs:
        (held_out if len(held_out) < left and _up_to([pair], longest) else rest).append(pair)
    return held_out, rest


def _up_to(pairs: Sequence[Pair], longest: int) -> list[Pair]:
    return [pair for pair in pairs if len(pair[0].split()) <= longest]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _disguised(pair: Pair, rng: np.random.Generator, hide: float, rename: float) -> Pair:
    """In some pairs, a token that both sides have is replaced on both: by an unknown one, or by a made-up name."""
    position = rng.random()
    if position >= hide + rename:
        return pair
    shared = sorted({*pair[0].split()} & {*pair[1].split()} - PUNCTUATION)
    if not shared:
        return pair
    chosen = shared[rng.integers(len(shared))]
    disguise = HIDDEN if position < hide else _made_up(chosen, rng)
    return _with(chosen, disguise, pair[0]), _with(chosen, disguise, pair[1])


def _made_up(token: str, rng: np.random.Generator) -> str:
    """Another number for a number, with as many digits; for anything else a name such as shops and news are full of."""
    if any(character.isdigit() for character in token):
        return "".join(DIGITS[rng.integers(10)] if character.isdigit() else character for character in token)
    name = "".join(LETTERS[place] for place in rng.integers(len(LETTERS), size=rng.integers(3, 9)))
    number = "".join(DIGITS[place] for place in rng.integers(10, size=rng.integers(5)))
    return f"{name[:2]}{number}" if rng.random() < PART_NUMBERS else name


def _with(chosen: str, other: str, text: str) -> str:
    return " ".join(other if word == chosen else word for word in text.split())
