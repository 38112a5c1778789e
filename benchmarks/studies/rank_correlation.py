"""Rank correlations of two lists of values, with two intervals: over systems, and over sentences.

The interval over systems is what another choice of as many systems might give (Bonett and Wright 2000). The one over
sentences is what other sentences might give with the same systems; it needs resamples of one of the lists.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from leaderboard.metrics.bootstrap import Interval, percentile_interval
from leaderboard.metrics.student_t import NORMAL_QUANTILE

Values = Sequence[float]
MIN_SYSTEMS = 5  # fewer make no interval


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation, and what it might have been."""

    name: str
    value: float
    over_systems: Interval | None  # None for too few systems, and for a perfect correlation
    over_sentences: Interval | None  # None without resamples

    def __str__(self) -> str:
        parts = [f"{self.name} {self.value:.2f}"]
        for interval, covers in ((self.over_systems, "systems"), (self.over_sentences, "sentences")):
            if interval:
                parts.append(f"{interval[0]:.2f} to {interval[1]:.2f} over {covers}")
        return f"{parts[0]} ({', '.join(parts[1:])})" if parts[1:] else parts[0]


def spearman(ours: Values, theirs: Values) -> float:
    """Return Spearman's rho: the correlation of ranks, where equal values share their mean rank."""
    a, b = _ranks(ours), _ranks(theirs)
    middle = (len(a) + 1) / 2
    shared = math.fsum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True))
    spread = math.sqrt(math.fsum((x - middle) ** 2 for x in a) * math.fsum((y - middle) ** 2 for y in b))
    return shared / spread if spread else 0.0


def kendall(ours: Values, theirs: Values) -> float:
    """Return Kendall's tau-b: pairs in the same order minus pairs in reverse order, as a share of all untied pairs."""
    pairs = list(combinations(zip(ours, theirs, strict=True), 2))
    signs = [(_sign(a[0] - b[0]), _sign(a[1] - b[1])) for a, b in pairs]
    untied = math.sqrt(sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs))
    return sum(x * y for x, y in signs) / untied if untied else 0.0


def rank_correlations(ours: Values, theirs: Values, resamples: Sequence[Values] = ()) -> list[RankCorrelation]:
    """Return Spearman's rho and Kendall's tau; ``resamples`` are what our values might have been."""
    measures: list[tuple[str, Callable[[Values, Values], float], Callable[[float, int], float]]] = [
        ("Spearman's rho", spearman, lambda rho, size: (1 + rho**2 / 2) / (size - 3)),
        ("Kendall's tau", kendall, lambda _, size: 0.437 / (size - 4)),
    ]
    found = []
    for name, measure, variance in measures:
        value = measure(ours, theirs)
        over_sentences = percentile_interval([measure(each, theirs) for each in resamples]) if resamples else None
        found.append(RankCorrelation(name, value, _fisher_interval(value, len(ours), variance), over_sentences))
    return found


def _fisher_interval(value: float, size: int, variance: Callable[[float, int], float]) -> Interval | None:
    """Return the interval that is symmetric after Fisher's z transformation (Bonett and Wright 2000)."""
    if size < MIN_SYSTEMS or abs(value) > 1 - 1e-9:
        return None
    middle, half = math.atanh(value), NORMAL_QUANTILE * math.sqrt(variance(value, size))
    return math.tanh(middle - half), math.tanh(middle + half)


def _ranks(values: Values) -> list[float]:
    """Return the ranks from 1 upwards; equal values share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
