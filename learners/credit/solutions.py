"""Which of several solutions of a decoded reward is true, and what they say of the reference's length."""

import numpy as np

from learners.credit.bleu_decoding import NOT_LONGER
from learners.credit.matched_words import count_distribution
from learners.smt.hashing import Array, compiled


@compiled
def length_probability(lengths: Array, reference: int, length: int) -> float:
    """Return the probability of what a solution says of the reference's length."""
    if reference == NOT_LONGER:
        return float(lengths[: length + 1].sum())
    return float(lengths[min(reference, len(lengths) - 1)])


@compiled
def solution_weights(word_beliefs: Array, solutions: Array, lengths: Array) -> Array:
    """Return the probability of each solution of a decoded reward; all 0 if none is possible."""
    counts = count_distribution(word_beliefs)
    length = len(word_beliefs)
    weights = np.zeros(len(solutions))
    for k in range(len(solutions)):
        weights[k] = counts[solutions[k, 0]] * length_probability(lengths, solutions[k, 4], length)
    total = weights.sum()
    return weights / total if total > 0.0 else weights


@compiled
def length_given_solution(lengths: Array, reference: int, length: int) -> Array:
    """Return the distribution of the reference's length: known if the played candidate was too short, else cut off."""
    given = np.zeros(len(lengths))
    if reference != NOT_LONGER:
        given[min(reference, len(lengths) - 1)] = 1.0
        return given
    given[: length + 1] = lengths[: length + 1]
    total = given.sum()
    if total > 0.0:
        return given / total
    given[length] = 1.0
    return given
