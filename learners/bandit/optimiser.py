"""Gradient steps: the gradient is clipped by its norm over all parameters, then an optimiser follows it.

Parameters are torch tensors with ``.grad`` filled by whoever computes gradients. Plain numpy weights take part through
``torch.from_numpy``, which shares their memory.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from learners.errors import DivergedError, SnapshotError
from learners.snapshot import Snapshot

LARGEST = 1e6  # a parameter beyond it is on its way to infinity


class Method(StrEnum):
    """The optimisers of the task paper, and one for gradients that are mostly zero."""

    SGD = "sgd"
    ADAM = "adam"
    ADADELTA = "adadelta"
    ADAGRAD = "adagrad"  # leaves alone what has no gradient


@dataclass(frozen=True, slots=True)
class OptimiserConfig:
    """Which optimiser, and how it is set."""

    method: Method = Method.ADAM
    learning_rate: float = 1e-5  # the papers' for a converged seed model; Adadelta's usual factor is 1
    clip_norm: float | None = 1.0  # largest norm of the gradient over all parameters together; None for no bound
    betas: tuple[float, float] = (0.9, 0.999)  # of Adam
    rho: float = 0.95  # of Adadelta, as in cdec
    epsilon: float = 1e-8  # of Adam; Adadelta has cdec's 1e-6


class Optimiser:
    """Steps along the gradients of a list of parameters, whose state can be saved."""

    def __init__(self, parameters: Iterable[Tensor], config: OptimiserConfig, *, bound: float | None = None) -> None:
        """``bound`` is the norm beyond which the parameters have run away; without, each of them may grow far."""
        self._parameters = list(parameters)
        self._config = config
        self._bound = bound
        self._optimiser = _make(self._parameters, config)

    def step(self, rate_factor: float = 1.0) -> float:
        """Clip, step, clear the gradients; returns the norm of the gradient as it was."""
        norm = clip_global_norm(self._parameters, self._config.clip_norm)
        for group in self._optimiser.param_groups:
            group["lr"] = self._config.learning_rate * rate_factor
        self._optimiser.step()
        self.clear()
        self._look_for_runaways()
        return norm

    def _look_for_runaways(self) -> None:
        if self._bound is None:
            what, grown, bound = "a parameter", float(np.max([_largest(one) for one in self._parameters])), LARGEST
        else:
            what, grown, bound = "the norm of the parameters", euclidean(self._parameters), self._bound
        if not grown < bound:  # also when it is not a number
            raise DivergedError(f"{what} has grown to {grown:g}: try a smaller learning rate")

    def clear(self) -> None:
        """Forget the gradients."""
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
            raise SnapshotError(f"the snapshot is of {snapshot.values.get('method')}, not of {self._config.method}")
        self._optimiser.state.clear()
        for key, array in snapshot.arrays.items():
            number, _, name = key.partition("/")
            parameter = self._parameters[int(number)]
            value = torch.from_numpy(array.copy())
            if value.dim() and value.shape != parameter.shape:
                raise SnapshotError(f"parameter {number} has shape {list(parameter.shape)}, not {list(value.shape)}")
            self._optimiser.state[parameter][name] = value.to(parameter.device)


def euclidean(parameters: Iterable[Tensor]) -> float:
    """The norm of all parameters together; dot products are the fastest way to it."""
    flat = (parameter.detach().reshape(-1) for parameter in parameters)
    return math.sqrt(sum(float(torch.dot(one, one)) for one in flat))


def _largest(parameter: Tensor) -> float:
    low, high = torch.aminmax(parameter.detach())  # far faster than the infinity norm
    return float(torch.maximum(-low, high))


def clip_global_norm(parameters: Iterable[Tensor], bound: float | None) -> float:
    """Scale all gradients together if their common norm is above the bound; refuse gradients that are not finite."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    norm = float(torch.nn.utils.get_total_norm(gradients, foreach=None))
    if not np.isfinite(norm):
        raise DivergedError(f"the norm of the gradient is {norm}: the model has diverged; try a smaller learning rate")
    if bound is not None and norm > bound:
        for gradient in gradients:
            gradient.mul_(bound / norm)
    return norm


def _make(parameters: list[Tensor], config: OptimiserConfig) -> torch.optim.Optimizer:
    match config.method:
        case Method.SGD:
            return torch.optim.SGD(parameters, lr=config.learning_rate)
        case Method.ADADELTA:
            return torch.optim.Adadelta(parameters, lr=config.learning_rate, rho=config.rho, eps=1e-6)
        case Method.ADAGRAD:
            return torch.optim.Adagrad(parameters, lr=config.learning_rate, eps=config.epsilon)
        case Method.ADAM:
            return torch.optim.Adam(
                parameters, lr=config.learning_rate, betas=config.betas, eps=config.epsilon, fused=True
            )
