"""Models that translate together, by the mean of their probabilities."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from learners.nmt.model import IMPOSSIBLE_LOGIT, DecoderState, EncoderOutput, TranslationModel


class EnsembleState(NamedTuple):
    """What the members have computed for one source and the beam items of the last step."""

    encoder_outputs: list[EncoderOutput]  # of one source, by member
    decoder_states: list[DecoderState]  # of all beam items, by member


class EnsembleStepOutput(NamedTuple):
    """The result of one decoder step of all members."""

    log_probabilities: Tensor  # [beam, vocabulary], of the members' mean probability
    attention: Tensor  # [beam, source], the members' mean
    state: EnsembleState


class Ensemble:
    """One model or several, evaluated one after the other."""

    def __init__(self, models: Sequence[TranslationModel]) -> None:
        self._models = models

    def initial_state(self, source: Tensor) -> EnsembleState:
        """Encode a source [1, length]."""
        encoder_outputs = [model.encode(source) for model in self._models]
        return EnsembleState(
            encoder_outputs,
            [model.initial_state(output) for model, output in zip(self._models, encoder_outputs, strict=True)],
        )

    def step(self, state: EnsembleState, previous: Tensor, parents: Tensor) -> EnsembleStepOutput:
        """Predict the tokens that follow ``previous`` [beam]; ``parents`` [beam] are the rows that they continue."""
        steps = [
            model.step(output.expand(len(previous)), tuple(tensor[parents] for tensor in decoder_state), previous)
            for model, output, decoder_state in zip(self._models, *state, strict=True)
        ]
        return EnsembleStepOutput(
            _mean_log_probabilities(torch.stack([step.logits for step in steps])),
            torch.stack([step.attention for step in steps]).mean(0),
            EnsembleState(state.encoder_outputs, [step.state for step in steps]),
        )


def _mean_log_probabilities(logits: Tensor) -> Tensor:
    """Turn logits [members, beam, vocabulary] into the logarithm of the members' mean probability."""
    if len(logits) == 1:
        return logits[0].log_softmax(-1)
    return logits.softmax(-1).mean(0).log_().clamp_(min=IMPOSSIBLE_LOGIT)  # log 0 is not finite
