"""Gradient steps: clip the gradient by its norm over all parameters, then step with one of torch's optimisers.

Parameters are torch tensors whose ``.grad`` the learner fills. Plain numpy weights take part through
``torch.from_numpy``, which shares their memory.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from learners.errors import DivergedError, SettingError, SnapshotError
from learners.nmt.engine import cache_folder
from learners.nmt.engine.adam import EngineAdam, fits
from learners.nmt.engine.compilation import ensure_compiled
from learners.settings import check_bounds, to_text
from learners.snapshot import Snapshot

MAX_ABSOLUTE_VALUE = 1e6  # a larger parameter is on its way to infinity


class Method(StrEnum):
    """The optimisers of the task's systems, and one for sparse gradients."""

    SGD = "sgd"
    ADAM = "adam"
    ADADELTA = "adadelta"
    ADAGRAD = "adagrad"  # leaves parameters without a gradient alone


@dataclass(frozen=True, slots=True)
class OptimiserConfig:
    """Which optimiser, and its hyper-parameters."""

    method: Method = Method.ADAM  # Adam for networks, Adagrad for sparse features
    learning_rate: float = 1e-5  # as published, for a converged seed model; for Adadelta, 1 is usual
    clip_norm: float | None = 1.0  # maximum norm of the gradient over all parameters together; None for no clipping
    betas: tuple[float, float] = (0.9, 0.999)  # of Adam
    rho: float = 0.95  # of Adadelta, as in cdec
    epsilon: float = 1e-8  # of Adam; Adadelta has cdec's 1e-6

    def __post_init__(self) -> None:
        check_bounds(self, learning_rate=(0, None), clip_norm=(0, None), rho=(0, 1), epsilon=(0, None))
        if not all(0 <= beta < 1 for beta in self.betas):
            raise SettingError(f"betas must be between 0 and 1, and less than 1, not {to_text(self.betas)}")


class Optimiser:
    """One of torch's optimisers, with clipping, a check for divergence, and a state that can be saved."""

    def __init__(self, parameters: Iterable[Tensor], config: OptimiserConfig, *, max_norm: float | None = None) -> None:
        """Create an optimiser of these parameters.

        Args:
            parameters: The tensors to optimise.
            config: Which optimiser, and its hyper-parameters.
            max_norm: The norm of all parameters above which they have diverged; without it, ``MAX_ABSOLUTE_VALUE``
                limits each of them.
        """
        self._parameters = list(parameters)
        self._config = config
        self._max_norm = max_norm
        self._optimiser = _torch_optimiser(self._parameters, config)
        self.gradient_norm = math.nan  # of the last step, before clipping

    def step(self, rate_factor: float = 1.0) -> None:
        """Clip the gradients, step, zero the gradients, and check the parameters for divergence."""
        for group in self._optimiser.param_groups:
            group["lr"] = self._config.learning_rate * rate_factor
        if isinstance(self._optimiser, EngineAdam):
            self.gradient_norm = self._optimiser.gradient_norm()
            norm = self._optimiser.scaled_step(clipping_factor(self.gradient_norm, self._config.clip_norm))
        else:
            self.gradient_norm = clip_global_norm(self._parameters, self._config.clip_norm)
            self._optimiser.step()
            self.zero_gradients()
            norm = l2_norm(self._parameters) if self._max_norm is not None else 0.0
        self._check_divergence(norm)

    def _check_divergence(self, norm: float) -> None:
        """Raise DivergedError if the parameters, whose norm this is, have become too large."""
        if self._max_norm is None:
            what, limit = "a parameter", MAX_ABSOLUTE_VALUE
            size = float(np.max([_largest_absolute(parameter) for parameter in self._parameters]))
        else:
            what, limit, size = "the norm of the parameters", self._max_norm, norm
        if not size < limit:  # also if it is NaN
            raise DivergedError(f"{what} has grown to {size:g}: try a smaller learning rate")

    def zero_gradients(self) -> None:
        for parameter in self._parameters:
            if parameter.grad is not None:
                parameter.grad.zero_()

    def save(self) -> Snapshot:
        state = self._optimiser.state
        return Snapshot(
            {
                f"{number}/{name}": value.detach().cpu().numpy().copy()
                for number, parameter in enumerate(self._parameters)
                for name, value in state.get(parameter, {}).items()
                if isinstance(value, Tensor)
            },
            {"method": self._config.method.value},
        )

    def load(self, snapshot: Snapshot) -> None:
        if snapshot.values.get("method") != self._config.method.value:
            raise SnapshotError(
                f"the snapshot is of the optimiser {snapshot.values.get('method')}, not of {self._config.method}"
            )
        self._optimiser.state.clear()
        for key, array in snapshot.arrays.items():
            number, _, name = key.partition("/")
            parameter = self._parameters[int(number)]
            value = torch.from_numpy(array.copy())
            if value.dim() and value.shape != parameter.shape:
                raise SnapshotError(f"parameter {number} has shape {list(parameter.shape)}, not {list(value.shape)}")
            self._optimiser.state[parameter][name] = value.to(parameter.device)


def l2_norm(parameters: Iterable[Tensor]) -> float:
    """Return the norm of all parameters together; dot products are the fastest way to compute it."""
    flat = (parameter.detach().reshape(-1) for parameter in parameters)
    return math.sqrt(sum(float(torch.dot(one, one)) for one in flat))


def _largest_absolute(parameter: Tensor) -> float:
    low, high = torch.aminmax(parameter.detach())  # far faster than the infinity norm
    return float(torch.maximum(-low, high))


def clip_global_norm(parameters: Iterable[Tensor], max_norm: float | None) -> float:
    """Scale all gradients together to the maximum if their common norm exceeds it; return the norm before.

    Raise DivergedError if the norm is not finite.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    norm = float(torch.nn.utils.get_total_norm(gradients, foreach=None))
    factor = clipping_factor(norm, max_norm)
    if factor < 1:
        for gradient in gradients:
            gradient.mul_(factor)
    return norm


def clipping_factor(norm: float, max_norm: float | None) -> float:
    """Return the factor that scales a gradient with this norm to the maximum; 1 if it is below.

    Raise DivergedError if the norm is not finite.
    """
    if not np.isfinite(norm):
        raise DivergedError(f"the norm of the gradient is {norm}: the model has diverged; try a smaller learning rate")
    return max_norm / norm if max_norm is not None and norm > max_norm else 1.0


def _torch_optimiser(parameters: list[Tensor], config: OptimiserConfig) -> torch.optim.Optimizer:
    match config.method:
        case Method.SGD:
            return torch.optim.SGD(parameters, lr=config.learning_rate)
        case Method.ADADELTA:
            return torch.optim.Adadelta(parameters, lr=config.learning_rate, rho=config.rho, eps=1e-6)
        case Method.ADAGRAD:
            return torch.optim.Adagrad(parameters, lr=config.learning_rate, eps=config.epsilon)
        case Method.ADAM if fits(parameters):
            ensure_compiled(cache_folder())
            return EngineAdam(parameters, lr=config.learning_rate, betas=config.betas, eps=config.epsilon)
        case Method.ADAM:
            return torch.optim.Adam(
                parameters, lr=config.learning_rate, betas=config.betas, eps=config.epsilon, fused=True
            )
