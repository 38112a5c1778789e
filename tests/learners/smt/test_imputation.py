"""Imputed rewards: what one reward says of the candidates that were not played."""

import numpy as np
import pytest

from leaderboard.metrics.bleu import sentence_bleu
from learners.credit.bleu_decoding import decode_reward
from learners.credit.reference_lengths import ReferenceLengths
from learners.smt.candidate_words import feature_scores, index_candidates
from learners.smt.imputation import Beliefs, expected_bleu, impute_rewards, prior_beliefs, updated_beliefs
from learners.smt.reranking_learners import impute_step, softmax

TEXTS = ["a red cord", "a red rope", "the red rope", "a red red rope"]
UNIFORM = np.full(4, 0.25)


def known_length(length):
    return np.eye(61)[length]


def impute(texts, played, reference, probabilities=None):
    """Return the imputed rewards of texts after one of them was scored against a reference."""
    reward = sentence_bleu(texts[played], reference)
    chances = np.full(len(texts), 1 / len(texts)) if probabilities is None else np.array(probabilities)
    solutions = decode_reward(reward, len(texts[played].split()))
    words = index_candidates(texts)
    lengths = known_length(len(reference.split()))
    return impute_rewards(words, played, prior_beliefs(words, chances), solutions, lengths, reward).rewards


def test_words_are_numbered_with_their_occurrence():
    words = index_candidates(TEXTS)
    assert words.starts.tolist() == [0, 3, 6, 9, 13]
    assert words.words.tolist() == [0, 1, 2, 0, 1, 3, 4, 1, 3, 0, 1, 5, 3]  # the second red is another word
    assert words.word_count == 6
    assert words.tokens[5] == words.tokens[1]  # but has the same text
    assert index_candidates([""]).starts.tolist() == [0, 0]


def test_features_are_bigrams_with_boundaries_and_do_not_depend_on_the_list():
    alone, among = index_candidates(["red rope"]), index_candidates(["a cord", "red rope"])
    assert among.features[3:].tolist() == alone.features.tolist()  # after the three of the first candidate
    weights = np.zeros(1 << 10)
    weights[alone.features[1] & 1023] = 2.0  # red rope
    assert feature_scores(index_candidates(TEXTS), weights).tolist() == [0.0, 2.0, 2.0, 2.0]


def test_a_word_is_as_probable_as_the_candidates_that_have_it():
    beliefs = prior_beliefs(index_candidates(TEXTS), UNIFORM)
    assert beliefs.words == pytest.approx([0.75, 0.98, 0.25, 0.75, 0.25, 0.25])  # no word is certain


def test_expected_bleu_of_certain_words_is_bleu():
    words = index_candidates(["a red rope and cord"])
    certain = Beliefs(np.ones(5), np.ones(5))
    assert expected_bleu(words, 0, certain, known_length(5)) == pytest.approx(1.0)
    assert expected_bleu(words, 0, certain, known_length(6)) == pytest.approx(np.exp(-0.2))
    wrong_first = Beliefs(np.array([0.0, 1, 1, 1, 1]), np.ones(5))
    expected = sentence_bleu("a red rope and cord", "x red rope and cord")
    assert expected_bleu(words, 0, wrong_first, known_length(5)) == pytest.approx(expected)


def test_observed_matches_change_the_beliefs_in_the_played_words_to_their_posterior():
    words = index_candidates(TEXTS)
    after, _ = updated_beliefs(words, 0, prior_beliefs(words, UNIFORM), np.array([3, 2, 1, 0]))
    assert after.words[[0, 1, 2]] == pytest.approx([1.0, 1.0, 1.0])
    after, _ = updated_beliefs(words, 0, prior_beliefs(words, UNIFORM), np.array([2, 1, 0, 0]))
    assert after.words[[0, 1, 2]].sum() == pytest.approx(2.0)
    assert after.words[2] < 0.25 < after.words[0]  # cord is the word that is most probably wrong
    assert after.words[3] > 0.75  # and rope stands in its place


def test_a_wrong_word_makes_the_candidate_without_it_the_best():
    estimates = impute(TEXTS, 0, "a red rope")
    assert estimates.argmax() == 1
    assert estimates[0] == sentence_bleu(TEXTS[0], "a red rope")


def test_a_perfect_reward_leaves_no_other_candidate_as_good():
    estimates = impute(TEXTS, 1, "a red rope")
    assert estimates[1] == 1.0
    assert all(estimates[[0, 2, 3]] < 0.9)


def test_rewards_without_a_possible_solution_impute_nothing():
    words = index_candidates(TEXTS)
    beliefs = prior_beliefs(words, UNIFORM)
    imputed = impute_rewards(words, 0, beliefs, decode_reward(1.0, 3), known_length(50), 1.0)
    assert len(imputed.rewards) == 0


def cross_entropy(words, weights, model_scores, wanted):
    return -wanted @ np.log(softmax(model_scores + feature_scores(words, weights)))


def test_a_step_follows_the_gradient_of_the_cross_entropy():
    rng = np.random.default_rng(0)
    words, weights = index_candidates(TEXTS), rng.normal(size=64)
    model_scores, wanted = rng.normal(size=4), softmax(rng.normal(size=4))
    gradient = np.array(
        [
            (
                cross_entropy(words, weights + step, model_scores, wanted)
                - cross_entropy(words, weights - step, model_scores, wanted)
            )
            / 2e-6
            for step in np.eye(64) * 1e-6
        ]
    )
    before = weights.copy()
    probabilities = softmax(model_scores + feature_scores(words, weights))
    impute_step(words, probabilities, wanted, weights, np.full(64, 1e12), 1e6)  # constant squares: a plain step
    assert weights - before == pytest.approx(-gradient, abs=1e-5)


def test_lengths_are_learned_relative_to_the_seed_model():
    lengths = ReferenceLengths()
    assert lengths.distribution(6).sum() == pytest.approx(1.0)
    assert lengths.distribution(6)[1:13] == pytest.approx(np.full(12, 1 / 12))
    for _ in range(100):
        lengths.observe(6, known_length(7))
    assert lengths.distribution(6).argmax() == 7
    assert lengths.distribution(7)[8] == pytest.approx(1 / 12)  # other lengths have their own row
    assert lengths.distribution(1)[1] == pytest.approx(6 / 12)  # no reference is empty
