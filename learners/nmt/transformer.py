"""A Transformer with layer normalisation before each block, which trains without tricks at any size."""

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learners.nmt.configs import ModelConfig
from learners.nmt.model import IMPOSSIBLE, Memory, State, Step, TranslationModel, token_mask


class TransformerModel(TranslationModel):
    """As many decoder as encoder layers; positions are sinusoids, so there is no longest sentence."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__(config, source_size, target_size)
        self.width = config.embedding
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(self.width)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(self.width)

    def encode(self, source: Tensor) -> Memory:
        mask = token_mask(source)
        states = self._embed(self.source_embedding, source, 0)
        for layer in self.encoder:
            states = layer(states, mask[:, None, None])
        states = self.encoder_norm(states)
        keys: list[Tensor] = []
        for layer in self.decoder:
            keys += cast(DecoderLayer, layer).cross_attention.keys_values(states)
        return Memory(states, mask, tuple(keys))

    def start(self, memory: Memory) -> State:
        nothing = memory.keys[0][:, :, :0]
        return (nothing,) * (2 * len(self.decoder))

    def step(self, memory: Memory, state: State, previous: Tensor) -> Step:
        hidden = self._embed(self.target_embedding, previous.unsqueeze(1), state[0].shape[2])
        grown: list[Tensor] = []
        attention = memory.states
        for number, layer in enumerate(self.decoder):
            here = slice(2 * number, 2 * number + 2)
            hidden, past, attention = layer(hidden, memory.keys[here], memory.mask[:, None, None], state[here])
            grown += past
        return Step(self.logits(self.decoder_norm(hidden)[:, 0]), attention.mean(1)[:, 0], tuple(grown))

    def decode(self, memory: Memory, previous: Tensor) -> Tensor:
        hidden = self._embed(self.target_embedding, previous, 0)
        for number, layer in enumerate(self.decoder):
            keys = memory.keys[2 * number : 2 * number + 2]
            hidden, _, _ = layer(hidden, keys, memory.mask[:, None, None])
        return self.logits(self.decoder_norm(hidden))

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: int) -> Tensor:
        embedded = embedding(tokens) * math.sqrt(self.width)
        return self.dropout(embedded + _positions(first, tokens.shape[1], self.width).to(embedded))


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.norm = nn.LayerNorm(config.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normed = self.norm(states)
        attended, _ = self.attention(normed, self.attention.keys_values(normed), mask)
        return self.feed_forward(states + self.dropout(attended))


class DecoderLayer(nn.Module):
    """Self-attention to the past, attention to the source, then a feed-forward block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = Attention(config)
        self.cross_attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.self_norm = nn.LayerNorm(config.embedding)
        self.cross_norm = nn.LayerNorm(config.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, hidden: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, past: State = ()
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
        """Either all positions at once, or one position after its ``past`` keys and values."""
        normed = self.self_norm(hidden)
        keys, values = self.self_attention.keys_values(normed)
        visible = None
        if past:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        else:
            length = hidden.shape[1]
            visible = torch.ones(length, length, dtype=torch.bool, device=hidden.device).tril()
        attended, _ = self.self_attention(normed, (keys, values), visible)
        hidden = hidden + self.dropout(attended)
        attended, attention = self.cross_attention(self.cross_norm(hidden), source, mask)
        return self.feed_forward(hidden + self.dropout(attended)), (keys, values), attention


class Attention(nn.Module):
    """Scaled dot-product attention with several heads."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.embedding, config.embedding)
        self.key_value = nn.Linear(config.embedding, 2 * config.embedding)
        self.output = nn.Linear(config.embedding, config.embedding)

    def keys_values(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Each [batch, heads, length, width of a head]."""
        keys, values = self.key_value(states).chunk(2, -1)
        return self._split(keys), self._split(values)

    def forward(self, states: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """What was read [batch, length, width], and with which weights [batch, heads, length, keys]."""
        keys, values = keys_values
        queries = self._split(self.query(states))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, IMPOSSIBLE)
        attention = scores.softmax(-1)
        return self.output((attention @ values).transpose(1, 2).flatten(2)), attention

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """The block between two attentions, its residual connection included."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.embedding)
        self.wide = nn.Linear(config.embedding, config.feed_forward)
        self.narrow = nn.Linear(config.feed_forward, config.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor) -> Tensor:
        wide = self.dropout(F.relu(self.wide(self.norm(states))))
        return states + self.dropout(self.narrow(wide))


def _positions(first: int, count: int, width: int) -> Tensor:
    """Sinusoids [count, width]: sines in the first half, cosines in the second."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(first, first + count).unsqueeze(1) * rates
    return torch.cat([angles.sin(), angles.cos()], 1)
