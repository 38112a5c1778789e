"""The architecture of the WMT 2017 task's systems: a bidirectional GRU encoder and a GRU decoder with attention.

Attention is Luong's "general" attention (Luong et al. 2015, section 3.1), computed after the recurrence and not fed
back into it. So the decoder's states depend on earlier tokens only, and a teacher-forced pass over a whole sentence is
one call of a fused GRU.

With ``config.lexical``, attention reads the embedding of each source token beside the encoder's state, as lexical
models of low-resource translation do (Nguyen and Chiang 2018). A word that was seen only a few times finds its
translation without a detour through the recurrence; so does a name its copy, since its subwords have the same
embeddings on both sides.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from learners.nmt.configs import ModelConfig
from learners.nmt.model import (
    IMPOSSIBLE_LOGIT,
    DecoderState,
    EncoderOutput,
    StepOutput,
    TranslationModel,
    token_mask,
)


class GruModel(TranslationModel):
    """The GRU in torch. ``learners.nmt.engine`` computes the same by hand: change both, or tests fail."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__(config, source_size, target_size)
        self._lexical = config.lexical
        features = 2 * config.encoder + (config.embedding if config.lexical else 0)
        self.encoder = nn.GRU(config.embedding, config.encoder, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(features, config.decoder)
        self.decoder = nn.GRU(config.embedding, config.decoder, batch_first=True)
        self.key = nn.Linear(features, config.decoder, bias=False)
        self.combine = nn.Linear(config.decoder + features, config.embedding)
        if config.lexical:
            with torch.no_grad():  # training starts from copying: the attended embedding is the predicted one
                self.combine.weight[:, -config.embedding :] += torch.eye(config.embedding)

    def encode(self, source: Tensor) -> EncoderOutput:
        embedded = self.dropout(self.source_embedding(source))  # [batch, source, embedding]
        mask = token_mask(source)
        if len(source) == 1:  # one source has no padding
            states, _ = self.encoder(embedded)
        else:
            packed = pack_padded_sequence(embedded, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=source.shape[1])
        if self._lexical:
            states = torch.cat([states, embedded], -1)
        states = self.dropout(states)  # [batch, source, features]
        return EncoderOutput(states, mask, (self.key(states),))

    def initial_state(self, encoder_output: EncoderOutput) -> DecoderState:
        return (torch.tanh(self.bridge(encoder_output.mean())),)

    def step(self, encoder_output: EncoderOutput, state: DecoderState, previous: Tensor) -> StepOutput:
        hidden, last = self._recur(previous.unsqueeze(1), state[0])
        combined, attention = self._attend(encoder_output, hidden)
        return StepOutput(self.logits(combined[:, 0]), attention[:, 0], (last,))

    def hidden_states(self, encoder_output: EncoderOutput, previous: Tensor) -> Tensor:
        hidden, _ = self._recur(previous, self.initial_state(encoder_output)[0])
        return self._attend(encoder_output, hidden)[0]

    def _recur(self, previous: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden states [batch, target, decoder] and the last of them [batch, decoder]."""
        embedded = self.dropout(self.target_embedding(previous))
        hidden, last = self.decoder(embedded, state.unsqueeze(0).contiguous())
        return hidden, last[0]

    def _attend(self, encoder_output: EncoderOutput, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the input of the output layer [batch, target, embedding] and the attention [batch, target, source]."""
        scores = hidden @ encoder_output.keys[0].transpose(1, 2)
        attention = scores.masked_fill(~encoder_output.mask.unsqueeze(1), IMPOSSIBLE_LOGIT).softmax(-1)
        context = attention @ encoder_output.states  # [batch, target, features]
        combined = torch.tanh(self.combine(torch.cat([hidden, context], -1)))
        return self.dropout(combined), attention
