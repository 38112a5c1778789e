"""The posterior of every word, given the matches of all orders, equals that of all combinations."""

from itertools import product

import numpy as np
import pytest

from learners.credit import matched_runs
from learners.credit.matched_runs import posterior_given_matches


def count_matches(right, joined):
    """Return m1 to m4 of words that are right, some of which are joined to the ones before."""
    runs, run = [0, 0, 0, 0], 0
    for is_right, is_joined in zip(right, joined, strict=True):
        run = (run if is_joined else 0) + 1 if is_right else 0
        for order in range(min(run, 4)):
            runs[order] += 1
    return tuple(runs)


def enumerate_posteriors(words, adjacent):
    """Return, by matches, their probability, and the mass of right words, of right pairs and of joined pairs."""
    n = len(words)
    found: dict[tuple[int, ...], np.ndarray] = {}
    for right, broken in product(product((0, 1), repeat=n), product((0, 1), repeat=n)):
        both = [int(k > 0 and right[k] and right[k - 1]) for k in range(n)]
        if any(not pair and is_broken for pair, is_broken in zip(both, broken, strict=True)):
            continue
        joined = [pair - is_broken for pair, is_broken in zip(both, broken, strict=True)]
        mass = np.prod([p if is_right else 1 - p for p, is_right in zip(words, right, strict=True)])
        mass *= np.prod(
            [a if is_joined else 1 - a for a, is_joined, pair in zip(adjacent, joined, both, strict=True) if pair]
        )
        sums = found.setdefault(count_matches(right, joined), np.zeros((4, n)))
        sums += mass * np.array([np.ones(n), right, both, joined])
    return found


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_posterior_equals_enumeration(n):
    rng = np.random.default_rng(n)
    words, adjacent = rng.uniform(0.1, 0.9, (2, n))
    found = enumerate_posteriors(words, adjacent)
    assert len(found) > n
    for matches, (mass, right, both, joined) in found.items():
        posterior = posterior_given_matches(words, adjacent, np.array(matches))
        assert posterior.probability == pytest.approx(mass[0])
        assert posterior.words == pytest.approx(right / mass)
        seen = both > 0
        assert posterior.adjacent[seen] == pytest.approx((joined / np.where(seen, both, 1))[seen])
        assert posterior.adjacent[~seen].tolist() == adjacent[~seen].tolist()


def test_higher_orders_tell_where_the_wrong_word_is():
    even, certain = np.full(5, 0.5), np.ones(5)
    assert posterior_given_matches(even, certain, np.array([4, 2, 0, 0])).words.tolist() == [1, 1, 0, 1, 1]
    assert posterior_given_matches(even, certain, np.array([4, 3, 2, 1])).words.tolist() == [0.5, 1, 1, 1, 0.5]


def test_matches_that_cannot_be_change_nothing():
    words, adjacent = np.array([0.3, 0.6]), np.array([0.5, 0.5])
    posterior = posterior_given_matches(words, adjacent, np.array([1, 1, 0, 0]))
    assert posterior.probability == 0.0
    assert posterior.words.tolist() == [0.3, 0.6]


def test_long_translations_are_decoded_with_the_matches_of_low_orders():
    n = 40
    rng = np.random.default_rng(0)
    posterior = posterior_given_matches(rng.uniform(0.1, 0.9, n), rng.uniform(0.1, 0.9, n), np.array([25, 15, 9, 5]))
    assert n * 26 * 16 * matched_runs.RUNS > matched_runs.MAX_CHAIN  # so that only the number of right words is used
    assert posterior.words.sum() == pytest.approx(25)
