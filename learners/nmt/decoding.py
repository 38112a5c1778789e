"""Decoding: sampling, greedy decoding and beam search, from a model and a source to a sequence of tokens."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from learners.errors import DivergedError
from learners.nmt.ensemble import Ensemble
from learners.nmt.hypothesis import Floats
from learners.nmt.model import IMPOSSIBLE_LOGIT, TranslationModel
from learners.nmt.vocabulary import BOS, EOS


@dataclass(frozen=True)
class DecodedSequence:
    """The tokens of a translation, as a model produced them."""

    ids: list[int]
    log_probability: float
    attention: Floats  # [target, source]


def check_finite(log_probability: float) -> None:
    """Raise DivergedError unless the number is finite."""
    if not math.isfinite(log_probability):
        raise DivergedError("the model's probabilities are no longer numbers: it has diverged")


def max_output_length(source_length: int) -> int:
    """Return the largest number of tokens that a source of this many tokens is translated to."""
    return 2 * source_length + 10


def greedy_decode(model: TranslationModel, source: Tensor) -> DecodedSequence:
    """Take the most probable token at each step, but not the end symbol first. ``source`` is [1, length]."""

    def most_probable(logits: Tensor, position: int) -> int:
        if position == 0:
            logits = logits.clone()
            logits[EOS] = IMPOSSIBLE_LOGIT
        return int(logits.argmax())

    return _decode(model, source, 1.0, most_probable)


def sample(model: TranslationModel, source: Tensor, temperature: float, uniforms: Floats) -> DecodedSequence:
    """Sample a token at each step, by the number in [0, 1) that ``uniforms`` has for it.

    The token is the first whose cumulative probability exceeds the number. So two implementations that are given the
    same numbers sample the same tokens. ``source`` is [1, length].
    """

    def at_quantile(logits: Tensor, position: int) -> int:
        cumulative = logits.softmax(0).double().cumsum(0)
        # A uniform below 1 times the total lies below the total, so there is a token above it, unless all is NaN.
        place = int(torch.searchsorted(cumulative, float(uniforms[position]) * cumulative[-1], right=True))
        return min(place, len(cumulative) - 1)

    return _decode(model, source, temperature, at_quantile)


@torch.no_grad()
def _decode(
    model: TranslationModel, source: Tensor, temperature: float, choose: Callable[[Tensor, int], int]
) -> DecodedSequence:
    """Decode up to the end symbol; ``choose`` picks a token by its tempered logits [vocabulary] and its position."""
    encoder_output = model.encode(source)
    state = model.initial_state(encoder_output)
    token, total = BOS, 0.0
    ids: list[int] = []
    attention: list[Tensor] = []
    for position in range(max_output_length(source.shape[1])):
        step = model.step(encoder_output, state, torch.tensor([token], device=source.device))
        state = step.state
        logits = step.logits[0] / temperature
        token = choose(logits, position)
        total += float(logits.log_softmax(0)[token])
        ids.append(token)
        attention.append(step.attention[0])
        if token == EOS:
            break
    check_finite(total)
    return DecodedSequence(ids, total, torch.stack(attention).cpu().numpy())


@dataclass(frozen=True)
class BeamHypothesis:
    """A partial or finished translation in a beam."""

    ids: list[int]
    log_probability: float
    attention: list[Tensor]  # [source] for each token

    def score(self) -> float:
        """Return the log-probability per token: without normalisation, short translations would always win."""
        return self.log_probability / len(self.ids)

    def decoded(self) -> DecodedSequence:
        return DecodedSequence(self.ids, self.log_probability, torch.stack(self.attention).cpu().numpy())


def beam_search(ensemble: Ensemble, source: Tensor, size: int) -> DecodedSequence:
    """Return the best translation that a beam of this size finds. ``source`` is [1, length]."""
    return max(_search(ensemble, source, size), key=BeamHypothesis.score).decoded()


def beam_k_best(ensemble: Ensemble, source: Tensor, size: int) -> list[DecodedSequence]:
    """Return all translations that a beam of this size finishes, best first: as many as its size, or fewer.

    The first one is that of ``beam_search``.
    """
    found = _search(ensemble, source, size, best_only=False)
    return [item.decoded() for item in sorted(found, key=BeamHypothesis.score, reverse=True)]


@torch.no_grad()
def _search(ensemble: Ensemble, source: Tensor, size: int, *, best_only: bool = True) -> list[BeamHypothesis]:
    """Return what a beam finishes, or what it ends with if it finishes nothing.

    With ``best_only``, the search ends as soon as the best finished hypothesis cannot be exceeded.
    """
    state = ensemble.initial_state(source)
    max_length = max_output_length(source.shape[1])
    beam, parents, finished = [BeamHypothesis([], 0.0, [])], [0], list[BeamHypothesis]()
    for _ in range(max_length):
        previous = torch.tensor([item.ids[-1] if item.ids else BOS for item in beam], device=source.device)
        log_probabilities, attention, state = ensemble.step(
            state, previous, torch.tensor(parents, device=source.device)
        )
        if not beam[0].ids:
            log_probabilities[:, EOS] = IMPOSSIBLE_LOGIT
        beam, parents = _extend(beam, log_probabilities, attention, size - len(finished))
        finished += [item for item in beam if item.ids[-1] == EOS]
        open_items = [place for place, item in enumerate(beam) if item.ids[-1] != EOS]
        beam, parents = [beam[place] for place in open_items], [parents[place] for place in open_items]
        if not beam:
            break
        if best_only and finished and _cannot_win(beam, max(map(BeamHypothesis.score, finished)), max_length):
            break
    return finished or beam


def _cannot_win(beam: Sequence[BeamHypothesis], best_score: float, max_length: int) -> bool:
    """Return whether no item can exceed the best score, even if all its further tokens had probability 1."""
    return max(item.log_probability for item in beam) / max_length <= best_score


def _extend(
    beam: Sequence[BeamHypothesis], log_probabilities: Tensor, attention: Tensor, count: int
) -> tuple[list[BeamHypothesis], list[int]]:
    """Return the best ``count`` hypotheses that are one token longer, and the row that each of them continues.

    ``log_probabilities`` is [beam, vocabulary], ``attention`` is [beam, source].
    """
    totals = torch.tensor(
        [item.log_probability for item in beam], dtype=log_probabilities.dtype, device=log_probabilities.device
    )
    scores = (totals.unsqueeze(1) + log_probabilities).flatten()  # [beam * vocabulary]
    best, places = scores.topk(min(count, len(scores)))
    check_finite(float(best[0]))  # topk puts NaN first
    extended, parents = [], []
    for score, place in zip(best.tolist(), places.tolist(), strict=True):
        parent, token = divmod(place, log_probabilities.shape[1])
        if score > IMPOSSIBLE_LOGIT / 2:
            item = beam[parent]
            extended.append(BeamHypothesis([*item.ids, token], score, [*item.attention, attention[parent]]))
            parents.append(parent)
    return extended, parents
