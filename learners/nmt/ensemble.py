"""Models that translate together: each votes, and the mean of their probabilities counts.

Search asks for the votes on a dozen partial translations at a time, which is little work behind many calls. So GRUs of
one kind are stacked, and whatever they compute is one call for all of them. ``GruModel`` says what that is.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats
from learners.nmt.model import IMPOSSIBLE, State, TranslationModel


class Votes(NamedTuple):
    """What a ensemble says of the next tokens."""

    log_probabilities: Tensor  # [rays, vocabulary]
    attention: Tensor  # [rays, source], the mean of all models


class Session(ABC):
    """A ensemble that has read a source; it remembers the partial translations that it voted on last."""

    features: Floats  # the mean encoder state of the first model

    @abstractmethod
    def vote(self, previous: Tensor, parents: Tensor) -> Votes:
        """On what follows tokens [rays], each of which went on from one of the last rays."""


class Ensemble:
    """One model or several, with parameters as they are now: when they have learned, another ensemble is due."""

    def __init__(self, models: Sequence[TranslationModel]) -> None:
        self._models = models
        self._stack = _Stack(models) if all(isinstance(model, GruModel) for model in models) else None

    @torch.no_grad()
    def read(self, source: Tensor) -> Session:
        """Read a source [1, length]."""
        return _Stacked(self._stack, source) if self._stack else _OneByOne(self._models, source)


class _OneByOne(Session):
    """Models of any kind."""

    def __init__(self, models: Sequence[TranslationModel], source: Tensor) -> None:
        self._models = models
        self._memories = [model.encode(source) for model in models]
        self._states = [model.start(memory) for model, memory in zip(models, self._memories, strict=True)]
        self.features = self._memories[0].mean()[0].cpu().numpy()

    def vote(self, previous: Tensor, parents: Tensor) -> Votes:
        steps = [
            model.step(memory.expand(len(previous)), _selected(state, parents), previous)
            for model, memory, state in zip(self._models, self._memories, self._states, strict=True)
        ]
        self._states = [step.state for step in steps]
        logits = torch.stack([step.logits for step in steps])
        return Votes(_mean_vote(logits), torch.stack([step.attention for step in steps]).mean(0))


def _selected(state: State, rows: Tensor) -> State:
    return tuple(tensor[rows] for tensor in state)


class _Stack:
    """The parameters of GRU models, one above the other; those of a single model are not copied."""

    def __init__(self, models: Sequence[TranslationModel]) -> None:
        self.models = [model for model in models if isinstance(model, GruModel)]
        self.embedding = self._stacked([model.target_embedding.weight for model in self.models])  # [models, V, E]
        self.output = self._pair(
            [(model.output or model.target_embedding).weight for model in self.models],
            [model.output_bias + model.never_written for model in self.models],
        )
        self.input = self._linear("weight_ih_l0", "bias_ih_l0")
        self.hidden = self._linear("weight_hh_l0", "bias_hh_l0")
        combine = [model.combine for model in self.models]
        self.combine = self._pair([one.weight for one in combine], [one.bias for one in combine])

    @staticmethod
    def _stacked(tensors: Sequence[Tensor]) -> Tensor:
        return tensors[0].detach().unsqueeze(0) if len(tensors) == 1 else torch.stack([one.detach() for one in tensors])

    def _pair(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """What ``baddbmm`` takes: a bias [models, 1, out] and a weight [models, in, out]."""
        weight = self._stacked(weights).transpose(1, 2)
        return self._stacked(biases).unsqueeze(1), weight if len(weights) == 1 else weight.contiguous()

    def _linear(self, weight: str, bias: str) -> tuple[Tensor, Tensor]:
        decoders: list[nn.GRU] = [model.decoder for model in self.models]
        return self._pair([getattr(one, weight) for one in decoders], [getattr(one, bias) for one in decoders])


class _Stacked(Session):
    """GRU models of one shape."""

    def __init__(self, stack: _Stack, source: Tensor) -> None:
        self._stack = stack
        memories = [model.encode(source) for model in stack.models]
        starts = [model.start(memory)[0] for model, memory in zip(stack.models, memories, strict=True)]
        self._state = torch.stack(starts)  # [models, rays, decoder]
        self._memory = torch.cat([memory.states for memory in memories])  # [models, source, features]
        self._keys = torch.cat([memory.keys[0] for memory in memories]).transpose(1, 2)
        self.features = memories[0].mean()[0].cpu().numpy()

    def vote(self, previous: Tensor, parents: Tensor) -> Votes:
        stack, state = self._stack, self._state[:, parents]
        inputs = torch.baddbmm(stack.input[0], stack.embedding[:, previous], stack.input[1])
        reset_in, update_in, new_in = inputs.chunk(3, -1)
        reset_h, update_h, new_h = torch.baddbmm(stack.hidden[0], state, stack.hidden[1]).chunk(3, -1)
        update = torch.sigmoid(update_in + update_h)
        new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_h) * new_h)
        self._state = torch.lerp(new, state, update)
        attention = torch.bmm(self._state, self._keys).softmax(-1)
        seen = torch.cat([self._state, torch.bmm(attention, self._memory)], -1)
        combined = torch.tanh(torch.baddbmm(stack.combine[0], seen, stack.combine[1]))
        return Votes(_mean_vote(torch.baddbmm(stack.output[0], combined, stack.output[1])), attention.mean(0))


def _mean_vote(logits: Tensor) -> Tensor:
    """From logits [models, rays, vocabulary] to the logarithm of the mean of all models' probabilities."""
    if len(logits) == 1:
        return logits[0].log_softmax(-1)
    return logits.softmax(-1).mean(0).log_().clamp_(min=IMPOSSIBLE)  # the log of 0 is no score to add to
