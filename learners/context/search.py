"""Search in batches: beam search and sampling for many sources at once.

``learners.nmt.decoding`` decodes one source at a time, as systems that play do. Training and evaluation translate
thousands of sentences, for which a batch is many times faster. Both find the same translations.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from learners.nmt.decoding import check_finite, max_output_length
from learners.nmt.model import IMPOSSIBLE_LOGIT, DecoderState, EncoderOutput, StepOutput
from learners.nmt.vocabulary import BOS, EOS

DEAD = -1e18  # the score of a place in the beam that has no hypothesis


class StepModel(Protocol):
    """A model that predicts one token after the other."""

    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState: ...

    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput: ...


@dataclass(frozen=True)
class Sources:
    """A batch of encoded sources, and how many tokens each has: that limits its translation."""

    encoded: EncoderOutput
    lengths: list[int]


@torch.no_grad()
def beam_search_batch(model: StepModel, sources: Sources, size: int) -> list[list[int]]:
    """Return the tokens of the best translation of each source, by log-probability per token.

    As in ``learners.nmt.decoding``: a translation does not begin with the end symbol, and a finished hypothesis leaves
    its beam.
    """
    batch, device = len(sources.lengths), sources.encoded.states.device
    encoded = _repeat(sources.encoded, size)
    state = model.initial_state(encoded)
    limits = torch.tensor([max_output_length(length) for length in sources.lengths], device=device)
    scores = torch.full((batch, size), DEAD, device=device, dtype=torch.float64)
    scores[:, 0] = 0.0
    tokens = torch.full((batch * size, 0), BOS, device=device, dtype=torch.long)
    previous = torch.full((batch * size,), BOS, device=device, dtype=torch.long)
    best: list[tuple[float, list[int]]] = [(-float("inf"), [])] * batch
    finished = torch.zeros(batch, dtype=torch.long, device=device)
    for length in range(1, int(limits.max()) + 1):
        step = model.step(encoded, state, previous)
        logits = step.logits
        if length == 1:
            logits = logits.clone()
            logits[:, EOS] = IMPOSSIBLE_LOGIT
        scores, parents, previous = _extend(scores, logits, size, finished)
        rows = (torch.arange(batch, device=device).unsqueeze(1) * size + parents).flatten()
        tokens = torch.cat([tokens[rows], previous.unsqueeze(1)], 1)
        state = tuple(tensor[rows] for tensor in step.state)
        _collect(best, scores, previous.view(batch, size), tokens, finished, length)
        _stop_at_limits(best, scores, tokens, limits, length)
        if not bool((scores > DEAD / 2).any()):
            break
    return [ids for _, ids in best]


def _repeat(encoded: EncoderOutput, size: int) -> EncoderOutput:
    rows = torch.arange(len(encoded.states), device=encoded.states.device)
    return encoded.select(rows.repeat_interleave(size))


def _extend(scores: Tensor, logits: Tensor, size: int, finished: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scores [batch, size] of the best longer hypotheses, their parents, and their last tokens, flat."""
    batch = len(scores)
    log_probabilities = logits.double().log_softmax(-1).view(batch, size, -1)
    totals = (scores.unsqueeze(2) + log_probabilities).flatten(1)  # [batch, size * vocabulary]
    kept, places = totals.topk(size, 1)
    check_finite(float(kept[:, 0].max()))
    parents = places.div(log_probabilities.shape[2], rounding_mode="floor")
    ranks = torch.arange(size, device=scores.device)
    kept = kept.masked_fill(ranks.unsqueeze(0) >= (size - finished).unsqueeze(1), DEAD)
    kept = kept.masked_fill(kept < IMPOSSIBLE_LOGIT / 2, DEAD)
    return kept, parents, (places % log_probabilities.shape[2]).flatten()


def _collect(
    best: list[tuple[float, list[int]]], scores: Tensor, last: Tensor, tokens: Tensor, finished: Tensor, length: int
) -> None:
    """Move hypotheses that end with EOS out of their beams, and remember the best of each source."""
    ended = (last == EOS) & (scores > DEAD / 2)
    size = scores.shape[1]
    for row, place in ended.nonzero().tolist():
        score = float(scores[row, place]) / length
        if score > best[row][0]:
            best[row] = score, tokens[row * size + place].tolist()
    finished += ended.sum(1)
    scores[ended] = DEAD


def _stop_at_limits(
    best: list[tuple[float, list[int]]], scores: Tensor, tokens: Tensor, limits: Tensor, length: int
) -> None:
    """End the beams that cannot win any more or are at their limit; an unfinished one gives its best hypothesis."""
    size = scores.shape[1]
    highest, places = scores.max(1)
    for row, (score, place, limit) in enumerate(zip(highest.tolist(), places.tolist(), limits.tolist(), strict=True)):
        if score < DEAD / 2:
            continue
        if length >= limit and not best[row][1]:
            best[row] = score / length, tokens[row * size + place].tolist()
        if length >= limit or (best[row][1] and score / limit <= best[row][0]):
            scores[row] = DEAD


@torch.no_grad()
def sample_batch(model: StepModel, sources: Sources, temperature: float, generator: torch.Generator) -> list[list[int]]:
    """Sample the tokens of a translation of each source, the end symbol included."""
    encoded = sources.encoded
    state = model.initial_state(encoded)
    previous = torch.full((len(sources.lengths),), BOS, device=encoded.states.device, dtype=torch.long)
    ended = torch.zeros_like(previous, dtype=torch.bool)
    columns: list[Tensor] = []
    for _ in range(max_output_length(max(sources.lengths))):
        step = model.step(encoded, state, previous)
        state = step.state
        probabilities = (step.logits / temperature).softmax(-1)
        previous = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
        columns.append(previous)
        ended |= previous == EOS
        if bool(ended.all()):
            break
    return [_until_end(row) for row in torch.stack(columns, 1).tolist()]


def _until_end(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else [*ids, EOS]
