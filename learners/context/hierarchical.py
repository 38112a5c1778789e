"""S-HIER-TO-2.TIED: a recurrent model with a second encoder for the previous source sentence.

One encoder reads both sentences ("tied", Müller et al. 2018). The decoder attends to each separately, and a second
attention weighs the two context vectors by themselves (hierarchical attention, Bawden et al. 2018). Its target is the
previous and the current sentence with a separator, of which the first is dropped.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from learners.context.examples import Example
from learners.context.scoring import ContextDecoder
from learners.context.search import Sources
from learners.context.translator import ContextTranslator, split_at_separator
from learners.errors import SnapshotError
from learners.nmt.batches import pad
from learners.nmt.configs import ModelConfig
from learners.nmt.model import IMPOSSIBLE_LOGIT, DecoderState, EncoderOutput, StepOutput, token_mask
from learners.nmt.vocabulary import FIRST_OUTPUT_ID, SubwordVocabulary
from learners.snapshot import Snapshot
from learners.stored_names import from_stored, to_stored


class HierarchicalCombination(nn.Module):
    """Weighs context vectors by a score of each of them alone: the decoder's state has no part in it."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.score = nn.Linear(features, 1)

    def forward(self, contexts: Tensor) -> Tensor:
        """Return the weighted sum [batch, features] of context vectors [batch, sentences, features]."""
        weights = self.score(contexts).softmax(1)  # [batch, sentences, 1]
        return (weights * contexts).sum(1)


class HierarchicalModel(nn.Module, ContextDecoder):
    """The network. A decoder step is two recurrences, with attention to both sources between them."""

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        width, units, features = config.embedding, config.decoder, 2 * config.encoder
        self.embedding = nn.Embedding(vocabulary_size, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.encoder = nn.GRU(width, config.encoder, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(features, units)
        self.first = nn.GRUCell(width, units)
        self.keys = nn.ModuleList(nn.Linear(features, units, bias=False) for _ in range(2))  # current, previous
        self.combination = HierarchicalCombination(features)
        self.second = nn.GRUCell(features, units)
        self.readout = nn.Linear(units + width + features, width)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(config.dropout)
        output_mask = torch.zeros(vocabulary_size)
        output_mask[:FIRST_OUTPUT_ID] = IMPOSSIBLE_LOGIT
        self.output_mask: Tensor
        self.register_buffer("output_mask", output_mask, persistent=False)

    def encode(self, current: Tensor, previous: Tensor) -> EncoderOutput:
        """Encode the sentences [batch, source] and those before them [batch, source]; keys hold the latter."""
        states, mask = self._encode(current)
        other, other_mask = self._encode(previous)
        return EncoderOutput(states, mask, (self.keys[0](states), other, other_mask, self.keys[1](other)))

    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState:
        return (torch.tanh(self.bridge(encoder_output.mean())),)

    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput:
        embedded = self.dropout(self.embedding(previous))  # [batch, width]
        own_keys, other, other_mask, other_keys = encoder_output.keys
        hidden = self.first(embedded, state[0])
        own_context, attention = _attend(hidden, own_keys, encoder_output.states, encoder_output.mask)
        other_context, _ = _attend(hidden, other_keys, other, other_mask)
        context = self.combination(torch.stack([own_context, other_context], 1))
        hidden = self.second(context, hidden)
        read = torch.tanh(self.readout(torch.cat([hidden, embedded, context], -1)))
        return StepOutput(self._logits(self.dropout(read)), attention, (hidden,))

    def decode(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        state, logits = self.initial_state(encoder_output), list[Tensor]()
        for column in previous.T:
            step = self.step(encoder_output, state, column)
            state = step.state
            logits.append(step.logits)
        return torch.stack(logits, 1)

    def _encode(self, sources: Tensor) -> tuple[Tensor, Tensor]:
        mask = token_mask(sources)
        embedded = self.dropout(self.embedding(sources))
        packed = pack_padded_sequence(embedded, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=sources.shape[1])
        return self.dropout(states), mask

    def _logits(self, read: Tensor) -> Tensor:
        return F.linear(read, self.embedding.weight, self.output_bias + self.output_mask)


def _attend(hidden: Tensor, keys: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return a context vector [batch, features] and its attention [batch, source]."""
    scores = (keys @ hidden.unsqueeze(2))[:, :, 0]
    attention = scores.masked_fill(~mask, IMPOSSIBLE_LOGIT).softmax(-1)
    return (attention.unsqueeze(1) @ states)[:, 0], attention


class HierarchicalTranslator(ContextTranslator):
    """The network with its vocabulary. Without a previous sentence, it reads one that is empty."""

    kind: ClassVar[str] = "s-hier-to-2.tied"
    max_context: ClassVar[int] = 1

    def __init__(self, config: ModelConfig, vocabulary: SubwordVocabulary, model: HierarchicalModel) -> None:
        super().__init__(config, vocabulary, model)
        self._model = model

    @classmethod
    def new(cls, config: ModelConfig, vocabulary: SubwordVocabulary, *, seed: int) -> "HierarchicalTranslator":
        """Return an untrained one."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return cls(config, vocabulary, HierarchicalModel(config, vocabulary.size))

    @property
    def decoder(self) -> HierarchicalModel:
        return self._model

    def encode(self, examples: Sequence[Example], rng: np.random.Generator | None = None) -> Sources:  # noqa: ARG002
        current = [self._ids(example.source) for example in examples]
        previous = [self._ids(example.context[-1][0] if example.context else "") for example in examples]
        encoded = self._model.encode(pad(current, self.device), pad(previous, self.device))
        return Sources(encoded, [len(ids) + len(other) for ids, other in zip(current, previous, strict=True)])

    def target_ids(self, example: Example) -> tuple[list[int], int]:
        own = self._ids(example.target)
        if not example.context:
            return own, 0
        previous = [*self._ids(example.context[-1][1])[:-1], self.vocabulary.separator]
        return [*previous, *own], len(previous)

    def current_ids(self, ids: list[int]) -> list[int]:
        return split_at_separator(ids, self.vocabulary.separator)

    def snapshot(self) -> Snapshot:
        arrays = {f"model.{name}": tensor.detach().cpu().numpy() for name, tensor in self._model.named_parameters()}
        arrays["vocabulary"] = self.vocabulary.packed()
        return Snapshot(arrays, {"kind": self.kind, "config": to_stored(self.config)})

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> "HierarchicalTranslator":
        vocabulary = SubwordVocabulary.unpack(snapshot.arrays["vocabulary"])
        translator = cls.new(from_stored(ModelConfig, snapshot.values["config"]), vocabulary, seed=0)
        for name, parameter in translator.decoder.named_parameters():
            stored = snapshot.arrays.get(f"model.{name}")
            if stored is None or stored.shape != tuple(parameter.shape):
                raise SnapshotError("the tensors of the model do not fit its configuration")
            parameter.data.copy_(torch.from_numpy(stored))
        return translator
