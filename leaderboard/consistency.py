"""Consistency on the board: how often a system prefers the translation that agrees with its context.

A task may ship contrastive test sets (Voita et al. 2019, section 3). Rounds do not tell how a system scores candidates,
so the organiser measures it (``banditmt admin system consistency``), and it is kept with what is known of the system.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from leaderboard.measures import BoardMeasure, Direction, Estimate
from leaderboard.metrics.contrastive import SIGNATURE
from task.public_texts import PublicTextError, check_public_text

CONSISTENCY = BoardMeasure(
    "consistency",
    "consistency",
    "Mean accuracy on the contrastive test sets of the task",
    Direction.HIGHER,
    SIGNATURE,
)


@dataclass(frozen=True, slots=True)
class SetAccuracy:
    """The accuracy of a system on a test set, in percent, with its 95 % interval if there are enough groups."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def from_document(cls, name: str, numbers: Any) -> "SetAccuracy":
        """Return what a store or an archive holds; raise PublicTextError if it is no accuracy."""
        check_public_text(name, "the name of a test set")
        if (
            not isinstance(numbers, list | tuple)
            or len(numbers) not in (1, 3)
            or not all(type(number) in (int, float) and 0 <= number <= 100 for number in numbers)
        ):
            raise PublicTextError(f"the accuracy on {name} is a percentage, or one with the ends of its interval")
        return cls(*map(float, numbers))


def mean_accuracy(sets: Mapping[str, Any] | None) -> Estimate | None:
    """Return the mean accuracy on several sets, as they are stored; the sets have no groups in common."""
    if not sets:
        return None
    found = [SetAccuracy.from_document(name, numbers) for name, numbers in sets.items()]
    value = fmean(each.value for each in found)
    variance = 0.0
    for each in found:
        if each.low is None or each.high is None:
            return Estimate(value, None)
        variance += ((each.high - each.low) / 2) ** 2
    half = math.sqrt(variance) / len(found)
    return Estimate.over_sentences(value, (value - half, value + half))


def mean_of_seeds(seeds: Sequence[Estimate | None]) -> Estimate | None:
    """Return the mean of the seeds that were measured."""
    values = [each.value for each in seeds if each]
    return Estimate(fmean(values), None) if values else None
