"""Decoding of smoothed sentence BLEU: all n-gram matches and reference lengths that give exactly one reward.

The logarithm of a reward is the mean log-precision of the orders 1 to 4 plus the brevity penalty 1 - R/H of a
hypothesis of H tokens that is shorter than its reference of R. The matches of a length are few enough to be listed:
matched words form runs, of which there are m1 - m2; m2 - m3 of them have two words or more, and m3 - m4 three or more.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from leaderboard.metrics.bleu import MAX_ORDER, SMOOTHING_OFFSET
from learners.smt.hashing import Array, compiled

MAX_HYPOTHESIS = 40  # tokens: longer outputs have too many sets of matches to tell one from another
MAX_REFERENCE = 60  # tokens
TOLERANCE = 1e-7  # of a log-reward: rewards arrive with twelve decimals
NOT_LONGER = 0  # in place of a reference length: the hypothesis is as long as the reference, or longer


class MatchTable(NamedTuple):
    """All sets of matches of hypotheses of one length, sorted by their mean log-precision."""

    log_precision: Array
    matches: Array  # [set, 4]


@lru_cache(MAX_HYPOTHESIS)
def match_table(length: int) -> MatchTable:
    """Return all sets of matches of a hypothesis of this many tokens, at least one."""
    matches = _list_matches(length)
    orders = min(length, MAX_ORDER)
    totals = length - np.arange(orders)
    precisions = np.where(matches[:, :orders] > 0, matches[:, :orders], SMOOTHING_OFFSET) / totals
    log_precision = np.log(precisions).mean(1)
    order = np.argsort(log_precision, kind="stable")
    return MatchTable(log_precision[order], matches[order])


@compiled
def _list_matches(length: int) -> Array:
    found = []
    for m1 in range(length + 1):
        for m2 in range(max(m1, 1)):
            for m3 in range(max(2 * m2 - m1, 0), max(m2, 1)):
                for m4 in range(max(2 * m3 - m2, 0), max(m3, 1)):
                    found.append((m1, m2, m3, m4))  # noqa: PERF401 (compiled code has no generators)
    return np.array(found)


def decode_reward(reward: float, length: int) -> Array:
    """Return all solutions [solution, 5] for the reward of a hypothesis of ``length`` tokens.

    A solution is m1 to m4, and the length of the reference or ``NOT_LONGER``. There is none for a reward that is not
    exact, and none for an output without tokens or with too many.
    """
    if not 0 < length <= MAX_HYPOTHESIS or reward <= 0:
        return np.empty((0, MAX_ORDER + 1), np.int64)
    return _decode(*match_table(length), np.log(reward), length)


@compiled
def _decode(log_precision: Array, matches: Array, log_reward: float, length: int) -> Array:
    found = []
    for reference in range(length, MAX_REFERENCE + 1):
        wanted = log_reward - (1.0 - reference / length)
        first = np.searchsorted(log_precision, wanted - TOLERANCE)
        for k in range(first, len(log_precision)):
            if log_precision[k] > wanted + TOLERANCE:
                break
            m = matches[k]
            found.append((m[0], m[1], m[2], m[3], reference if reference > length else NOT_LONGER))
    solutions = np.empty((len(found), MAX_ORDER + 1), np.int64)
    for row in range(len(found)):
        for column in range(MAX_ORDER + 1):
            solutions[row, column] = found[row][column]
    return solutions
