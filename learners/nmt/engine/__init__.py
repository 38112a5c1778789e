"""Batch-of-one sampling and learning for the GRU on a CPU, compiled by numba.

It reads the model's parameters and fills its gradients in place, so torch's optimisers, storage and everything else
work on unchanged. Torch's own automatic differentiation is the reference that the tests hold it to. The first call on a
machine compiles for about half a minute; later processes load the result from numba's cache.
"""

from typing import NamedTuple

import numpy as np
import torch

from learners.nmt.decoding import Drawn, length_bound
from learners.nmt.engine.algebra import Array
from learners.nmt.engine.network import (
    Decoded,
    Encoded,
    Network,
    add_translation_gradients,
    decode,
    encode,
)
from learners.nmt.engine.recurrence import Unit
from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats
from learners.nmt.vocabulary import EOS
from learners.patience import notice_if_slow

NOTICE = "compiling the learning engine, once on this machine: about half a minute"
GREEDY = np.empty(0)  # no random numbers


class Trace(NamedTuple):
    """What was computed while a translation was drawn, so that it need not be computed again to learn from it."""

    encoded: Encoded
    decoded: Decoded
    temperature: float


class Engine:
    """Draws from a GRU model, and learns; the model's parameters must not be moved while it is in use."""

    def __init__(self, model: GruModel) -> None:
        self._weights = _network({name: tensor.data for name, tensor in model.named_parameters()})
        gradients = {name: tensor.grad for name, tensor in model.named_parameters() if tensor.grad is not None}
        self._gradients = _network(gradients)
        self._compiled = False

    def draw(self, ids: list[int], temperature: float, uniforms: Floats | None) -> tuple[Drawn, Trace]:
        """As ``learners.nmt.decoding.draw``, and what ``backward`` needs."""
        return self.decode(self.encode(ids), temperature, uniforms)

    def encode(self, ids: list[int]) -> Encoded:
        if not self._compiled:
            self._compile()
        return encode(self._weights, np.array(ids))

    def decode(self, encoded: Encoded, temperature: float, uniforms: Floats | None) -> tuple[Drawn, Trace]:
        numbers = GREEDY if uniforms is None else uniforms
        decoded = decode(self._weights, encoded, temperature, numbers, length_bound(len(encoded.ids)))
        drawn = Drawn(decoded.ids.tolist(), decoded.log_probability, decoded.attention, encoded.mean[0])
        return drawn, Trace(encoded, decoded, temperature)

    def backward(self, trace: Trace, weights: Floats, entropy: float) -> None:
        """Add the gradients of what was drawn to the model's; see ``Translator.backward``."""
        add_translation_gradients(
            self._weights, trace.encoded, trace.decoded, weights, entropy, trace.temperature, self._gradients
        )

    def _compile(self) -> None:
        """Make the first draw and the first step, without effect; say so if the user has to wait."""
        self._compiled = True
        with notice_if_slow(NOTICE):
            drawn, trace = self.draw([EOS], 1.0, np.zeros(length_bound(1)))
            self.backward(trace, np.zeros(len(drawn.ids)), 0.0)


def _network(tensors: dict[str, torch.Tensor]) -> Network:
    """The same memory, as numpy sees it."""
    arrays: dict[str, Array] = {name: tensor.numpy() for name, tensor in tensors.items()}
    source = arrays["source_embedding.weight"]
    target = arrays.get("target_embedding.weight", source)  # what is shared is named only once
    return Network(
        source_embedding=source,
        target_embedding=target,
        forwards=_unit(arrays, "encoder", "l0"),
        backwards=_unit(arrays, "encoder", "l0_reverse"),
        bridge_weights=arrays["bridge.weight"],
        bridge_bias=arrays["bridge.bias"],
        decoder=_unit(arrays, "decoder", "l0"),
        key_weights=arrays["key.weight"],
        combine_weights=arrays["combine.weight"],
        combine_bias=arrays["combine.bias"],
        output_weights=arrays.get("output.weight", target),
        output_bias=arrays["output_bias"],
    )


def _unit(arrays: dict[str, Array], module: str, layer: str) -> Unit:
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return Unit(*(arrays[f"{module}.{name}_{layer}"] for name in names))
