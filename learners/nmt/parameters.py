"""All parameters of a model as one vector.

With a single tensor, an optimiser makes one pass over memory instead of forty small ones, clipping is one norm, and a
zeroth-order perturbation is one addition. The accelerated engine writes its gradients into it without copying.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn


class FlatParameters:
    """Two vectors that hold a model's parameters and their gradients; the model's own tensors become views of them.

    ``vector`` is the one parameter to give to an optimiser; its ``grad`` always exists. Neither may be replaced, so
    clear gradients with ``zero_gradient``, never with ``zero_grad(set_to_none=True)``. Move a model to its device
    before it gets such vectors, not after.
    """

    def __init__(self, model: nn.Module, chosen: Sequence[nn.Parameter] | None = None) -> None:
        """Take all parameters of a model, or only the chosen ones, of which there may be none."""
        parameters = list(model.parameters() if chosen is None else chosen)  # tied parameters come once
        flat = [parameter.detach().reshape(-1) for parameter in parameters]
        self.vector = nn.Parameter(torch.cat(flat) if flat else torch.zeros(0))
        self.gradient = torch.zeros_like(self.vector)
        self.vector.grad = self.gradient
        start = 0
        for parameter in parameters:
            end = start + parameter.numel()
            parameter.data = self.vector.data[start:end].view_as(parameter)
            parameter.grad = self.gradient[start:end].view_as(parameter)
            start = end

    def zero_gradient(self) -> None:
        self.gradient.zero_()

    def clip_gradient(self, limit: float) -> float:
        """Scale the gradient down to ``limit`` if its norm exceeds it; return the norm before.

        Torch's ``clip_grad_norm_`` multiplies in any case, which costs one more pass over memory in every round.
        """
        norm = math.sqrt(float(torch.dot(self.gradient, self.gradient)))
        if norm > limit:
            self.gradient *= limit / norm
        return norm
