"""What every translation model can do; search, training and learning know nothing else about it."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learners.nmt.configs import ModelConfig
from learners.nmt.vocabulary import NEVER_WRITTEN, PAD

State = tuple[Tensor, ...]  # what a decoder remembers between steps, batch first
IMPOSSIBLE = -1e9  # a logit whose probability is 0; unlike -inf it keeps 0 * log 0 a number


@dataclass(frozen=True)
class Memory:
    """What the encoder made of a batch of sources."""

    states: Tensor  # [batch, source, features]
    mask: Tensor  # [batch, source], True on tokens
    keys: tuple[Tensor, ...] = ()  # what attention looks up, batch first

    def expand(self, count: int) -> "Memory":
        """One source, as if the batch had it ``count`` times."""
        states, mask, *keys = (
            tensor.expand(count, *tensor.shape[1:]) for tensor in (self.states, self.mask, *self.keys)
        )
        return Memory(states, mask, tuple(keys))

    def mean(self) -> Tensor:
        """One vector for each source [batch, features]."""
        weights = self.mask.unsqueeze(-1).to(self.states.dtype)
        return (self.states * weights).sum(1) / weights.sum(1)


class Step(NamedTuple):
    """One step of a decoder."""

    logits: Tensor  # [batch, vocabulary]
    attention: Tensor  # [batch, source]
    state: State


class TranslationModel(nn.Module):
    """An encoder and a decoder with attention.

    Sources end with EOS and are padded on the right with PAD. A decoder's first input is BOS.
    """

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        shared = config.vocabulary == "bpe"
        self.source_embedding = _embedding(source_size, config.embedding)
        self.target_embedding = self.source_embedding if shared else _embedding(target_size, config.embedding)
        self.output = None if config.tied else _embedding(target_size, config.embedding)
        self.output_bias = nn.Parameter(torch.zeros(target_size))
        never_written = torch.zeros(target_size)
        never_written[:NEVER_WRITTEN] = IMPOSSIBLE
        self.never_written: Tensor
        self.register_buffer("never_written", never_written, persistent=False)
        self.dropout = nn.Dropout(config.dropout)

    @abstractmethod
    def encode(self, source: Tensor) -> Memory:
        """Read sources [batch, source]."""

    @abstractmethod
    def start(self, memory: Memory) -> State:
        """The decoder's state before the first token."""

    @abstractmethod
    def step(self, memory: Memory, state: State, previous: Tensor) -> Step:
        """Predict the tokens after ``previous`` [batch]."""

    @abstractmethod
    def decode(self, memory: Memory, previous: Tensor) -> Tensor:
        """Logits [batch, target, vocabulary] for all positions at once, given their previous tokens [batch, target]."""

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        return self.decode(self.encode(source), previous)

    def logits(self, hidden: Tensor) -> Tensor:
        """From the decoder's last layer [..., embedding] to the vocabulary."""
        weights = (self.output or self.target_embedding).weight
        return F.linear(hidden, weights, self.output_bias + self.never_written)

    @property
    def device(self) -> torch.device:
        return self.output_bias.device


@contextmanager
def with_dropout(model: nn.Module, probability: float) -> Iterator[None]:
    """Learn with so much dropout in every layer, whatever the config says."""
    usual = [(module, module.p) for module in model.modules() if isinstance(module, nn.Dropout)]
    for module, _ in usual:
        module.p = probability
    model.train()
    try:
        yield
    finally:
        model.eval()
        for module, before in usual:
            module.p = before


def token_mask(tokens: Tensor) -> Tensor:
    return tokens != PAD


def _embedding(size: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(size, width)
    nn.init.normal_(embedding.weight, std=width**-0.5)
    return embedding
