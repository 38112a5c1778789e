"""How exploration and the learning rate fade (card B8).

From round ``start`` on, the sampling temperature falls by one per cent a round: ``T_k = 0.99 ** (k - start)``. The task
paper multiplies the rate by it cumulatively (``gamma_k = gamma_{k-1} * T_k``), the code of its authors only once
(``gamma_k = gamma_0 * T_k``). Rounds are counted from 1.
"""

from dataclasses import dataclass
from enum import StrEnum

from learners.temperature import MIN_TEMPERATURE


class LearningRateDecay(StrEnum):
    """How the learning rate follows the temperature."""

    CUMULATIVE = "cumulative"  # gamma_k = gamma_{k-1} * T_k: the formula of the paper
    DIRECT = "direct"  # gamma_k = gamma_0 * T_k: the code of its authors


@dataclass(frozen=True, slots=True)
class AnnealingSchedule:
    """Temperature and rate by round."""

    temperature: float = 1.0  # before annealing begins; 1 samples from the model itself
    start: int | None = 700_000  # the round after which annealing begins; None for never
    temperature_decay: float = 0.99  # what a round of annealing leaves of the temperature
    learning_rate_decay: LearningRateDecay = LearningRateDecay.CUMULATIVE

    def temperature_at(self, k: int) -> float:
        """The temperature that round ``k`` samples with."""
        return self.temperature * self.temperature_decay ** self._annealed(k)

    def rate_factor(self, k: int) -> float:
        """What is left of the initial learning rate in round ``k``."""
        n = self._annealed(k)
        return (
            self.temperature_decay ** (n * (n + 1) // 2)
            if self.learning_rate_decay is LearningRateDecay.CUMULATIVE
            else self.temperature_decay**n
        )

    def frozen(self, k: int) -> bool:
        """Is it so cold in round ``k`` that the learner plays greedily and learns no more?"""
        return self.temperature_at(k) < MIN_TEMPERATURE

    def _annealed(self, k: int) -> int:
        """Rounds of annealing up to round ``k``."""
        return 0 if self.start is None else max(k - self.start, 0)
