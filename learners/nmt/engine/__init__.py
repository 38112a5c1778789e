"""Batch-of-one sampling and learning for the GRU on a CPU, compiled by numba.

It reads the model's parameters and fills its gradients in place, so torch's optimisers, storage and everything else
work on unchanged. Torch's own automatic differentiation is the reference that the tests hold it to. Its first use on a
machine compiles it for about half a minute (see ``compilation``); all processes load the result.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from learners.nmt.decoding import Drawn, length_bound
from learners.nmt.engine.algebra import Array
from learners.nmt.engine.network import (
    Decoded,
    Encoded,
    Masks,
    Network,
    add_translation_gradients,
    decode,
    encode,
    follow,
)
from learners.nmt.engine.recurrence import Unit
from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats

GREEDY = np.empty(0)  # no random numbers


class Trace(NamedTuple):
    """What was computed while a translation was drawn, so that it need not be computed again to learn from it."""

    encoded: Encoded
    decoded: Decoded
    temperature: float
    masks: Masks  # what dropout kept


def cache() -> Path:
    """Where numba keeps the compiled engine."""
    path = encode.stats.cache_path
    assert path is not None, "the engine is compiled with a cache"
    return Path(path)


class Engine:
    """Draws from a GRU model, and learns; the model's parameters must not be moved while it is in use."""

    def __init__(self, model: GruModel) -> None:
        self._weights = _network({name: tensor.data for name, tensor in model.named_parameters()})
        gradients = {name: tensor.grad for name, tensor in model.named_parameters() if tensor.grad is not None}
        self._gradients = _network(gradients)
        nothing = np.empty((0, 0), self._weights.output_bias.dtype)
        self._keep_all = Masks(nothing, nothing, nothing, nothing)

    def draw(self, ids: list[int], temperature: float, uniforms: Floats | None) -> tuple[Drawn, Trace]:
        """As ``learners.nmt.decoding.draw``, and what ``backward`` needs."""
        return self.decode(self.encode(ids), temperature, uniforms)

    def encode(self, ids: list[int]) -> Encoded:
        return encode(self._weights, np.array(ids), self._keep_all)

    def decode(self, encoded: Encoded, temperature: float, uniforms: Floats | None) -> tuple[Drawn, Trace]:
        numbers = GREEDY if uniforms is None else uniforms
        decoded = decode(self._weights, encoded, temperature, numbers, length_bound(len(encoded.ids)))
        drawn = Drawn(decoded.ids.tolist(), decoded.log_probability, decoded.attention, encoded.mean[0])
        return drawn, Trace(encoded, decoded, temperature, self._keep_all)

    def backward(self, trace: Trace, weights: Floats, entropy: float) -> None:
        """Add the gradients of what was drawn to the model's; see ``Translator.backward``."""
        encoded, decoded, temperature, masks = trace
        add_translation_gradients(
            self._weights, encoded, decoded, weights, entropy, temperature, masks, self._gradients
        )

    def follow(self, source_ids: list[int], ids: list[int], temperature: float, dropout: float) -> Trace:
        """A translation that is known, as it would have been computed with dropout."""
        masks = self._masks(len(source_ids), len(ids), dropout) if dropout else self._keep_all
        encoded = encode(self._weights, np.array(source_ids), masks)
        decoded = follow(self._weights, encoded, np.array(ids), temperature, masks)
        return Trace(encoded, decoded, temperature, masks)

    def _masks(self, source: int, target: int, dropout: float) -> Masks:
        """What dropout keeps of sentences that long, drawn where torch draws its own."""
        network, dtype = self._weights, torch.from_numpy(self._weights.output_bias).dtype
        shapes = (
            (source, network.source_embedding.shape[1]),
            (source, network.key_weights.shape[1]),
            (target, network.target_embedding.shape[1]),
            (target, len(network.combine_bias)),
        )
        kept = (torch.empty(shape, dtype=dtype).bernoulli_(1 - dropout).div_(1 - dropout) for shape in shapes)
        return Masks(*(mask.numpy() for mask in kept))


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
