"""One-point stochastic zeroth order: move the parameters at random, and see what the translation earns (card B5).

The noise of a round is drawn from a seed. It is at hand until its reward arrives, but never saved: a process that takes
over draws it again. The parameters come back bit for bit, because they are copied, not shifted back.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class ParameterNoise:
    """Gaussian noise on some parameters, and the gradient that a reward under it is worth."""

    def __init__(self, parameters: Sequence[Tensor], scale: float) -> None:
        if scale <= 0:
            raise ValueError(f"the noise needs a positive scale, but got {scale}")
        self._parameters = list(parameters)
        self._scale = scale
        self._home = [parameter.detach().clone() for parameter in self._parameters]
        self._noise = [torch.empty_like(home) for home in self._home]
        self._seed: tuple[int, int] | None = None  # of the noise that is at hand

    def add(self, seed: tuple[int, int]) -> None:
        """Move the parameters from where they are now."""
        with torch.no_grad():
            for parameter, home, noise in zip(self._parameters, self._home, self._draw(seed), strict=True):
                home.copy_(parameter)
                parameter.add_(noise, alpha=self._scale)

    def remove(self) -> None:
        """Put them back exactly."""
        with torch.no_grad():
            for parameter, home in zip(self._parameters, self._home, strict=True):
                parameter.copy_(home)

    def fill_gradient(self, seed: tuple[int, int], advantage: float) -> None:
        """Set ``.grad`` to ``-advantage * noise / scale``: an estimate of the gradient of the expected loss."""
        for parameter, noise in zip(self._parameters, self._draw(seed), strict=True):
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            torch.mul(noise, -advantage / self._scale, out=parameter.grad)  # in place: it may be a view of a vector

    def _draw(self, seed: tuple[int, int]) -> Sequence[Tensor]:
        if seed != self._seed:
            state = np.random.SeedSequence(seed).generate_state(1, np.uint64)
            generator = torch.Generator().manual_seed(int(state[0]) >> 1)
            for noise in self._noise:
                noise.copy_(torch.randn(noise.shape, generator=generator, dtype=noise.dtype))
            self._seed = seed
        return self._noise
