"""The parameters of one base model that many users share, each with offsets of their own."""

import hashlib
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from learners.adaptation.offsets import Offsets, Table
from learners.errors import SnapshotError
from learners.nmt.translator import Translator


class AdaptedParameters:
    """A model whose parameters are those of the base model plus the offsets of one user.

    The sum is always computed from both, never updated in place: so the same offsets give the same parameters bit for
    bit, and without offsets they are the base model's.
    """

    def __init__(self, translator: Translator) -> None:
        """Take the translator's present parameters as the base model's."""
        self.translator = translator
        self.tensors: dict[str, Tensor] = dict(translator.model.named_parameters())  # views of one vector
        self.tables = _embedding_tables(translator.model)
        self._base_vector = translator.vector.detach().clone()
        self._offset_vector = torch.zeros_like(self._base_vector)
        self.base = hashlib.sha256(self._base_vector.cpu().numpy().tobytes()).hexdigest()
        self.offsets = self._views(self._offset_vector)
        self._known_spans: dict[tuple[str, ...], list[slice]] = {}
        self.user: UserOffsets | None = None  # whose offsets these are

    def refresh(self, names: Iterable[str]) -> None:
        """Compute these parameters again, after their offsets have changed."""
        vector = self.translator.vector.data
        for part in self._spans(tuple(names)):
            torch.add(self._base_vector[part], self._offset_vector[part], out=vector[part])

    def pack(self) -> Offsets:
        """Return the present offsets."""
        tensors, tables = {}, {}
        for name, offset in self.offsets.items():
            if name in self.tables:
                numbers = offset.any(1).nonzero()[:, 0]
                if len(numbers):
                    tables[name] = Table(numbers.cpu().numpy().astype(np.int32), offset[numbers].cpu().numpy())
            elif offset.any():
                tensors[name] = offset.cpu().numpy().copy()
        return Offsets(self.base, tensors, tables)

    def apply(self, offsets: Offsets | None) -> None:
        """Replace the present offsets by these; None returns to the base model, bit for bit.

        Raises:
            SnapshotError: The offsets are of another base model.
        """
        if offsets is not None:
            self._check(offsets)
        self._offset_vector.zero_()
        if offsets is None:
            self.translator.vector.data.copy_(self._base_vector)  # a sum with zero would lose the sign of zeros
            return
        for name, array in offsets.tensors.items():
            self.offsets[name].copy_(torch.from_numpy(array))
        for name, table in offsets.tables.items():
            numbers = torch.from_numpy(table.numbers.astype(np.int64)).to(self.offsets[name].device)
            self.offsets[name][numbers] = torch.from_numpy(table.rows).to(self.offsets[name].device)
        self.refresh(self.offsets)

    def _check(self, offsets: Offsets) -> None:
        if offsets.base != self.base:
            raise SnapshotError("the offsets are of another base model than this one: apply them to the model they fit")
        shapes = {name: array.shape for name, array in offsets.tensors.items()}
        shapes |= {name: (len(self.offsets[name]), table.rows.shape[1]) for name, table in offsets.tables.items()}
        if any(tuple(self.offsets[name].shape) != shape for name, shape in shapes.items()):
            raise SnapshotError("the offsets do not have the shapes of the model's tensors")

    def _spans(self, names: tuple[str, ...]) -> list[slice]:
        """Return where tensors are in the vector of all parameters; neighbours make one span, which is faster."""
        if names not in self._known_spans:
            wanted, spans, start = set(names), list[slice](), 0
            for name, tensor in self.tensors.items():
                end = start + tensor.numel()
                if name in wanted:
                    if spans and spans[-1].stop == start:
                        spans[-1] = slice(spans[-1].start, end)
                    else:
                        spans.append(slice(start, end))
                start = end
            self._known_spans[names] = spans
        return self._known_spans[names]

    def _views(self, vector: Tensor) -> dict[str, Tensor]:
        """Return views of a vector, one for each tensor of the model."""
        parts = vector.split([tensor.numel() for tensor in self.tensors.values()])
        return {name: part.view_as(self.tensors[name]) for name, part in zip(self.tensors, parts, strict=True)}


class UserOffsets:
    """The offsets of one user beside a base model; they are packed while another user's are applied."""

    def __init__(self, parameters: AdaptedParameters) -> None:
        self._parameters = parameters
        self._packed: Offsets | None = None

    def activate(self) -> AdaptedParameters:
        """Return the parameters with this user's offsets applied."""
        parameters = self._parameters
        if parameters.user is not self:
            if parameters.user is not None:
                parameters.user._packed = parameters.pack()
            parameters.apply(self._packed)
            parameters.user, self._packed = self, None
        return parameters

    def packed(self) -> Offsets:
        """Return this user's offsets."""
        if self._parameters.user is self:
            return self._parameters.pack()
        return self._packed or Offsets(self._parameters.base)

    def replace(self, offsets: Offsets) -> None:
        """Give this user other offsets."""
        self.activate().apply(offsets)


def _embedding_tables(model: nn.Module) -> list[str]:
    """Return the names of the embedding tables; the input tables first, each once."""
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    return [name for name, tensor in model.named_parameters() if id(tensor) in tables]
