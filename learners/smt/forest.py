"""The interface of a log-linear translator to tuning and to learners.

A forest holds all derivations that a decoder kept for one source sentence. Any weight vector defines a distribution
over it: p(derivation) is proportional to exp(weights . features).
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
    """All derivations of one source sentence that survived the search."""

    def best(self, weights: Vector) -> Derivation:
        """Return the Viterbi derivation."""

    def sample(self, weights: Vector, rng: np.random.Generator) -> Derivation:
        """Return an exact sample from the distribution that the weights define."""

    def log_probability(self, translation: str, weights: Vector) -> float:
        """Return the log-probability of sampling this translation, by any of its derivations; -inf if it has none."""

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:
        """Return the best derivation of each of the k best translations, best first; fewer if the forest has fewer."""

    def log_partition(self, weights: Vector) -> float:
        """Return log Z, the log of the sum of exp(score) over all derivations."""

    def expectation(self, weights: Vector) -> Vector:
        """Return the expected feature vector under the distribution that the weights define."""


class LogLinearTranslator(Protocol):
    """A decoder with its models."""

    weights: Vector  # as tuned

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the features, in the order of the weights."""

    def forest(self, source: str, weights: Vector) -> Forest:
        """Return the forest of a search with these weights; it has at least one derivation for any source."""
