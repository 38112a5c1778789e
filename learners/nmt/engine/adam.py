"""Adam, compiled: clip the gradient, step, zero the gradient and measure the parameters in two passes over memory.

With a batch of one, an optimiser is as expensive as the gradient itself. Torch's fused Adam is one pass, but the norm
of the gradient, its scaling, its zeroing and the check for divergence are further passes over the same memory.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from learners.nmt.engine.algebra import Array, compiled


@compiled
def update(
    parameters: Array,
    gradient: Array,
    mean: Array,
    mean_square: Array,
    factors: Array,
) -> float:
    """Step along the scaled gradient, zero the gradient, and return the sum of squares of the new parameters.

    The factors are those of the gradient, the two betas, the rate, the root's bias correction, and epsilon.
    """
    scale, keep, keep_square = factors[0], factors[1], factors[2]
    rate, root_correction, epsilon = factors[3], factors[4], factors[5]
    one = parameters.dtype.type(1)
    total = 0.0
    for start in range(0, len(parameters), 1024):  # sums of a block in single precision lose nothing that counts
        p, g = parameters[start : start + 1024], gradient[start : start + 1024]
        m, v = mean[start : start + 1024], mean_square[start : start + 1024]
        block = parameters.dtype.type(0)
        for j in range(len(p)):
            x = scale * g[j]
            m[j] = keep * m[j] + (one - keep) * x
            v[j] = keep_square * v[j] + (one - keep_square) * x * x
            p[j] -= rate * m[j] / (math.sqrt(v[j]) * root_correction + epsilon)
            block += p[j] * p[j]
            g[j] = 0
        total += block
    return total


class EngineAdam(torch.optim.Optimizer):
    """Adam (Kingma and Ba 2015) for float32 parameters on a CPU, with the state of ``torch.optim.Adam``.

    Call ``gradient_norm``, then ``scaled_step`` with the factor that clips it.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    def gradient_norm(self) -> float:
        """Return the norm of all gradients together."""
        flat = (torch.from_numpy(_flat(parameter.grad)) for parameter in self._with_gradients())
        return math.sqrt(sum(float(torch.dot(gradient, gradient)) for gradient in flat))

    def scaled_step(self, scale: float) -> float:
        """Step along the gradients times ``scale``, zero the gradients, and return the norm of all parameters."""
        return math.sqrt(sum(self._update(parameter, scale) for parameter in self._with_gradients()))

    def _update(self, parameter: Tensor, scale: float) -> float:
        group, state = self.param_groups[0], self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        state["step"] += 1
        step, (beta1, beta2) = float(state["step"]), group["betas"]
        rate = group["lr"] / (1 - beta1**step)
        factors = np.array([scale, beta1, beta2, rate, 1 / math.sqrt(1 - beta2**step), group["eps"]], dtype=np.float32)
        assert parameter.grad is not None
        means = _flat(state["exp_avg"]), _flat(state["exp_avg_sq"])
        return update(_flat(parameter.data), _flat(parameter.grad), *means, factors)

    def _with_gradients(self) -> Iterator[Tensor]:
        return (parameter for parameter in self.param_groups[0]["params"] if parameter.grad is not None)


def fits(parameters: Iterable[Tensor]) -> bool:
    """Return whether these parameters can be optimised here: in single precision, on a CPU, without gaps in memory."""
    return all(
        parameter.dtype == torch.float32 and parameter.device.type == "cpu" and parameter.is_contiguous()
        for parameter in parameters
    )


def _flat(tensor: Any) -> Array:
    return tensor.detach().view(-1).numpy()
