"""All parameters of a model as one vector.

An optimiser that sees a single tensor makes one pass over memory instead of forty small ones, clipping is one norm, a
zeroth-order perturbation is one addition, and the accelerated engine writes its gradients without copying.
"""

import math

import torch
from torch import nn


class FlatParameters:
    """Moves a model's parameters and their gradients into two vectors, of which the model keeps views.

    ``vector`` is the one parameter to give to an optimiser; its ``grad`` always exists. Neither may be replaced, so
    clear gradients with ``zero_gradient``, never with ``zero_grad(set_to_none=True)``. Move a model to its device
    before, not after.
    """

    def __init__(self, model: nn.Module) -> None:
        parameters = list(model.parameters())  # tied ones come once
        self.vector = nn.Parameter(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]))
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
        """Scale the gradient down if its norm exceeds ``limit``; returns the norm before.

        Torch's ``clip_grad_norm_`` multiplies in any case: one more pass over memory in every round.
        """
        norm = math.sqrt(float(torch.dot(self.gradient, self.gradient)))
        if norm > limit:
            self.gradient *= limit / norm
        return norm
