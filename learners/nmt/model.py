"""The interface of all translation models: search, training and learning use nothing else of a model."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learners.nmt.configs import ModelConfig
from learners.nmt.vocabulary import FIRST_OUTPUT_ID, PAD

DecoderState = tuple[Tensor, ...]  # what a decoder carries from one step to the next, batch first
IMPOSSIBLE_LOGIT = -1e9  # its probability is 0; unlike -inf, it keeps 0 * log 0 a number


@dataclass(frozen=True)
class EncoderOutput:
    """The encoder's states for a batch of sources."""

    states: Tensor  # [batch, source, features]
    mask: Tensor  # [batch, source], True on tokens
    keys: tuple[Tensor, ...] = ()  # what attention is computed with, batch first

    def expand(self, count: int) -> "EncoderOutput":
        """Return the output for one source as that of a batch that repeats it ``count`` times."""
        states, mask, *keys = (
            tensor.expand(count, *tensor.shape[1:]) for tensor in (self.states, self.mask, *self.keys)
        )
        return EncoderOutput(states, mask, tuple(keys))

    def select(self, rows: Tensor) -> "EncoderOutput":
        """Return the output for these rows of the batch, any of them several times."""
        states, mask, *keys = (tensor[rows] for tensor in (self.states, self.mask, *self.keys))
        return EncoderOutput(states, mask, tuple(keys))

    def mean(self) -> Tensor:
        """Return the mean state of each source [batch, features]; padding does not count."""
        weights = self.mask.unsqueeze(-1).to(self.states.dtype)  # [batch, source, 1]
        return (self.states * weights).sum(1) / weights.sum(1)


class StepOutput(NamedTuple):
    """The result of one decoder step."""

    logits: Tensor  # [batch, vocabulary]
    attention: Tensor  # [batch, source]
    state: DecoderState


class TranslationModel(nn.Module):
    """An encoder and a decoder with attention.

    Sources end with EOS and are padded on the right with PAD. A decoder's first input is BOS.
    """

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        shared = config.vocabulary == "bpe" and config.shared_embeddings
        self.source_embedding = _embedding(source_size, config.embedding)
        self.target_embedding = self.source_embedding if shared else _embedding(target_size, config.embedding)
        self.output = None if config.tied else _embedding(target_size, config.embedding)
        self.output_bias = nn.Parameter(torch.zeros(target_size))
        output_mask = torch.zeros(target_size)
        output_mask[:FIRST_OUTPUT_ID] = IMPOSSIBLE_LOGIT
        self.output_mask: Tensor
        self.register_buffer("output_mask", output_mask, persistent=False)
        self.dropout = nn.Dropout(config.dropout)

    @abstractmethod
    def encode(self, source: Tensor) -> EncoderOutput:
        """Encode sources [batch, source]."""

    @abstractmethod
    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState:
        """Return the decoder's state before the first token."""

    @abstractmethod
    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput:
        """Predict the tokens that follow ``previous`` [batch]."""

    @abstractmethod
    def hidden_states(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        """Return the inputs of the output layer [batch, target, embedding] for all positions at once (teacher forcing).

        ``previous`` [batch, target] has the token before each position.
        """

    def decode(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        """Return logits [batch, target, vocabulary] for all positions at once (teacher forcing)."""
        return self.logits(self.hidden_states(encoder_output, previous))

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        return self.decode(self.encode(source), previous)

    def logits(self, hidden: Tensor) -> Tensor:
        """Project the decoder's last layer [..., embedding] to the vocabulary [..., vocabulary]."""
        weights = (self.output or self.target_embedding).weight
        return F.linear(hidden, weights, self.output_bias + self.output_mask)

    @property
    def device(self) -> torch.device:
        return self.output_bias.device


@contextmanager
def with_dropout(model: nn.Module, probability: float) -> Iterator[None]:
    """Train with this dropout in every layer, in place of the configured one."""
    configured = [(module, module.p) for module in model.modules() if isinstance(module, nn.Dropout)]
    for module, _ in configured:
        module.p = probability
    model.train()
    try:
        yield
    finally:
        model.eval()
        for module, before in configured:
            module.p = before


def token_mask(tokens: Tensor) -> Tensor:
    """Return where there are tokens, not padding."""
    return tokens != PAD


def _embedding(size: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(size, width)
    nn.init.normal_(embedding.weight, std=width**-0.5)
    return embedding
