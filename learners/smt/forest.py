"""What a log-linear translator offers to whoever tunes it or learns its weights.

A forest is everything that a decoder found for one source sentence. It has one probability distribution for every
vector of weights: p(derivation) is proportional to exp(weights . features).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Derivation:
    """One way to translate a sentence."""

    translation: str  # tokens, joined by spaces
    features: Vector  # summed over its rules


class Forest(Protocol):
    """All derivations of one source sentence that a search left over."""

    def best(self, weights: Vector) -> Derivation:
        """The derivation with the highest score."""

    def sample(self, weights: Vector, rng: np.random.Generator) -> Derivation:
        """A derivation, drawn exactly from the distribution of these weights."""

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:
        """The best derivation of each of the k best translations, best first; fewer if there are no more."""

    def log_partition(self, weights: Vector) -> float:
        """Log of the sum of exp(score) over all derivations."""

    def expectation(self, weights: Vector) -> Vector:
        """The mean of the features under the distribution of these weights."""


class LogLinearTranslator(Protocol):
    """A decoder with its models."""

    weights: Vector  # as tuned

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features, in the order of the weights."""

    def forest(self, source: str, weights: Vector) -> Forest:
        """Search with these weights; never without a derivation, whatever the source."""
