"""The expected-loss objective of log-linear models, with the advantage as a constant (Sokolov et al. 2016).

Gradients are those of a loss: optimisers step against them.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def log_linear_gradient(advantage: float, features: Vector, expected: Vector) -> Vector:
    """Return the gradient of ``-advantage * log p(y|x)``.

    Args:
        advantage: The reward minus a baseline.
        features: The features of the sampled y.
        expected: The features that the model expects.
    """
    gradient: Vector = -advantage * (features - expected)
    return gradient
