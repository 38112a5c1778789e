"""Which gradient a reward is worth: expected loss, with the advantage as a constant (card B4).

It is the gradient of a loss, so that optimisers step against it.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def log_linear_gradient(advantage: float, features: Vector, expected: Vector) -> Vector:
    """Of ``-advantage * log p(y|x)`` in a log-linear model: features of what was sampled, and what was expected."""
    gradient: Vector = -advantage * (features - expected)
    return gradient
