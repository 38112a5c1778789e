"""Updates on one post-edit: gradient steps until the model has learned it (Simianer et al. 2019, section 5.1)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from learners.errors import DivergedError


@dataclass(frozen=True, kw_only=True)
class UpdateConfig:
    """How often and how far a learner steps on one post-edit."""

    learning_rate: float = 1e-2  # of plain SGD, as published; there is neither dropout nor label smoothing
    max_updates: int = 3  # on one post-edit: at least one, more if its perplexity is still above the target
    target_perplexity: float = 2.0  # of the post-edit, end symbol included
    max_norm: float = 1.0  # of the gradient of each tensor
    normalise: bool = False  # scale every tensor's gradient to this norm, small ones too; the paper uses both words


class Objective(ABC):
    """The loss of one post-edit, and a step that lowers it."""

    @abstractmethod
    def loss(self) -> float:
        """Return the mean negative log-probability per token under the present parameters."""

    @abstractmethod
    def step(self) -> None:
        """Step along the gradient of the last loss."""


def learn(objective: Objective, config: UpdateConfig) -> int:
    """Repeat steps until the perplexity reaches the target or the updates are used up; return their number.

    The loss after a step serves the next step, too; after the last possible step, nothing depends on it.
    """
    objective.loss()
    for updates in range(1, config.max_updates):
        objective.step()
        if perplexity(objective.loss()) <= config.target_perplexity:
            return updates
    objective.step()
    return config.max_updates


def perplexity(loss: float) -> float:
    """Return the perplexity of a mean negative log-probability per token."""
    if not math.isfinite(loss):
        raise DivergedError(f"the loss of a post-edit is {loss}: the model has diverged; try a smaller learning rate")
    return math.exp(min(loss, 700.0))  # the largest that is not infinite


class TensorObjective(Objective):
    """The loss as a function of tensors that torch differentiates."""

    def __init__(
        self,
        token_losses: Callable[[], Tensor],
        tensors: Sequence[Tensor],
        apply: Callable[[Sequence[Tensor], Sequence[float]], None],
        config: UpdateConfig,
    ) -> None:
        """Create the objective of one post-edit.

        Args:
            token_losses: Returns the negative log-probability of each token, with torch's graph.
            tensors: What the loss is differentiated by.
            apply: Changes the tensors, given their gradients and the factors that clip them.
            config: How far to step.
        """
        self._token_losses, self._tensors, self._apply, self._config = token_losses, tensors, apply, config
        self._losses: Tensor | None = None

    def loss(self) -> float:
        self._losses = self._token_losses()
        return float(self._losses.detach().mean())

    def step(self) -> None:
        assert self._losses is not None, "a step follows a loss"
        gradients = torch.autograd.grad(self._losses.sum(), self._tensors)
        self._apply(gradients, clipping_factors(gradients, self._config))


class BiasObjective(Objective):
    """The loss as a function of an output bias alone: the network is evaluated once, whatever the number of steps."""

    def __init__(self, logits: Tensor, targets: Tensor, bias: Tensor, config: UpdateConfig) -> None:
        """Create the objective of one post-edit.

        Args:
            logits: Of the model without the bias [target, vocabulary].
            targets: The tokens of the post-edit [target].
            bias: What is added to the logits [vocabulary]; steps change it in place.
            config: How far to step.
        """
        self._logits, self._targets, self._bias, self._config = logits, targets, bias, config
        self._counts = torch.bincount(targets, minlength=len(bias)).to(bias.dtype)
        self._log_probabilities: Tensor | None = None

    def loss(self) -> float:
        self._log_probabilities = (self._logits + self._bias).log_softmax(-1)
        return float(F.nll_loss(self._log_probabilities, self._targets))

    def step(self) -> None:
        assert self._log_probabilities is not None, "a step follows a loss"
        gradient = self._log_probabilities.exp().sum(0) - self._counts
        (factor,) = clipping_factors([gradient], self._config)
        self._bias.sub_(gradient, alpha=self._config.learning_rate * factor)


def clipping_factors(gradients: Sequence[Tensor], config: UpdateConfig) -> list[float]:
    """Return what each gradient is to be multiplied by, so that its norm is at most that of the config."""
    norms = torch.stack(torch._foreach_norm(list(gradients))).tolist()
    if config.normalise:
        return [config.max_norm / norm if norm > 0 else 1.0 for norm in norms]
    return [config.max_norm / max(norm, config.max_norm) for norm in norms]
