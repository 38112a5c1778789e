"""Gaussian noise on parameters, for one-point zeroth-order learning (Sokolov et al. 2017, section 5.1).

The noise of a round is drawn from a seed. It is kept until the reward arrives, but never saved: a process that resumes
draws it again. Removing it restores the parameters bit for bit, because they are copied, not shifted back.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class ParameterNoise:
    """Gaussian noise on some parameters, and the gradient estimate that a reward under it gives."""

    def __init__(self, parameters: Sequence[Tensor], scale: float) -> None:
        if scale <= 0:
            raise ValueError(f"the scale of the noise must be positive, but got {scale}")
        self._parameters = list(parameters)
        self._scale = scale
        self._unperturbed = [parameter.detach().clone() for parameter in self._parameters]
        self._noise = [torch.empty_like(parameter) for parameter in self._unperturbed]
        self._seed: tuple[int, int] | None = None  # of the current noise

    def add(self, seed: tuple[int, int]) -> None:
        """Perturb the parameters with the noise of this seed."""
        with torch.no_grad():
            for parameter, unperturbed, noise in zip(
                self._parameters, self._unperturbed, self._draw(seed), strict=True
            ):
                unperturbed.copy_(parameter)
                parameter.add_(noise, alpha=self._scale)

    def remove(self) -> None:
        """Restore the parameters exactly."""
        with torch.no_grad():
            for parameter, unperturbed in zip(self._parameters, self._unperturbed, strict=True):
                parameter.copy_(unperturbed)

    def fill_gradient(self, seed: tuple[int, int], advantage: float) -> None:
        """Set ``.grad`` to ``-advantage * noise / scale``: an estimate of the gradient of the expected loss."""
        for parameter, noise in zip(self._parameters, self._draw(seed), strict=True):
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            torch.mul(noise, -advantage / self._scale, out=parameter.grad)  # in place: it may be a view of a vector

    def _draw(self, seed: tuple[int, int]) -> Sequence[Tensor]:
        """Return the noise of this seed, for each parameter."""
        if seed != self._seed:
            state = np.random.SeedSequence(seed).generate_state(1, np.uint64)
            generator = torch.Generator().manual_seed(int(state[0]) >> 1)
            for noise in self._noise:
                noise.copy_(torch.randn(noise.shape, generator=generator, dtype=noise.dtype))
            self._seed = seed
        return self._noise
