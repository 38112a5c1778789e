"""A Transformer (Vaswani et al. 2017) with layer normalisation before each block.

Pre-normalisation trains at any size without a carefully tuned warm-up.
"""

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learners.nmt.configs import ModelConfig
from learners.nmt.model import (
    IMPOSSIBLE_LOGIT,
    DecoderState,
    EncoderOutput,
    StepOutput,
    TranslationModel,
    token_mask,
)
from learners.nmt.packing import PackedTargets


class TransformerModel(TranslationModel):
    """An encoder and a decoder of several layers. Positions are sinusoids, so that sentences may have any length."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__(config, source_size, target_size)
        self.width = config.embedding
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(self.width)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers or config.layers))
        self.decoder_norm = nn.LayerNorm(self.width)

    def encode(self, source: Tensor) -> EncoderOutput:
        mask = token_mask(source)
        states = self._embed(self.source_embedding, source, 0)  # [batch, source, width]
        for layer in self.encoder:
            states = layer(states, mask[:, None, None])
        states = self.encoder_norm(states)
        keys: list[Tensor] = []  # keys and values of each decoder layer in turn
        for layer in self.decoder:
            keys += cast(DecoderLayer, layer).cross_attention.keys_values(states)
        return EncoderOutput(states, mask, tuple(keys))

    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState:
        empty = encoder_output.keys[0][:, :, :0]  # [batch, heads, 0, head width]
        return (empty,) * (2 * len(self.decoder))

    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput:
        hidden = self._embed(self.target_embedding, previous.unsqueeze(1), state[0].shape[2])  # [batch, 1, width]
        extended: list[Tensor] = []
        attention = encoder_output.states
        mask = encoder_output.mask[:, None, None]
        for number, layer in enumerate(self.decoder):
            own = slice(2 * number, 2 * number + 2)
            hidden, past, attention = layer(hidden, encoder_output.keys[own], mask, state[own])
            extended += past
        return StepOutput(self.logits(self.decoder_norm(hidden)[:, 0]), attention.mean(1)[:, 0], tuple(extended))

    def hidden_states(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        return self._decode(encoder_output, self._embed(self.target_embedding, previous, 0), None)

    def packed_states(self, encoder_output: EncoderOutput, targets: PackedTargets) -> Tensor:
        """Return the inputs of the output layer [rows, tokens, width] for several targets of each source."""
        embedded = self.target_embedding(targets.previous) * math.sqrt(self.width)
        hidden = embedded + sinusoids_at(targets.positions, self.width).to(embedded)
        return self._decode(encoder_output, hidden, targets.visible)

    def _decode(self, encoder_output: EncoderOutput, hidden: Tensor, visible: Tensor | None) -> Tensor:
        for number, layer in enumerate(self.decoder):
            keys = encoder_output.keys[2 * number : 2 * number + 2]
            hidden, _, _ = layer(hidden, keys, encoder_output.mask[:, None, None], visible=visible)
        states: Tensor = self.decoder_norm(hidden)
        return states

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: int) -> Tensor:
        """Embed tokens [batch, length], the first of which stands at position ``first``."""
        embedded = embedding(tokens) * math.sqrt(self.width)
        return self.dropout(embedded + sinusoids(first, tokens.shape[1], self.width).to(embedded))


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
    """Self-attention to earlier positions, attention to the source, then a feed-forward block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = Attention(config)
        self.cross_attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.self_norm = nn.LayerNorm(config.embedding)
        self.cross_norm = nn.LayerNorm(config.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        hidden: Tensor,
        source: tuple[Tensor, Tensor],
        mask: Tensor,
        past: DecoderState = (),
        visible: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
        """Return the layer's output, its keys and values, and the attention to the source.

        ``hidden`` is either all positions at once, or one position that follows ``past`` keys and values. All positions
        see those before them, unless ``visible`` says which.
        """
        normed = self.self_norm(hidden)
        keys, values = self.self_attention.keys_values(normed)
        if past:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        elif visible is None:
            visible = earlier_positions(hidden)
        attended, _ = self.self_attention(normed, (keys, values), visible)
        hidden = hidden + self.dropout(attended)
        attended, attention = self.cross_attention(self.cross_norm(hidden), source, mask)
        return self.feed_forward(hidden + self.dropout(attended)), (keys, values), attention


class Attention(nn.Module):
    """Scaled dot-product attention with several heads, to states of the same width or of another."""

    def __init__(self, config: ModelConfig, memory_width: int | None = None) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.embedding, config.embedding)
        self.key_value = nn.Linear(memory_width or config.embedding, 2 * config.embedding)
        self.output = nn.Linear(config.embedding, config.embedding)

    def keys_values(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and the values of states [batch, length, width], each [batch, heads, length, head width]."""
        keys, values = self.key_value(states).chunk(2, -1)
        return self._split(keys), self._split(values)

    def forward(self, states: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the attended values [batch, length, width] and their weights [batch, heads, length, keys]."""
        keys, values = keys_values
        queries = self._split(self.query(states))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, IMPOSSIBLE_LOGIT)
        attention = scores.softmax(-1)
        return self.output((attention @ values).transpose(1, 2).flatten(2)), attention

    def _split(self, states: Tensor) -> Tensor:
        """Split [batch, length, width] into heads [batch, heads, length, head width]."""
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """The feed-forward block of a layer, its residual connection included."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.embedding)
        self.wide = nn.Linear(config.embedding, config.feed_forward)
        self.narrow = nn.Linear(config.feed_forward, config.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor) -> Tensor:
        wide = self.dropout(F.relu(self.wide(self.norm(states))))
        return states + self.dropout(self.narrow(wide))


def earlier_positions(hidden: Tensor) -> Tensor:
    """Return which positions of [batch, length, width] each position sees: itself and those before it."""
    length = hidden.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=hidden.device).tril()


def sinusoids(first: int, count: int, width: int) -> Tensor:
    """Return sinusoidal positions [count, width] from a first one."""
    return sinusoids_at(torch.arange(first, first + count), width)


def sinusoids_at(positions: Tensor, width: int) -> Tensor:
    """Return sinusoidal positions [.., width] in any order [..]: sines in the first half, cosines in the second."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10_000.0) / width))
    angles = positions.unsqueeze(-1) * rates
    return torch.cat([angles.sin(), angles.cos()], -1)
