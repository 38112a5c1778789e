"""The losses of several targets of each source, such as the candidates of contrastive groups."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.nn import functional as F

from learners.context.search import StepModel
from learners.nmt.batches import pad, shift_right
from learners.nmt.model import EncoderOutput
from learners.nmt.packing import PackedTargets, Target
from learners.nmt.vocabulary import PAD


class ContextDecoder(StepModel, ABC):
    """A decoder that predicts one token, or all of a target at once."""

    @abstractmethod
    def decode(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        """Return logits [batch, target, vocabulary] for all positions at once (teacher forcing)."""


@runtime_checkable
class PackedDecoder(Protocol):
    """A decoder without recurrence: it can read several targets of a source in a row."""

    def packed_states(self, encoder_output: EncoderOutput, targets: PackedTargets) -> Tensor: ...

    def logits(self, hidden: Tensor) -> Tensor: ...


def row_length(targets: Sequence[Target]) -> int:
    """Return how many tokens a row of targets has, what they share counted once."""
    return targets[0][1] + sum(len(ids) - start for ids, start in targets)


def target_losses(decoder: ContextDecoder, sources: EncoderOutput, rows: Sequence[Sequence[Target]]) -> list[float]:
    """Return the negative log-likelihood of each target after its prefix, row after row; a row has one source."""
    if isinstance(decoder, PackedDecoder):
        return _packed_losses(decoder, sources, rows)
    return _repeated_losses(decoder, sources, rows)


def _packed_losses(decoder: PackedDecoder, sources: EncoderOutput, rows: Sequence[Sequence[Target]]) -> list[float]:
    """Compute logits only for the tokens that are scored."""
    packed = PackedTargets.of(rows, sources.states.device)
    scored = packed.labels != PAD
    logits = decoder.logits(decoder.packed_states(sources, packed)[scored])
    per_token = F.cross_entropy(logits, packed.labels[scored], reduction="none").double()
    losses = per_token.new_zeros(sum(map(len, rows)))
    found: list[float] = losses.index_add(0, packed.numbers, per_token).tolist()
    return found


def _repeated_losses(decoder: ContextDecoder, sources: EncoderOutput, rows: Sequence[Sequence[Target]]) -> list[float]:
    """Repeat each source for each of its targets."""
    device = sources.states.device
    repeated = [number for number, row in enumerate(rows) for _ in row]
    targets = pad([ids for row in rows for ids, _ in row], device)
    logits = decoder.decode(sources.select(torch.tensor(repeated, device=device)), shift_right(targets))
    per_token = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD, reduction="none").double()
    starts = torch.tensor([start for row in rows for _, start in row], device=device)
    places = torch.arange(targets.shape[1], device=device)
    found: list[float] = per_token.masked_fill(places.unsqueeze(0) < starts.unsqueeze(1), 0.0).sum(1).tolist()
    return found
