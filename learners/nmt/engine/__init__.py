"""Decoding and learning for the GRU with a batch of one, on a CPU, compiled by numba.

The engine reads the model's parameters and fills its gradients in place, so that torch's optimisers, model files and
everything else work unchanged. Torch's automatic differentiation is the reference that tests hold it to. The first use
on a machine compiles it, which takes about half a minute (see ``compilation``); all processes load the result.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from learners.nmt.decoding import DecodedSequence, check_finite, max_output_length
from learners.nmt.engine.algebra import Array
from learners.nmt.engine.network import (
    DecoderActivations,
    DropoutMasks,
    EncoderActivations,
    NetworkParameters,
    add_translation_gradients,
    decode,
    encode,
    forward,
)
from learners.nmt.engine.recurrence import GruParameters
from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats

GREEDY = np.empty(0)  # no random numbers


class Trace(NamedTuple):
    """The activations of a translation, kept so that learning from it need not compute them again."""

    encoder: EncoderActivations
    decoder: DecoderActivations
    temperature: float
    masks: DropoutMasks


def cache_folder() -> Path:
    """Return the folder in which numba keeps the compiled engine."""
    path = encode.stats.cache_path
    assert path is not None, "the engine is compiled with a cache"
    return Path(path)


class Engine:
    """Decodes with a GRU model and computes its gradients. The model's parameters must not move in memory."""

    def __init__(self, model: GruModel) -> None:
        self._parameters = _network({name: tensor.data for name, tensor in model.named_parameters()})
        gradients = {name: tensor.grad for name, tensor in model.named_parameters() if tensor.grad is not None}
        self._gradients = _network(gradients)
        empty = np.empty((0, 0), self._parameters.output_bias.dtype)
        self._no_dropout = DropoutMasks(empty, empty, empty, empty)

    def greedy_decode(self, ids: list[int]) -> tuple[DecodedSequence, Trace]:
        """Decode as ``learners.nmt.decoding.greedy_decode`` does; also return what ``backward`` needs."""
        return self.decode(self.encode(ids), 1.0, GREEDY)

    def sample(self, ids: list[int], temperature: float, uniforms: Floats) -> tuple[DecodedSequence, Trace]:
        """Decode as ``learners.nmt.decoding.sample`` does; also return what ``backward`` needs."""
        return self.decode(self.encode(ids), temperature, uniforms)

    def encode(self, ids: list[int]) -> EncoderActivations:
        """Encode a source, the end symbol last."""
        return encode(self._parameters, np.array(ids), self._no_dropout)

    def decode(
        self, encoder: EncoderActivations, temperature: float, uniforms: Floats
    ) -> tuple[DecodedSequence, Trace]:
        """Sample with these numbers, or decode greedily if there are none (``GREEDY``)."""
        decoder = decode(self._parameters, encoder, temperature, uniforms, max_output_length(len(encoder.ids)))
        check_finite(decoder.log_probability)
        decoded = DecodedSequence(decoder.ids.tolist(), decoder.log_probability, decoder.attention)
        return decoded, Trace(encoder, decoder, temperature, self._no_dropout)

    def forward(self, source_ids: list[int], ids: list[int], temperature: float, dropout: float) -> Trace:
        """Compute a given translation with dropout (teacher forcing)."""
        masks = self._dropout_masks(len(source_ids), len(ids), dropout) if dropout else self._no_dropout
        encoder = encode(self._parameters, np.array(source_ids), masks)
        decoder = forward(self._parameters, encoder, np.array(ids), temperature, masks)
        return Trace(encoder, decoder, temperature, masks)

    def backward(self, trace: Trace, weights: Floats, entropy: float) -> None:
        """Add the gradients of a translation to the model's; see ``Translator.backward``."""
        encoder, decoder, temperature, masks = trace
        add_translation_gradients(
            self._parameters, encoder, decoder, weights, entropy, temperature, masks, self._gradients
        )

    def _dropout_masks(self, source: int, target: int, dropout: float) -> DropoutMasks:
        """Draw masks for sentences of these lengths, from the generator that torch draws its own from."""
        parameters, dtype = self._parameters, torch.from_numpy(self._parameters.output_bias).dtype
        shapes = (
            (source, parameters.source_embedding.shape[1]),
            (source, parameters.key_weights.shape[1]),
            (target, parameters.target_embedding.shape[1]),
            (target, len(parameters.combine_bias)),
        )
        masks = (torch.empty(shape, dtype=dtype).bernoulli_(1 - dropout).div_(1 - dropout) for shape in shapes)
        return DropoutMasks(*(mask.numpy() for mask in masks))


def _network(tensors: dict[str, torch.Tensor]) -> NetworkParameters:
    """Return the tensors as numpy arrays that share their memory."""
    arrays: dict[str, Array] = {name: tensor.numpy() for name, tensor in tensors.items()}
    source = arrays["source_embedding.weight"]
    target = arrays.get("target_embedding.weight", source)  # torch names a shared embedding only once
    return NetworkParameters(
        source_embedding=source,
        target_embedding=target,
        forward_encoder=_gru(arrays, "encoder", "l0"),
        backward_encoder=_gru(arrays, "encoder", "l0_reverse"),
        bridge_weights=arrays["bridge.weight"],
        bridge_bias=arrays["bridge.bias"],
        decoder=_gru(arrays, "decoder", "l0"),
        key_weights=arrays["key.weight"],
        combine_weights=arrays["combine.weight"],
        combine_bias=arrays["combine.bias"],
        output_weights=arrays.get("output.weight", target),
        output_bias=arrays["output_bias"],
    )


def _gru(arrays: dict[str, Array], module: str, layer: str) -> GruParameters:
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return GruParameters(*(arrays[f"{module}.{name}_{layer}"] for name in names))
