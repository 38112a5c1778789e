"""What adapting each group of parameters gains: the measure by which fixed choices and budgets are filled.

A group is a tensor, or a row of an embedding table. Its gain is how much a step along its clipped gradient lowers the
loss, to first order and per parameter, summed over all steps: a budget of parameters is best spent where each of them
gains most. The size of the offsets themselves would not do: clipping gives small and large tensors steps of the same
norm, so that the smallest tensors would always have moved farthest per parameter.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from learners.snapshot import Snapshot


class GroupGains:
    """The gains of all tensors, and of all rows of embedding tables, so far."""

    def __init__(self, tensors: Mapping[str, Tensor], tables: Sequence[str]) -> None:
        """Begin with no gains; ``tables`` names the tensors whose rows are groups of their own."""
        self.tensors = {name: 0.0 for name in tensors if name not in tables}
        self.rows = {name: torch.zeros(len(tensors[name]), device=tensors[name].device) for name in tables}
        self._sizes = {name: tensor.numel() for name, tensor in tensors.items()}

    def add(self, names: Sequence[str], gradients: Sequence[Tensor], factors: Sequence[float]) -> None:
        """Add the gains of one step, given the gradients and the factors that clipped them.

        With a factor times the gradient as its step, a group gains the factor times the squared norm of the gradient,
        times the learning rate, which is the same for all.
        """
        norms = torch.stack(torch._foreach_norm(list(gradients))).tolist()
        for name, gradient, factor, norm in zip(names, gradients, factors, norms, strict=True):
            if name in self.rows:
                self.rows[name] += gradient.square().sum(1) * (factor / gradient.shape[1])
            else:
                self.tensors[name] += factor * norm**2 / self._sizes[name]

    def save(self) -> Snapshot:
        rows = {name: gains.cpu().numpy().copy() for name, gains in self.rows.items()}
        return Snapshot(rows, {"tensors": dict(self.tensors)})

    def load(self, snapshot: Snapshot) -> None:
        self.tensors = dict(snapshot.values["tensors"])
        for name, gains in self.rows.items():
            gains.copy_(torch.from_numpy(snapshot.arrays[name]))


def fill_budget(gains: Mapping[str, float], sizes: Mapping[str, int], budget: int) -> list[str]:
    """Return the groups that fit into a budget of parameters, taken in order of their gains; ties by name.

    A group that no longer fits is skipped, and smaller ones after it may still fit.
    """
    chosen = []
    for name in sorted(gains, key=lambda name: (-gains[name], name)):
        if sizes[name] <= budget:
            chosen.append(name)
            budget -= sizes[name]
    return chosen
