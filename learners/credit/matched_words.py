"""Which words matched? The posterior of independent events, given how many of them happened.

The number of matches is Poisson-binomial: words match with different probabilities. Two passes over the counts give the
exact posterior of every word.
"""

import numpy as np

from learners.smt.hashing import Array, compiled


@compiled
def count_distribution(probabilities: Array) -> Array:
    """Return the distribution of the number of events that happen."""
    distribution = np.zeros(len(probabilities) + 1)
    distribution[0] = 1.0
    for k in range(len(probabilities)):
        p = probabilities[k]
        for count in range(k + 1, 0, -1):
            distribution[count] = distribution[count] * (1.0 - p) + distribution[count - 1] * p
        distribution[0] *= 1.0 - p
    return distribution


@compiled
def posterior_given_count(probabilities: Array, count: int) -> Array:
    """Return the probability of each event, given that exactly ``count`` of them happened.

    If that cannot be, or there are no events, the probabilities are returned as they are.
    """
    n = len(probabilities)
    before = np.zeros((n + 1, n + 1))  # [k, c]: the probability that c of the first k happen
    before[0, 0] = 1.0
    for k in range(n):
        p = probabilities[k]
        for c in range(k + 2):
            before[k + 1, c] = before[k, c] * (1.0 - p) + (before[k, c - 1] * p if c else 0.0)
    posterior = probabilities.copy()
    if count < 0 or count > n or before[n, count] <= 0.0:
        return posterior
    after = np.zeros(n + 1)  # [c]: the probability that c of the events after the current one happen
    after[0] = 1.0
    for k in range(n - 1, -1, -1):
        p = probabilities[k]
        happened = 0.0
        for c in range(max(0, count - 1 - (n - 1 - k)), min(k, count - 1) + 1):
            happened += before[k, c] * after[count - 1 - c]
        posterior[k] = happened * p / before[n, count]
        for c in range(n - k, 0, -1):
            after[c] = after[c] * (1.0 - p) + after[c - 1] * p
        after[0] *= 1.0 - p
    return posterior
