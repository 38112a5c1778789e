"""The exact line search agrees with trying every interval between breakpoints."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu, count_ngram_matches
from learners.smt.line_search import MAX_STEP, CandidatePool, corpus_bleu_of_rows, line_search, statistics_rows

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=7).map(" ".join)
texts = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=4)


def pool_of(sentences, features):
    rows = statistics_rows([count_ngram_matches(text, "a b c a b") for sentence in sentences for text in sentence])
    return CandidatePool(np.array(features), rows, np.cumsum([0, *map(len, sentences)]))


def best_bleu_of_all_intervals(pool, weights, direction):
    """Return the best BLEU over all intervals between points where two candidates of a sentence have equal scores."""
    intercepts, slopes = pool.features @ weights, pool.features @ direction
    crossings = {-MAX_STEP, MAX_STEP}
    for start, end in pairwise(pool.starts):
        for one, other in combinations(range(start, end), 2):
            crossings.add((intercepts[one] - intercepts[other]) / (slopes[other] - slopes[one]))
    near = sorted(crossing for crossing in crossings if abs(crossing) <= MAX_STEP)
    steps = [(left + right) / 2 for left, right in pairwise(near) if right - left > 1e-9]
    return max(pool.bleu(weights + step * direction) for step in steps)


@given(texts, st.integers(0, 10_000))
def test_step_reaches_the_best_bleu_and_the_reported_one(sentences, seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(sentences, rng.normal(size=(sum(map(len, sentences)), 3)))
    weights, direction = rng.normal(size=(2, 3))
    found = line_search(pool, weights, direction)
    assert found.bleu == pytest.approx(best_bleu_of_all_intervals(pool, weights, direction))
    assert pool.bleu(weights + found.step * direction) == pytest.approx(found.bleu)


def test_two_lines_that_cross_at_step_one():
    pool = pool_of([["c c", "a b c a b"]], [[1.0, 0], [0, 1]])
    found = line_search(pool, np.array([1.0, 0]), np.array([0.0, 1]))
    assert found.bleu == pytest.approx(100)
    assert found.step == pytest.approx(1.1)  # MAX_OVERSHOOT past the breakpoint


def test_the_highest_of_parallel_lines_is_on_the_envelope():
    pool = pool_of([["a b c a b", "c c", "c"]], [[1.0, 1], [3, 1], [2, 0]])
    assert line_search(pool, np.array([1.0, 0]), np.array([0.0, 1])).bleu < 50


@pytest.mark.parametrize("rounding", [1e-15, 1e-9])
def test_candidates_that_differ_by_rounding_do_not_cause_a_huge_step(rounding):
    pool = pool_of([["c c", "a b c a b", "a b c a b b"]], [[1.0, 0], [0, 1], [-0.5, 1 + rounding]])
    found = line_search(pool, np.array([1.0, 0]), np.array([0.0, 1]))
    assert found.step == pytest.approx(1.1)


def test_one_candidate_gives_step_zero():
    pool = pool_of([["a b c a b"]], [[1.0, 0]])
    assert line_search(pool, np.array([1.0, 0]), np.array([0.0, 1])).step == 0.0


counts = st.tuples(*[st.integers(0, 5)] * 4)


@given(st.lists(st.tuples(counts, counts, st.integers(0, 9)), min_size=1, max_size=5))
def test_bleu_of_rows_equals_bleu_of_each_corpus(rows):
    corpora = [BleuStatistics(tuple(map(min, matches, totals)), totals, length) for matches, totals, length in rows]
    assert corpus_bleu_of_rows(statistics_rows(corpora)) == pytest.approx([corpus_bleu(corpus) for corpus in corpora])
