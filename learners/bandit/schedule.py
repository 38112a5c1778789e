"""Annealing of the sampling temperature and of the learning rate (Sokolov et al. 2017, section 5.2).

From round ``start`` on, the sampling temperature falls by one per cent a round: ``T_k = 0.99 ** (k - start)``. The task
paper multiplies the learning rate by it cumulatively (``gamma_k = gamma_{k-1} * T_k``), the code of its authors only
once (``gamma_k = gamma_0 * T_k``). Rounds are counted from 1.
"""

from dataclasses import dataclass
from enum import StrEnum

from learners.settings import check_bounds
from learners.temperature import MIN_TEMPERATURE


class LearningRateDecay(StrEnum):
    """How the learning rate follows the temperature."""

    CUMULATIVE = "cumulative"  # gamma_k = gamma_{k-1} * T_k: the formula of the paper
    DIRECT = "direct"  # gamma_k = gamma_0 * T_k: the code of its authors


@dataclass(frozen=True, slots=True)
class AnnealingSchedule:
    """Temperature and learning rate by round."""

    temperature: float = 1.0  # before annealing starts; 1 samples from the model itself
    start: int | None = 700_000  # the last round before annealing; None for no annealing
    temperature_decay: float = 0.99  # factor per round of annealing
    learning_rate_decay: LearningRateDecay = LearningRateDecay.CUMULATIVE  # as in the paper, or as in its authors' code

    def __post_init__(self) -> None:
        check_bounds(self, temperature=(0, None), start=(0, None), temperature_decay=(0, 1))

    def temperature_at(self, k: int) -> float:
        """Return the sampling temperature of round ``k``."""
        return self.temperature * self.temperature_decay ** self._annealed_rounds(k)

    def rate_factor(self, k: int) -> float:
        """Return the factor of the initial learning rate in round ``k``."""
        n = self._annealed_rounds(k)
        exponent = n * (n + 1) // 2 if self.learning_rate_decay is LearningRateDecay.CUMULATIVE else n
        return self.temperature_decay**exponent

    def is_frozen(self, k: int) -> bool:
        """Return whether round ``k`` is so cold that the learner translates greedily and no longer learns."""
        return self.temperature_at(k) < MIN_TEMPERATURE

    def _annealed_rounds(self, k: int) -> int:
        """Return the number of annealed rounds up to round ``k``."""
        return 0 if self.start is None else max(k - self.start, 0)
