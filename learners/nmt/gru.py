"""The task's architecture: a bidirectional GRU encoder and a GRU decoder with attention.

Attention is Luong's "general" one, taken after the recurrence and not fed back into it. So the decoder's states depend
on earlier tokens only, and a teacher-forced pass over a whole sentence is one call of a fused GRU.

With ``config.lexical``, attention sees the embedding of each source word beside the encoder's state, as lexical models
of low-resource translation do: a word that was seen a few times finds its translation without a detour through time,
and a name, whose pieces have the same embeddings on both sides, its copy.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from learners.nmt.configs import ModelConfig
from learners.nmt.model import IMPOSSIBLE, Memory, State, Step, TranslationModel, token_mask


class GruModel(TranslationModel):
    """``learners.nmt.engine`` computes the same by hand: change both, or the tests will say so."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__(config, source_size, target_size)
        self._lexical = config.lexical
        both = 2 * config.encoder + (config.embedding if config.lexical else 0)
        self.encoder = nn.GRU(config.embedding, config.encoder, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(both, config.decoder)
        self.decoder = nn.GRU(config.embedding, config.decoder, batch_first=True)
        self.key = nn.Linear(both, config.decoder, bias=False)
        self.combine = nn.Linear(config.decoder + both, config.embedding)
        if config.lexical:
            with torch.no_grad():  # what is looked at is written: training begins with copying
                self.combine.weight[:, -config.embedding :] += torch.eye(config.embedding)

    def encode(self, source: Tensor) -> Memory:
        embedded = self.dropout(self.source_embedding(source))
        mask = token_mask(source)
        if len(source) == 1:  # nothing is padded
            states, _ = self.encoder(embedded)
        else:
            packed = pack_padded_sequence(embedded, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=source.shape[1])
        if self._lexical:
            states = torch.cat([states, embedded], -1)
        states = self.dropout(states)
        return Memory(states, mask, (self.key(states),))

    def start(self, memory: Memory) -> State:
        return (torch.tanh(self.bridge(memory.mean())),)

    def step(self, memory: Memory, state: State, previous: Tensor) -> Step:
        hidden, last = self._recur(previous.unsqueeze(1), state[0])
        combined, attention = self._attend(memory, hidden)
        return Step(self.logits(combined[:, 0]), attention[:, 0], (last,))

    def decode(self, memory: Memory, previous: Tensor) -> Tensor:
        hidden, _ = self._recur(previous, self.start(memory)[0])
        return self.logits(self._attend(memory, hidden)[0])

    def _recur(self, previous: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states [batch, target, decoder], and the last one [batch, decoder]."""
        embedded = self.dropout(self.target_embedding(previous))
        hidden, last = self.decoder(embedded, state.unsqueeze(0).contiguous())
        return hidden, last[0]

    def _attend(self, memory: Memory, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """What to predict from [batch, target, embedding], and the attention [batch, target, source]."""
        scores = hidden @ memory.keys[0].transpose(1, 2)
        attention = scores.masked_fill(~memory.mask.unsqueeze(1), IMPOSSIBLE).softmax(-1)
        context = attention @ memory.states
        combined = torch.tanh(self.combine(torch.cat([hidden, context], -1)))
        return self.dropout(combined), attention
