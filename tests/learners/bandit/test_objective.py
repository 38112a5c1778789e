"""Expected-loss gradients: the literal numbers of cards B4, B8 and B14, and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.objective import log_linear_gradient, minibatch_gradient, softmax_gradient

FEATURES = np.array([[1.0, 0, 2], [0, 1, 1], [1, 1, 0]])
WEIGHTS = np.array([0.5, 0.2, 0.1])
REWARDS = np.array([0.9, 0.3, 0.5])
SCORES = np.array([2.0, 1.0, 0.0])


def probabilities(weights):
    odds = np.exp(FEATURES @ weights)
    return odds / odds.sum()


EXPECTED = probabilities(WEIGHTS) @ FEATURES


def test_the_example_is_the_card():
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


@pytest.mark.parametrize(
    ("temperature", "gradient"), [(1.0, [0.066524, -0.075527, 0.009003]), (0.5, [0.173363, -0.176538, 0.003175])]
)
def test_a_token_drawn_at_a_temperature(temperature, gradient):
    assert softmax_gradient(0.4 - 0.3, SCORES, 1, temperature) == pytest.approx(gradient, abs=1e-6)


@given(st.floats(0.05, 3), st.integers(0, 2), st.floats(-1, 1))
def test_the_softmax_gradient_is_that_of_finite_differences(temperature, chosen, advantage):
    def loss(scores):
        scaled = (scores - scores.max()) / temperature
        return -advantage * (scaled[chosen] - np.log(np.exp(scaled).sum()))

    gradient = softmax_gradient(advantage, SCORES, chosen, temperature)
    differences = [(loss(SCORES + h) - loss(SCORES - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    assert gradient == pytest.approx(differences, abs=1e-6)


def test_no_advantage_no_change():
    assert softmax_gradient(0.0, SCORES, 1).tolist() == [0, 0, 0]


def test_a_minibatch_takes_the_mean():
    slopes, baseline = [1.0, -2.0, 0.5], 0.4
    gradients = [np.array([-(reward - baseline) * s]) for reward, s in zip([0.2, 0.6, 0.4], slopes, strict=True)]
    assert minibatch_gradient(gradients) == pytest.approx([0.2])
    assert minibatch_gradient(gradients[:1]) == gradients[0]


@pytest.mark.parametrize("variate", [NoControlVariate, RunningMean])
def test_the_one_good_token_is_found(variate):
    scores, baseline, rng = SCORES.copy(), variate(), np.random.default_rng(0)
    for _ in range(200):
        odds = np.exp(scores)
        chosen = int(rng.choice(3, p=odds / odds.sum()))
        advantage = baseline.advantage("s", float(chosen == 2))
        scores -= 0.5 * softmax_gradient(advantage, scores, chosen)
    odds = np.exp(scores)
    assert odds[2] / odds.sum() > 0.99
