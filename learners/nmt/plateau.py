"""The end of pre-training: the learning rate is halved where the held-out loss stops falling, until nothing helps.

A training at a constant rate stops improving while its parameters still jump about the minimum. A lower rate then
gains at once what further steps at the old rate do not. Training has converged when several rates in a row gained
nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class PlateauConfig:
    """When the learning rate is reduced, and when training ends."""

    min_gain: float = 0.01  # the share of the held-out loss by which it has to fall for a gain
    patience: int = 1  # validations without a gain before the rate is reduced
    factor: float = 0.5  # by which the rate is multiplied
    reductions: int = 2  # in a row without a gain, before training ends; 0: it ends at the first plateau


@dataclass
class PlateauState:
    """What a schedule remembers from one validation to the next."""

    reference_loss: float = math.inf  # the held-out loss at the last gain
    since_reduction: int = 0  # validations since the last gain or reduction
    since_gain: int = 0  # validations
    reductions: int = 0  # of the learning rate, in total
    reductions_since_gain: int = 0
    converged: bool = False


class PlateauSchedule:
    """A factor of the learning rate, and the decision that training has converged; both follow from held-out losses."""

    def __init__(self, config: PlateauConfig) -> None:
        self._config = config
        self._state = PlateauState()

    @property
    def rate_factor(self) -> float:
        """The factor of the learning rate until the next validation."""
        return self._config.factor**self._state.reductions

    @property
    def converged(self) -> bool:
        return self._state.converged

    @property
    def validations_without_gain(self) -> int:
        """The number of validations since the last gain."""
        return self._state.since_gain

    def update(self, held_out_loss: float) -> None:
        """Take notice of a validation.

        Many small improvements count as a gain once they amount to one: the loss is compared with that of the last
        gain, not with that of the last validation.
        """
        state = self._state
        if held_out_loss < state.reference_loss * (1 - self._config.min_gain):
            state.reference_loss = held_out_loss
            state.since_gain = state.since_reduction = state.reductions_since_gain = 0
            return
        state.since_gain += 1
        state.since_reduction += 1
        if state.since_reduction < self._config.patience:
            return
        if state.reductions_since_gain >= self._config.reductions:
            state.converged = True
            return
        state.reductions += 1
        state.reductions_since_gain += 1
        state.since_reduction = 0

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values, for a snapshot."""
        return asdict(self._state)

    def load_state(self, values: Mapping[str, Any]) -> None:
        """Continue from what ``state`` returned."""
        self._state = PlateauState(**values)
