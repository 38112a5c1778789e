"""The common part of context-aware translators: loss, contrastive scores and translation, always in batches.

A translator turns a batch of examples into what its decoder attends to, and a target into tokens. A target may begin
with the translations of the context; the tokens of the sentence itself come last.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from leaderboard.metrics.contrastive import ContrastiveGroup
from learners.context.examples import MAX_CONTEXT, Example, candidates_of
from learners.context.search import Sources, StepModel, beam_search_batch
from learners.contract import PLACEHOLDER, truncate_to_limit
from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import ModelConfig
from learners.nmt.model import EncoderOutput
from learners.nmt.parameters import FlatParameters
from learners.nmt.vocabulary import EOS, PAD, SPECIALS, SubwordVocabulary
from learners.snapshot import Snapshot

BEAM = 4  # Voita et al. 2019, section 5.2
CACHED_SENTENCES = 200_000  # with their tokens: a sentence is part of several windows
BATCH_TOKENS = 4_000  # of a batch that is scored or translated, padding included


class ContextDecoder(StepModel, ABC):
    """A decoder that predicts one token, or all of a target at once."""

    @abstractmethod
    def decode(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        """Return logits [batch, target, vocabulary] for all positions at once (teacher forcing)."""


class ContextTranslator(ABC):
    """A model that translates sentences in context, and can be trained."""

    kind: ClassVar[str]  # names the model in files
    max_context: ClassVar[int] = MAX_CONTEXT  # sentences that it reads

    def __init__(self, config: ModelConfig, vocabulary: SubwordVocabulary, trained: nn.Module) -> None:
        """Take the part that is trained; its parameters become one vector."""
        self.config = config
        self.vocabulary = vocabulary
        self.trained = trained.eval()
        self.parameters = FlatParameters(trained)
        self._encoded: dict[str, list[int]] = {}

    @property
    @abstractmethod
    def decoder(self) -> ContextDecoder:
        """The decoder that reads what ``encode`` returns."""

    @abstractmethod
    def encode(self, examples: Sequence[Example], rng: np.random.Generator | None = None) -> Sources:
        """Return what the decoder attends to. With ``rng``, for training: a model may then add noise to its inputs."""

    def target_ids(self, example: Example) -> tuple[list[int], int]:
        """Return the tokens that the decoder learns to predict, and the place at which the sentence itself begins."""
        return self._ids(example.target), 0

    def current_ids(self, ids: list[int]) -> list[int]:
        """Return the part of a decoded translation that is the sentence itself."""
        return ids

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return everything that loading needs."""

    def cost(self, example: Example) -> int:
        """Return how much of a batch an example takes, in tokens."""
        sources = sum(len(source.split()) for source, _ in example.limited(self.max_context).context)
        return sources + max(len(example.source.split()), len(example.target.split())) + 1

    @property
    def device(self) -> torch.device:
        return self.parameters.vector.device

    def loss(
        self, examples: Sequence[Example], rng: np.random.Generator | None = None, *, smoothing: float = 0.0
    ) -> Tensor:
        """Return the summed negative log-likelihood of the targets, with torch's graph."""
        targets = pad([self.target_ids(example)[0] for example in examples], self.device)
        logits = self.decoder.decode(self.encode(examples, rng).encoded, shift_right(targets))
        return F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=smoothing
        )

    @torch.no_grad()
    def sentence_losses(self, examples: Sequence[Example]) -> list[float]:
        """Return the negative log-likelihood of each target, summed over the tokens of the sentence itself."""
        losses = [0.0] * len(examples)
        for batch in self._batches(examples):
            chosen = [examples[place] for place in batch]
            encoded_targets = [self.target_ids(example) for example in chosen]
            targets = pad([ids for ids, _ in encoded_targets], self.device)
            logits = self.decoder.decode(self._encode_once(chosen), shift_right(targets))
            per_token = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD, reduction="none")
            places = torch.arange(targets.shape[1], device=self.device)
            starts = torch.tensor([start for _, start in encoded_targets], device=self.device)
            own = per_token.masked_fill(places.unsqueeze(0) < starts.unsqueeze(1), 0.0).double().sum(1)
            for place, value in zip(batch, own.tolist(), strict=True):
                losses[place] = value
        return losses

    def _encode_once(self, examples: Sequence[Example]) -> EncoderOutput:
        """Encode examples that differ only in their targets once: candidates of a group share source and context."""
        rows: dict[Example, int] = {}
        for example in examples:
            rows.setdefault(self._without_target(example), len(rows))
        encoded = self.encode(list(rows)).encoded
        places = [rows[self._without_target(example)] for example in examples]
        return encoded.select(torch.tensor(places, device=self.device))

    def _without_target(self, example: Example) -> Example:
        """Return what of an example is read: the source, and as much context as the model reads."""
        return Example(example.source, example.limited(self.max_context).context)

    def group_losses(self, groups: Sequence[ContrastiveGroup]) -> list[float]:
        """Return the loss of each candidate of contrastive groups, group after group."""
        return self.sentence_losses(candidates_of(groups))

    @torch.no_grad()
    def translate(self, examples: Sequence[Example], *, beam: int = BEAM) -> list[str]:
        """Translate each example's source in its context; the target is not read."""
        texts = [""] * len(examples)
        for batch in self._batches(examples):
            found = beam_search_batch(self.decoder, self.encode([examples[place] for place in batch]), beam)
            for place, ids in zip(batch, found, strict=True):
                texts[place] = self._text(self.current_ids(ids)) or examples[place].source.strip()
        return [truncate_to_limit(text) or PLACEHOLDER for text in texts]

    def _batches(self, examples: Sequence[Example]) -> Iterator[list[int]]:
        """Yield the places of examples of similar size, so many that a batch has about ``BATCH_TOKENS`` tokens."""
        batch: list[int] = []
        for place in sorted(range(len(examples)), key=lambda place: self.cost(examples[place])):
            if batch and self.cost(examples[place]) * (len(batch) + 1) > BATCH_TOKENS:
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of one sentence, truncated, the end symbol last."""
        if text not in self._encoded:
            if len(self._encoded) >= CACHED_SENTENCES:
                self._encoded.clear()
            self._encoded[text] = [*self.vocabulary.encode(text)[0][: self.config.max_source - 1], EOS]
        return self._encoded[text]

    def _text(self, ids: Sequence[int]) -> str:
        return self.vocabulary.decode(token for token in ids if token >= len(SPECIALS))


def split_at_separator(ids: list[int], separator: int) -> list[int]:
    """Return what follows the last separator, or everything if there is none."""
    last = max((place for place, token in enumerate(ids) if token == separator), default=-1)
    return ids[last + 1 :]
