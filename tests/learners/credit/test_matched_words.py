"""The posterior of every word, given the number of matches, equals that of all combinations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.credit.matched_words import count_distribution, posterior_given_count

probabilities = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6)


def outcomes(chances):
    """Return all combinations of events with their probabilities."""
    for happened in product((0, 1), repeat=len(chances)):
        yield happened, np.prod([p if one else 1 - p for p, one in zip(chances, happened, strict=True)])


@given(probabilities)
@settings(deadline=None)
def test_the_number_of_matches_is_distributed_as_over_all_combinations(chances):
    expected = np.zeros(len(chances) + 1)
    for happened, probability in outcomes(chances):
        expected[sum(happened)] += probability
    assert count_distribution(np.array(chances)) == pytest.approx(expected)


@given(probabilities, st.integers(0, 6))
@settings(deadline=None)
def test_the_posterior_is_that_of_all_combinations_with_this_number(chances, count):
    posterior = posterior_given_count(np.array(chances), count)
    if count > len(chances):
        assert posterior.tolist() == chances  # it cannot be: nothing is learned
        return
    chosen = [(happened, probability) for happened, probability in outcomes(chances) if sum(happened) == count]
    total = sum(probability for _, probability in chosen)
    expected = sum(np.array(happened) * probability for happened, probability in chosen) / total
    assert posterior == pytest.approx(expected)
    assert posterior.sum() == pytest.approx(count)


def test_no_events_have_no_posterior():
    assert posterior_given_count(np.empty(0), 0).tolist() == []
