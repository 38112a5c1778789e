"""Expected-loss gradients of log-linear models: worked examples and finite differences."""

import numpy as np
import pytest
import torch

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.objective import log_linear_gradient
from learners.bandit.optimiser import Method, Optimiser, OptimiserConfig

FEATURES = np.array([[1.0, 0, 2], [0, 1, 1], [1, 1, 0]])
WEIGHTS = np.array([0.5, 0.2, 0.1])
REWARDS = np.array([0.9, 0.3, 0.5])


def probabilities(weights):
    odds = np.exp(FEATURES @ weights)
    return odds / odds.sum()


EXPECTED = probabilities(WEIGHTS) @ FEATURES


def test_probabilities_and_expectations_of_the_example():
    assert probabilities(WEIGHTS) == pytest.approx([0.374487, 0.251026, 0.374487], abs=1e-6)
    assert pytest.approx([0.748974, 0.625513, 1.0], abs=1e-6) == EXPECTED


def test_without_a_baseline_the_loss_is_one_minus_the_reward():
    gradient = log_linear_gradient(-(1 - 0.3), FEATURES[1], EXPECTED)
    assert gradient == pytest.approx([-0.524282, 0.262141, 0], abs=1e-6)
    assert WEIGHTS - 0.1 * gradient == pytest.approx([0.552428, 0.173786, 0.1], abs=1e-6)


def test_with_a_baseline():
    gradient = log_linear_gradient(0.3 - 0.5, FEATURES[1], EXPECTED)
    assert gradient == pytest.approx([-0.149795, 0.074897, 0], abs=1e-6)
    assert WEIGHTS - 0.1 * gradient == pytest.approx([0.514979, 0.192510, 0.1], abs=1e-6)


@pytest.mark.parametrize("baseline", [0.0, 0.5, 0.7])
def test_in_expectation_it_is_the_gradient_of_the_expected_loss(baseline):
    exact = sum(
        p * log_linear_gradient(reward - baseline, features, EXPECTED)
        for p, reward, features in zip(probabilities(WEIGHTS), REWARDS, FEATURES, strict=True)
    )
    assert exact == pytest.approx([-0.075205, 0.112500, -0.149795], abs=1e-6)
    step = 1e-6 * np.eye(3)
    differences = [(probabilities(WEIGHTS + h) - probabilities(WEIGHTS - h)) @ (1 - REWARDS) / 2e-6 for h in step]
    assert exact == pytest.approx(differences, abs=1e-8)


def test_an_advantage_of_0_has_no_gradient():
    assert log_linear_gradient(0.0, FEATURES[1], EXPECTED).tolist() == [0, 0, 0]


def softmax(logits):
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def learned(control_variate, seed):
    """Return the probability of the third of three tokens after 200 rounds that rewarded only this one."""
    logits, rng = np.array([2.0, 1.0, 0.0]), np.random.default_rng(seed)
    shared = torch.from_numpy(logits)
    optimiser = Optimiser([shared], OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None))
    assert softmax(logits)[2] == pytest.approx(0.090031, abs=1e-6)
    for _ in range(200):
        token = rng.choice(3, p=softmax(logits))
        advantage = control_variate.advantage("s", float(token == 2))
        shared.grad = torch.from_numpy(log_linear_gradient(advantage, np.eye(3)[token], softmax(logits)))
        optimiser.step()
    return softmax(logits)[2]


def test_a_policy_of_one_token_finds_the_rewarded_token():
    assert min(learned(NoControlVariate(), seed) for seed in range(20)) > 0.99


def test_with_a_control_variate_too_but_less_reliably():
    """The baseline is soon near 1. Then successes teach little, and the result depends on a few failures."""
    found = [learned(RunningMean(), seed) for seed in range(20)]
    assert np.median(found) > 0.99
    assert min(found) > 0.98
