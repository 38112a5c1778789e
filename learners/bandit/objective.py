"""Which gradient a reward is worth: expected loss, with the advantage as a constant (cards B4, B8).

All are gradients of a loss, so that optimisers step against them. ``log p`` is that of the distribution that was
sampled from: a tempered sample has a tempered gradient.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def log_linear_gradient(advantage: float, features: Vector, expected: Vector) -> Vector:
    """Of ``-advantage * log p(y|x)`` in a log-linear model: features of what was sampled, and what was expected."""
    gradient: Vector = -advantage * (features - expected)
    return gradient


def softmax_gradient(advantage: float, scores: Vector, chosen: int, temperature: float = 1.0) -> Vector:
    """Of ``-advantage * log softmax(scores / temperature)[chosen]`` with respect to the scores."""
    odds = np.exp((scores - scores.max()) / temperature)
    features = np.zeros_like(scores)
    features[chosen] = 1.0
    return log_linear_gradient(advantage, features, odds / odds.sum()) / temperature


def minibatch_gradient(gradients: list[Vector]) -> Vector:
    """The mean over the rounds of a minibatch, all played with the same parameters (card B14)."""
    mean: Vector = np.mean(gradients, axis=0)
    return mean
