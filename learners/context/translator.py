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
from learners.context.scoring import ContextDecoder, row_length, target_losses
from learners.context.search import Sources, beam_search_batch, sample_batch
from learners.contract import PLACEHOLDER, truncate_to_limit
from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import ModelConfig
from learners.nmt.parameters import FlatParameters
from learners.nmt.vocabulary import EOS, PAD, SPECIALS, SubwordVocabulary
from learners.snapshot import Snapshot

BEAM = 4  # Voita et al. 2019, section 5.2
CACHED_SENTENCES = 200_000  # with their tokens: a sentence is part of several windows
BATCH_TOKENS = 4_000  # of a batch that is translated, padding included
SCORED_TOKENS = 1_000  # of a batch that is scored: a larger one leaves the processor's cache


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

    def output_losses(self, examples: Sequence[Example], outputs: Sequence[list[int]], *, temperature: float) -> Tensor:
        """Return the negative log-likelihood of what was sampled for each example, with torch's graph."""
        targets = pad(outputs, self.device)
        logits = self.decoder.decode(self.encode(examples).encoded, shift_right(targets)) / temperature
        per_token = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD, reduction="none")
        return per_token.sum(1)

    def learns_from(self, example: Example) -> bool:  # noqa: ARG002
        """Return whether the trained part has a share in the translation of an example."""
        return True

    @torch.no_grad()
    def sentence_losses(self, examples: Sequence[Example]) -> list[float]:
        """Return the negative log-likelihood of each target, summed over the tokens of the sentence itself.

        Examples that differ only in their targets, such as the candidates of a group, are read once. Equal examples are
        scored once.
        """
        targets: dict[Example, dict[str, float]] = {}  # by what is read
        for example in examples:
            targets.setdefault(self._without_target(example), {})[example.target] = 0.0
        readings = list(targets)
        rows = [
            [self.target_ids(Example(reading.source, reading.context, target)) for target in targets[reading]]
            for reading in readings
        ]
        for batch in _batches([row_length(row) for row in rows], SCORED_TOKENS):
            encoded = self.encode([readings[place] for place in batch]).encoded
            losses = iter(target_losses(self.decoder, encoded, [rows[place] for place in batch]))
            for place in batch:
                targets[readings[place]] = {target: next(losses) for target in targets[readings[place]]}
        return [targets[self._without_target(example)][example.target] for example in examples]

    def _without_target(self, example: Example) -> Example:
        """Return what of an example is read: the source, and as much context as the model reads."""
        return Example(example.source, example.limited(self.max_context).context)

    def group_losses(self, groups: Sequence[ContrastiveGroup]) -> list[float]:
        """Return the loss of each candidate of contrastive groups, group after group."""
        return self.sentence_losses(candidates_of(groups))

    def sample(self, example: Example, temperature: float, generator: torch.Generator) -> tuple[list[int], str]:
        """Sample a translation: all tokens of the output, and the text of the sentence itself, which may be empty."""
        with torch.no_grad():
            (output,) = sample_batch(self.decoder, self.encode([example]), temperature, generator)
        return output, truncate_to_limit(self._text(self.current_ids(output)))

    @torch.no_grad()
    def translate(self, examples: Sequence[Example], *, beam: int = BEAM) -> list[str]:
        """Translate each example's source in its context; the target is not read."""
        texts = [""] * len(examples)
        for batch in _batches([self.cost(example) for example in examples], BATCH_TOKENS):
            found = beam_search_batch(self.decoder, self.encode([examples[place] for place in batch]), beam)
            for place, ids in zip(batch, found, strict=True):
                texts[place] = self._text(self.current_ids(ids)) or examples[place].source.strip()
        return [truncate_to_limit(text) or PLACEHOLDER for text in texts]

    def _ids(self, text: str) -> list[int]:
        """Return the tokens of one sentence, truncated, the end symbol last."""
        if text not in self._encoded:
            if len(self._encoded) >= CACHED_SENTENCES:
                self._encoded.clear()
            self._encoded[text] = [*self.vocabulary.encode(text)[0][: self.config.max_source - 1], EOS]
        return self._encoded[text]

    def _text(self, ids: Sequence[int]) -> str:
        return self.vocabulary.decode(token for token in ids if token >= len(SPECIALS))


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the places of items of similar lengths, so many that a batch has about this many tokens, padded."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[place] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def split_at_separator(ids: list[int], separator: int) -> list[int]:
    """Return what follows the last separator, or everything if there is none."""
    last = max((place for place, token in enumerate(ids) if token == separator), default=-1)
    return ids[last + 1 :]
