"""From a model to a translation: token by token at random or greedily, or by beam search."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from learners.errors import DivergedError
from learners.nmt.ensemble import Ensemble
from learners.nmt.hypothesis import Floats
from learners.nmt.model import IMPOSSIBLE, TranslationModel
from learners.nmt.vocabulary import BOS, EOS


@dataclass(frozen=True)
class Drawn:
    """Tokens as they came out of a model."""

    ids: list[int]
    log_probability: float
    attention: Floats  # [tokens, source]
    features: Floats  # the mean encoder state


def check_finite(log_probability: float) -> None:
    """Refuse what a model says that is lost."""
    if not math.isfinite(log_probability):
        raise DivergedError("the model's probabilities are no longer numbers: it has diverged")


def length_bound(source_length: int) -> int:
    """The longest translation of a source that long, in tokens: no model can run away."""
    return 2 * source_length + 10


@torch.no_grad()
def draw(model: TranslationModel, source: Tensor, temperature: float, uniforms: Floats | None) -> Drawn:
    """Draw a token per uniform number until the end symbol; without uniforms take the most probable ones.

    A token is the first whose cumulative probability exceeds the number. So two engines that are given the same numbers
    draw the same tokens. ``source`` is [1, length].
    """
    memory = model.encode(source)
    state = model.start(memory)
    token, total = BOS, 0.0
    ids: list[int] = []
    attention: list[Tensor] = []
    for position in range(length_bound(source.shape[1])):
        step = model.step(memory, state, torch.tensor([token], device=source.device))
        state = step.state
        logits = step.logits[0] / temperature
        if uniforms is None:
            token = _most_probable(logits, allow_end=position > 0)
        else:
            token = _drawn(logits, float(uniforms[position]))
        total += float(logits.log_softmax(0)[token])
        ids.append(token)
        attention.append(step.attention[0])
        if token == EOS:
            break
    return Drawn(ids, total, torch.stack(attention).cpu().numpy(), memory.mean()[0].cpu().numpy())


def _most_probable(logits: Tensor, *, allow_end: bool) -> int:
    if not allow_end:
        logits = logits.clone()
        logits[EOS] = IMPOSSIBLE
    return int(logits.argmax())


def _drawn(logits: Tensor, uniform: float) -> int:
    cumulative = logits.softmax(0).double().cumsum(0)
    # A uniform below 1 times the total lies below the total, so there is a token above it, unless all is NaN.
    place = int(torch.searchsorted(cumulative, uniform * cumulative[-1], right=True))
    return min(place, len(cumulative) - 1)


@dataclass(frozen=True)
class BeamHypothesis:
    """A partial or finished translation within a beam."""

    ids: list[int]
    log_probability: float
    attention: list[Tensor]

    def score(self) -> float:
        """Normalised by length, since every token costs and short translations would always win."""
        return self.log_probability / len(self.ids)


@torch.no_grad()
def beam_search(ensemble: Ensemble, source: Tensor, size: int) -> Drawn:
    """The best translation that a beam finds."""
    session = ensemble.read(source)
    longest = length_bound(source.shape[1])
    rays, parents, finished = [BeamHypothesis([], 0.0, [])], [0], list[BeamHypothesis]()
    for _ in range(longest):
        previous = torch.tensor([ray.ids[-1] if ray.ids else BOS for ray in rays], device=source.device)
        votes, attention = session.vote(previous, torch.tensor(parents, device=source.device))
        if not rays[0].ids:
            votes[:, EOS] = IMPOSSIBLE
        rays, parents = _extended(rays, votes, attention, size - len(finished))
        finished += [ray for ray in rays if ray.ids[-1] == EOS]
        alive = [place for place, ray in enumerate(rays) if ray.ids[-1] != EOS]
        rays, parents = [rays[place] for place in alive], [parents[place] for place in alive]
        if not rays or (finished and _hopeless(rays, max(map(BeamHypothesis.score, finished)), longest)):
            break
    best = max(finished or rays, key=BeamHypothesis.score)
    return Drawn(best.ids, best.log_probability, torch.stack(best.attention).cpu().numpy(), session.features)


def _hopeless(rays: Sequence[BeamHypothesis], best: float, longest: int) -> bool:
    """Can none of these become better than the best that is finished, even if all that follows is certain?"""
    return max(ray.log_probability for ray in rays) / longest <= best


def _extended(
    rays: Sequence[BeamHypothesis], votes: Tensor, attention: Tensor, count: int
) -> tuple[list[BeamHypothesis], list[int]]:
    """The best ``count`` rays that are one token longer, and which ray each came from."""
    totals = torch.tensor([ray.log_probability for ray in rays], dtype=votes.dtype, device=votes.device)
    scores = (totals.unsqueeze(1) + votes).flatten()
    best, places = scores.topk(min(count, len(scores)))
    check_finite(float(best[0]))  # what is not a number comes first
    longer, parents = [], []
    for score, place in zip(best.tolist(), places.tolist(), strict=True):
        parent, token = divmod(place, votes.shape[1])
        if score > IMPOSSIBLE / 2:
            longer.append(
                BeamHypothesis([*rays[parent].ids, token], score, [*rays[parent].attention, attention[parent]])
            )
            parents.append(parent)
    return longer, parents
