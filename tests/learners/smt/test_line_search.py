"""The exact line search: nothing between two breakpoints, and nothing missed."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu, statistics
from learners.smt.line_search import MAX_STEP, CandidatePool, bleu, line_search, packed

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=7).map(" ".join)
texts = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=4)


def pool_of(sentences, features):
    counts = packed([statistics(text, "a b c a b") for sentence in sentences for text in sentence])
    return CandidatePool(np.array(features), counts, np.cumsum([0, *map(len, sentences)]))


def everywhere(pool, weights, direction):
    """BLEU between any two places where any two candidates of one sentence could change places."""
    intercepts, slopes = pool.features @ weights, pool.features @ direction
    meetings = {-MAX_STEP, MAX_STEP}
    for start, end in pairwise(pool.bounds):
        for one, other in combinations(range(start, end), 2):
            meetings.add((intercepts[one] - intercepts[other]) / (slopes[other] - slopes[one]))
    near = sorted(place for place in meetings if abs(place) <= MAX_STEP)
    steps = [(left + right) / 2 for left, right in pairwise(near) if right - left > 1e-9]
    return max(pool.bleu(weights + step * direction) for step in steps)


@given(texts, st.integers(0, 10_000))
def test_no_step_is_better_and_the_step_is_as_good_as_it_says(sentences, seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(sentences, rng.normal(size=(sum(map(len, sentences)), 3)))
    weights, direction = rng.normal(size=(2, 3))
    found = line_search(pool, weights, direction)
    assert found.bleu == pytest.approx(everywhere(pool, weights, direction))
    assert pool.bleu(weights + found.step * direction) == pytest.approx(found.bleu)


def test_two_lines_that_cross_at_one():
    pool = pool_of([["c c", "a b c a b"]], [[1.0, 0], [0, 1]])
    found = line_search(pool, np.array([1.0, 0]), np.array([0.0, 1]))
    assert found.bleu == pytest.approx(100)
    assert found.step == pytest.approx(1.1)  # past the bend


def test_among_lines_of_one_slope_the_highest_counts():
    pool = pool_of([["a b c a b", "c c", "c"]], [[1.0, 1], [3, 1], [2, 0]])
    assert line_search(pool, np.array([1.0, 0]), np.array([0.0, 1])).bleu < 50


@pytest.mark.parametrize("rounding", [1e-15, 1e-9])
def test_candidates_that_differ_by_rounding_do_not_lead_far_away(rounding):
    pool = pool_of([["c c", "a b c a b", "a b c a b b"]], [[1.0, 0], [0, 1], [-0.5, 1 + rounding]])
    found = line_search(pool, np.array([1.0, 0]), np.array([0.0, 1]))
    assert found.step == pytest.approx(1.1)


def test_where_nothing_changes_there_is_no_step():
    pool = pool_of([["a b c a b"]], [[1.0, 0]])
    assert line_search(pool, np.array([1.0, 0]), np.array([0.0, 1])).step == 0.0


counts = st.tuples(*[st.integers(0, 5)] * 4)


@given(st.lists(st.tuples(counts, counts, st.integers(0, 9)), min_size=1, max_size=5))
def test_many_corpora_are_scored_as_one_by_one(rows):
    corpora = [BleuStatistics(tuple(map(min, matches, totals)), totals, length) for matches, totals, length in rows]
    assert bleu(packed(corpora)) == pytest.approx([corpus_bleu(corpus) for corpus in corpora])
