"""Policies: probabilities of logged translations, expected rewards, and the gradients of both."""

import math
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from learners.offline.logged_round import LoggedRound
from learners.offline.policies import LogLinearPolicy, NeuralPolicy, PolicyConfig
from learners.offline.reward_model import RewardModel
from tests.learners.nmt.toys import finite_differences, three_token_translator, tiny_translator
from tests.learners.smt.list_translator import CANDIDATES, ListTranslator

P = (0.665241, 0.244728, 0.090031)  # of the end symbol, an unknown and "a"
LISTED = [LoggedRound("s", one.translation, 0.5) for one in CANDIDATES]
LISTED_P = (0.374487, 0.251026, 0.374487)


def rng():
    return np.random.default_rng(1)


def word_count_model():
    """Return a reward model that predicts a tenth of the number of words."""

    def predict(_source, translations):
        return torch.tensor([len(text.split()) / 10 for text in translations], dtype=torch.float64)

    return Mock(RewardModel, predict=predict)


def neural(**options):
    return NeuralPolicy(three_token_translator(), PolicyConfig(**options))


def prepared(policy, *translations):
    return [policy.prepare(LoggedRound("x", text, 0.5)) for text in translations]


def test_a_network_gives_a_text_the_probability_of_its_tokens_and_of_its_end():
    policy = neural()
    found = policy.log_probabilities(prepared(policy, "a", "a a"))
    assert found.exp().tolist() == pytest.approx([P[2] * P[0], P[2] ** 2 * P[0]], abs=1e-6)


def test_length_normalisation_takes_the_geometric_mean():
    policy = neural(length_normalised=True)
    found = policy.log_probabilities(prepared(policy, "a a"))
    assert found.exp().tolist() == pytest.approx([(P[2] ** 2 * P[0]) ** (1 / 3)], abs=1e-6)


def test_a_network_is_sampled_at_its_temperature():
    policy = neural(temperature=0.5)
    found = policy.log_probabilities(prepared(policy, "a"))
    assert found.exp().tolist() == pytest.approx([0.015876 * 0.866813], abs=1e-6)


def test_the_expected_reward_of_a_network_is_the_mean_over_its_samples():
    policy = neural(samples=2_000)
    (found,) = policy.expected_rewards(prepared(policy, "a"), word_count_model(), rng()).tolist()
    # The number of tokens before the end is geometric; an empty sample gets the greedy text, which has one word here.
    empty, more = P[0], (1 - P[0]) / P[0]
    assert found == pytest.approx((more + empty) / 10, abs=0.006)


def test_the_gradient_of_expected_rewards_is_that_of_the_expectation():
    policy = neural(samples=2_000)
    policy.expected_rewards(prepared(policy, "a"), word_count_model(), rng()).sum().backward()
    found = policy.translator.model.output_bias.grad[2:].tolist()
    end, unknown, a = P
    # d/do of E[tokens before the end] = (1 - e) / e, plus the greedy word of empty samples, e: together -1 / e^2 + 1.
    slope = (1 - 1 / end**2) / 10
    expected = [slope * end * (1 - end), -slope * end * unknown, -slope * end * a]
    assert found == pytest.approx(expected, abs=0.008)


def test_the_gradient_of_a_network_equals_finite_differences():
    translator = tiny_translator(dtype=torch.float64)
    policy = NeuralPolicy(translator, PolicyConfig(length_normalised=True, temperature=0.7))
    rounds = [policy.prepare(LoggedRound("rot hemd", text, 0.5)) for text in ("red shirt", "blue skirt with pocket")]

    def total():
        return float(policy.log_probabilities(rounds).exp().sum().detach())

    policy.zero_gradient()
    policy.log_probabilities(rounds).exp().sum().backward()
    indices, slopes = finite_differences(total, translator.vector.data, 12)
    assert [translator.parameters.gradient[index].item() for index in indices] == pytest.approx(slopes, abs=1e-7)


def log_linear(**options):
    return LogLinearPolicy(ListTranslator(), PolicyConfig(**{"weight_scale": 1.0, **options}))


def test_a_log_linear_model_is_a_softmax_over_its_candidates():
    policy = log_linear()
    found = policy.log_probabilities([policy.prepare(each) for each in LISTED])
    assert found.exp().tolist() == pytest.approx(LISTED_P, abs=1e-6)
    colder = log_linear(temperature=0.5)
    assert colder.log_probabilities([colder.prepare(LISTED[1])]).exp().tolist() == pytest.approx(
        [math.exp(0.6) / (2 * math.exp(1.4) + math.exp(0.6))]
    )


def test_the_scale_of_the_weights_sharpens_a_log_linear_model():
    policy = log_linear(weight_scale=10.0)
    found = policy.log_probabilities([policy.prepare(LISTED[1])])
    assert found.exp().tolist() == pytest.approx([math.exp(3) / (2 * math.exp(7) + math.exp(3))])
    assert policy.vector.tolist() == pytest.approx([5.0, 2.0, 1.0])


def test_the_gradient_of_a_log_linear_model_is_features_minus_expected_features():
    policy = log_linear()
    policy.log_probabilities([policy.prepare(LISTED[1])]).sum().backward()
    assert policy.vector.grad.tolist() == pytest.approx([-0.748974, 1 - 0.625513, 0.0], abs=1e-6)


def test_the_expected_reward_of_a_log_linear_model_is_exact():
    policy = log_linear()
    found = policy.expected_rewards([policy.prepare(LISTED[0])], word_count_model(), rng())
    assert found.tolist() == pytest.approx([0.1 * (3 * LISTED_P[0] + 2 * LISTED_P[1] + 2 * LISTED_P[2])], abs=1e-6)
    found.sum().backward()

    def value():
        return float(policy.expected_rewards([policy.prepare(LISTED[0])], word_count_model(), rng()).sum().detach())

    indices, slopes = finite_differences(value, policy.vector.data, 3)
    assert [policy.vector.grad[index].item() for index in indices] == pytest.approx(slopes, abs=1e-8)


def test_a_logged_translation_that_is_no_candidate_cannot_be_learned_from():
    assert log_linear().prepare(LoggedRound("s", "c c c", 0.5)) is None
    assert log_linear(candidates=1).prepare(LISTED[1]) is None
