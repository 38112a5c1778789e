"""An exact reward is decoded into all matches and reference lengths that give it, and no others."""

import math
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.metrics.bleu import BleuStatistics, count_ngram_matches, sentence_bleu, sentence_score
from learners.credit.bleu_decoding import MAX_REFERENCE, NOT_LONGER, decode_reward

texts = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9).map(" ".join)


def all_solutions(reward, length):
    """Return the solutions by trying all matches and all reference lengths."""
    found = set()
    totals = tuple(max(length - order, 0) for order in range(4))
    counts = range(length + 1)
    for matches in product(counts, counts, counts, counts):
        runs = [shorter - longer for shorter, longer in pairwise(matches)]  # of matches, by their minimum length
        if any(shorter and not number for shorter, number in zip(matches, runs, strict=False)):
            continue  # the last word of a run begins no longer n-gram
        if runs != sorted(runs, reverse=True) or min(runs) < 0:
            continue
        for reference in range(length, MAX_REFERENCE + 1):
            score = sentence_score(BleuStatistics(matches, totals, reference))
            if abs(math.log(score) - math.log(reward)) < 1e-9:
                found.add((*matches, reference if reference > length else NOT_LONGER))
    return found


@given(texts, texts)
@settings(max_examples=25, deadline=None)
def test_decoding_finds_what_enumeration_finds(hypothesis, reference):
    reward, length = sentence_bleu(hypothesis, reference), len(hypothesis.split())
    found = [tuple(row) for row in decode_reward(reward, length).tolist()]
    assert len(found) == len(set(found))
    assert set(found) == all_solutions(reward, length)


@given(st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=12, unique=True), st.randoms())
@settings(deadline=None)
def test_the_truth_is_among_the_solutions(words, random):
    reference = " ".join(words)
    hypothesis = " ".join(random.sample([*words, "x", "y", "z"], random.randint(1, len(words) + 2)))
    counts = count_ngram_matches(hypothesis, reference)
    length = counts.reference_length if counts.reference_length > counts.hypothesis_length else NOT_LONGER
    solutions = decode_reward(sentence_score(counts), counts.hypothesis_length).tolist()
    assert [*counts.matches, length] in solutions


def test_a_perfect_translation_matched_everything():
    assert decode_reward(1.0, 5).tolist() == [[5, 4, 3, 2, NOT_LONGER]]


def test_an_output_that_is_too_short_tells_the_length_of_the_reference():
    assert decode_reward(sentence_bleu("a b c d", "a b c d e f"), 4).tolist() == [[4, 3, 2, 1, 6]]


@pytest.mark.parametrize("reward", [0.0, 0.2, 0.4, 0.123456, 0.5])
def test_rewards_that_are_not_exact_have_no_solution(reward):
    assert decode_reward(reward, 7).tolist() == []


def test_outputs_without_tokens_or_with_too_many_are_not_decoded():
    assert decode_reward(1.0, 0).tolist() == []
    assert decode_reward(1.0, 41).tolist() == []
