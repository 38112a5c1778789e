"""CADec, the context-aware decoder (Voita et al. 2019, section 4.2): it corrects a draft of a frozen base model.

Each of its layers attends to the target so far, to all sources, and to all translations: of the context, and the draft
of the sentence itself. Both memories hold states of the base model, with the distance of their sentence as a one-hot
vector: 0 for the sentence itself, 1 for the one before. Nothing else tells the order of the sentences.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from learners.context.examples import MAX_CONTEXT
from learners.context.scoring import ContextDecoder
from learners.nmt.configs import ModelConfig
from learners.nmt.model import IMPOSSIBLE_LOGIT, DecoderState, EncoderOutput, StepOutput
from learners.nmt.packing import PackedTargets
from learners.nmt.transformer import Attention, FeedForward, earlier_positions, sinusoids, sinusoids_at
from learners.nmt.vocabulary import FIRST_OUTPUT_ID

DISTANCES = MAX_CONTEXT + 1  # of a sentence: itself, and three before it


def source_width(width: int) -> int:
    """Return the width of a state in the memory of sources: the encoder's top layer and the distance."""
    return width + DISTANCES


def target_width(width: int) -> int:
    """Return the width of a state in the memory of translations: embedding, decoder's top layer and distance."""
    return 2 * width + DISTANCES


@dataclass(frozen=True)
class Memory:
    """States of several sentences in a row."""

    states: Tensor  # [batch, tokens, width]
    mask: Tensor  # [batch, tokens], True on tokens


def with_distances(states: Tensor, mask: Tensor) -> Memory:
    """Add the distance of its sentence to each state, and put all sentences of an example in a row.

    Args:
        states: [batch, sentences, tokens, width]; the sentence itself comes first, then the one before it, and so on.
        mask: [batch, sentences, tokens].
    """
    batch, sentences, tokens, _ = states.shape
    one_hot = torch.eye(DISTANCES, dtype=states.dtype, device=states.device)[:sentences]
    distances = one_hot[None, :, None].expand(batch, sentences, tokens, DISTANCES)
    return Memory(torch.cat([states, distances], -1).flatten(1, 2), mask.flatten(1, 2))


class CadecLayer(nn.Module):
    """Self-attention, attention to sources, attention to translations, then a feed-forward block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.embedding
        self.self_attention = Attention(config)
        self.source_attention = Attention(config, source_width(width))
        self.target_attention = Attention(config, target_width(width))
        self.feed_forward = FeedForward(config)
        self.self_norm, self.source_norm, self.target_norm = (nn.LayerNorm(width) for _ in range(3))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        hidden: Tensor,
        keys: tuple[Tensor, ...],
        masks: tuple[Tensor, Tensor],
        past: DecoderState = (),
        visible: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
        """Return the layer's output, its keys and values, and the attention to the sources.

        ``keys`` are the keys and values of the sources and of the translations. ``hidden`` is either all positions at
        once, or one position that follows ``past`` keys and values. All positions see those before them, unless
        ``visible`` says which.
        """
        normed = self.self_norm(hidden)
        own, values = self.self_attention.keys_values(normed)
        if past:
            own, values = torch.cat([past[0], own], 2), torch.cat([past[1], values], 2)
        elif visible is None:
            visible = earlier_positions(hidden)
        hidden = hidden + self.dropout(self.self_attention(normed, (own, values), visible)[0])
        attended, attention = self.source_attention(self.source_norm(hidden), (keys[0], keys[1]), masks[0])
        hidden = hidden + self.dropout(attended)
        attended, _ = self.target_attention(self.target_norm(hidden), (keys[2], keys[3]), masks[1])
        return self.feed_forward(hidden + self.dropout(attended)), (own, values), attention


class CadecDecoder(nn.Module, ContextDecoder):
    """The second pass. It reads the base model's target embeddings, and has an output layer of its own.

    The embeddings are given to it as a tensor that is no parameter of it: they stay those of the frozen base model.
    """

    def __init__(self, config: ModelConfig, embeddings: Tensor) -> None:
        super().__init__()
        self.width = config.embedding
        self.layers = nn.ModuleList(CadecLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(self.width)
        self.output = nn.Linear(self.width, len(embeddings), bias=False)
        nn.init.normal_(self.output.weight, std=self.width**-0.5)
        self.dropout = nn.Dropout(config.dropout)
        self.embeddings: Tensor
        self.register_buffer("embeddings", embeddings.detach(), persistent=False)
        output_mask = torch.zeros(len(embeddings))
        output_mask[:FIRST_OUTPUT_ID] = IMPOSSIBLE_LOGIT
        self.output_mask: Tensor
        self.register_buffer("output_mask", output_mask, persistent=False)

    def attend_to(self, sources: Memory, targets: Memory) -> EncoderOutput:
        """Compute the keys of both memories for all layers; the first key is the mask of the translations."""
        keys: list[Tensor] = [targets.mask]
        for layer in self.layers:
            assert isinstance(layer, CadecLayer)
            keys += layer.source_attention.keys_values(sources.states)
            keys += layer.target_attention.keys_values(targets.states)
        return EncoderOutput(sources.states, sources.mask, tuple(keys))

    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState:
        empty = encoder_output.keys[1][:, :, :0]  # [batch, heads, 0, head width]
        return (empty,) * (2 * len(self.layers))

    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput:
        positions = sinusoids(state[0].shape[2], 1, self.width)
        hidden, extended, attention = self._layers(encoder_output, self._embed(previous.unsqueeze(1), positions), state)
        return StepOutput(self.logits(hidden[:, 0]), attention.mean(1)[:, 0], tuple(extended))

    def decode(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        embedded = self._embed(previous, sinusoids(0, previous.shape[1], self.width))
        return self.logits(self._layers(encoder_output, embedded)[0])

    def packed_states(self, encoder_output: EncoderOutput, targets: PackedTargets) -> Tensor:
        """Return the inputs of the output layer [rows, tokens, width] for several targets of each source."""
        embedded = self._embed(targets.previous, sinusoids_at(targets.positions, self.width))
        return self._layers(encoder_output, embedded, visible=targets.visible)[0]

    def _embed(self, previous: Tensor, positions: Tensor) -> Tensor:
        embedded = F.embedding(previous, self.embeddings) * math.sqrt(self.width)
        hidden: Tensor = self.dropout(embedded + positions.to(embedded))
        return hidden

    def _layers(
        self, encoder_output: EncoderOutput, hidden: Tensor, state: DecoderState = (), visible: Tensor | None = None
    ) -> tuple[Tensor, list[Tensor], Tensor]:
        masks = encoder_output.mask[:, None, None], encoder_output.keys[0][:, None, None]
        extended: list[Tensor] = []
        attention = hidden
        for number, layer in enumerate(self.layers):
            keys = encoder_output.keys[1 + 4 * number : 5 + 4 * number]
            hidden, past, attention = layer(hidden, keys, masks, state[2 * number : 2 * number + 2], visible)
            extended += past
        return self.norm(hidden), extended, attention

    def logits(self, hidden: Tensor) -> Tensor:
        """Project the last layer [..., embedding] to the vocabulary [..., vocabulary]."""
        return self.output(hidden) + self.output_mask
