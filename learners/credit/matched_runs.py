"""Which words matched, and which of them in one run? The exact posterior, given the matches of orders 1 to 4.

Words are right with different probabilities, and neighbours that are right are neighbours in the reference, too, with
others. Matches of higher orders say where the wrong words are: one in the middle costs more bigrams than one at the
end. So a chain over the words, whose states count the matches so far, knows more than the number of right words tells.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.hashing import Array, compiled, compiled_internal

MAX_ORDER = 4
RUNS = MAX_ORDER + 1  # lengths of the run that ends with a word: 0 if it is wrong, at most MAX_ORDER
MAX_CHAIN = 20_000  # states of all words: where there would be more, matches of the highest orders are not used


class RunPosterior(NamedTuple):
    """What the matches say of each word, and how probable they were."""

    words: Array  # the probability that a word is right
    adjacent: Array  # that it follows its neighbour in the reference, if both are right
    probability: float  # of the matches; if it is 0, the rest is as it was before


@compiled_internal
def _count_states(matches: Array, length: int) -> tuple[Array, Array]:
    """Return how far apart the states of two runs are, by length of the run, and how long a run each state allows.

    A state is the number of matches so far of each order that is used; the last state has all of them.
    """
    orders, size = 0, 1
    while orders < MAX_ORDER and (orders == 0 or size * (matches[orders] + 1) * RUNS * length <= MAX_CHAIN):
        size *= matches[orders] + 1
        orders += 1
    steps, longest = np.zeros(RUNS, np.int64), np.full(size, MAX_ORDER)
    stride = size
    for order in range(orders):
        above, stride = stride, stride // (matches[order] + 1)
        steps[order + 1 :] += stride
        for state in range(size):
            if state % above // stride == matches[order]:
                longest[state] = min(longest[state], order)
    return steps, longest


@compiled_internal
def _possible_states(k: int, length: int, steps: Array, longest: Array) -> range:
    """Return the states before word k with at most k right words, and enough for the last state to be reached."""
    stride = steps[1]  # between numbers of right words
    missing = len(longest) // stride - 1 - (length - k)
    return range(max(missing, 0) * stride, min((k + 1) * stride, len(longest)))


@compiled_internal
def _forward(words: Array, adjacent: Array, steps: Array, longest: Array) -> Array:
    """Return the probability [word, state, run] of each state before a word, and after the last one."""
    forward = np.zeros((len(words) + 1, len(longest), RUNS))
    forward[0, 0, 0] = 1.0
    for k in range(len(words)):
        for state in _possible_states(k, len(words), steps, longest):
            for run in range(RUNS):
                mass = forward[k, state, run]
                if mass == 0.0:
                    continue
                joins, longer = adjacent[k] if run else 0.0, min(run + 1, MAX_ORDER)
                forward[k + 1, state, 0] += mass * (1.0 - words[k])
                if longest[state] >= 1:
                    forward[k + 1, state + steps[1], 1] += mass * words[k] * (1.0 - joins)
                if longest[state] >= longer:
                    forward[k + 1, state + steps[longer], longer] += mass * words[k] * joins
    return forward


@compiled
def posterior_given_matches(words: Array, adjacent: Array, matches: Array) -> RunPosterior:
    """Return the posterior of a translation's words, given its matches of orders 1 to 4.

    ``words`` are the probabilities that they are right, ``adjacent`` those that they follow their neighbours in the
    reference, if both are right; the first of the latter is not used.
    """
    n = len(words)
    steps, longest = _count_states(matches, n)
    forward = _forward(words, adjacent, steps, longest)
    probability = forward[n, -1].sum()
    if probability <= 0.0:
        return RunPosterior(words.copy(), adjacent.copy(), 0.0)
    right, both, joined = np.zeros(n), np.zeros(n), np.zeros(n)
    after = np.zeros(forward.shape[1:])  # the probability of all matches in the end, by state after a word
    after[-1] = 1.0
    for k in range(n - 1, -1, -1):
        before = np.zeros_like(after)
        for state in _possible_states(k, n, steps, longest):
            for run in range(RUNS):
                mass = forward[k, state, run]
                if mass == 0.0:
                    continue
                joins, longer = adjacent[k] if run else 0.0, min(run + 1, MAX_ORDER)
                begins, continues = 0.0, 0.0
                if longest[state] >= 1:
                    begins = words[k] * (1.0 - joins) * after[state + steps[1], 1]
                if longest[state] >= longer:
                    continues = words[k] * joins * after[state + steps[longer], longer]
                before[state, run] = (1.0 - words[k]) * after[state, 0] + begins + continues
                right[k] += mass * (begins + continues)
                if run:
                    both[k] += mass * (begins + continues)
                    joined[k] += mass * continues
        after = before
    follows = np.where(both > 0.0, joined / both, adjacent)
    return RunPosterior(right / probability, follows, probability)
