"""What a list says of its words is corrected by decoded rewards."""

import numpy as np
import pytest

from learners.smt.candidate_words import index_candidates
from learners.smt.imputation import prior_beliefs
from learners.smt.list_critic import ListCritic

WORDS = index_candidates(["a red cord", "a red rope", "the red rope"])
OF_LIST = prior_beliefs(WORDS, np.array([0.5, 0.3, 0.2]))


def taught(rounds, posterior):
    critic = ListCritic(1.0)
    for _ in range(rounds):
        critic.learn(WORDS, 0, OF_LIST, critic.correct(WORDS, OF_LIST), np.array(posterior))
    return critic


def test_at_first_the_list_is_trusted():
    corrected = ListCritic(1.0).correct(WORDS, OF_LIST)
    assert corrected.words == pytest.approx(OF_LIST.words)
    assert corrected.bigrams is OF_LIST.bigrams


def test_a_first_step_follows_the_gradient_of_the_log_likelihood():
    critic, posterior = ListCritic(1.0), np.array([0.9, 0.98, 0.1])
    own = OF_LIST.words[:3]
    critic.learn(WORDS, 0, OF_LIST, critic.correct(WORDS, OF_LIST), posterior)
    errors = posterior - own
    slope = errors @ np.log(own / (1 - own))
    expected = np.array([0.0, 1.0]) + 0.1 * np.array([errors.sum(), slope]) / np.sqrt(
        1 + np.array([errors.sum(), slope]) ** 2
    )
    state = critic.save().arrays
    assert state["list"] == pytest.approx(expected)
    assert sorted(state["words"]) == pytest.approx(sorted((errors / np.sqrt(1 + errors**2))[[0, 2]]))


def test_a_word_that_is_often_wrong_becomes_improbable_in_other_lists():
    critic = taught(30, [0.8, 0.98, 0.02])
    other = index_candidates(["blue cord", "blue rope"])
    even = prior_beliefs(other, np.array([0.5, 0.5]))
    corrected = critic.correct(other, even).words
    assert corrected[1] < 0.2 < corrected[2]  # cord, and rope


def test_it_is_resumed_exactly():
    critic, resumed = taught(5, [0.8, 0.9, 0.1]), ListCritic(1.0)
    resumed.load(critic.save())
    for one in (critic, resumed):
        one.learn(WORDS, 1, OF_LIST, one.correct(WORDS, OF_LIST), np.array([0.5, 0.5, 0.9]))
    assert resumed.correct(WORDS, OF_LIST).words.tolist() == critic.correct(WORDS, OF_LIST).words.tolist()
