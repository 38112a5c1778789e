"""Online ridge regression: a worked example, and the closed form after every round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.bandit.ridge import OnlineRidge

FEATURES = np.array([[1.0, 2], [1, 3], [1, 5]])
REWARDS = np.array([0.1, 0.2, 0.4])


def fitted(features, rewards, penalty, prior=None):
    model = OnlineRidge(np.zeros(features.shape[1]) if prior is None else prior, penalty)
    for row, reward in zip(features, rewards, strict=True):
        model.observe(row, reward)
    return model


def test_an_example():
    model = fitted(FEATURES, REWARDS, 0.1)
    assert model.weights == pytest.approx([-0.073440, 0.092766], abs=1e-6)
    assert model.weights @ [1, 4] == pytest.approx(0.297626, abs=1e-6)


@given(st.integers(0, 1000), st.integers(1, 6), st.floats(0.01, 10))
def test_the_recursive_form_is_the_closed_form(seed, rounds, penalty):
    rng = np.random.default_rng(seed)
    features, rewards, prior = rng.normal(size=(rounds, 3)), rng.random(rounds), rng.normal(size=3)
    closed = np.linalg.solve(features.T @ features + penalty * np.eye(3), features.T @ rewards + penalty * prior)
    assert fitted(features, rewards, penalty, prior).weights == pytest.approx(closed, abs=1e-8)


def test_without_observations_the_weights_are_the_prior():
    assert OnlineRidge(np.array([0.5, -1]), 2.0).weights.tolist() == [0.5, -1]


def test_a_loaded_regression_continues_exactly():
    first, second = fitted(FEATURES, REWARDS, 0.1), OnlineRidge(np.zeros(2), 0.1)
    second.load(first.save())
    for model in (first, second):
        model.observe(np.array([1.0, 7]), 0.9)
    assert first.weights.tolist() == second.weights.tolist()


def test_the_penalty_must_be_positive():
    with pytest.raises(ValueError, match="penalty of ridge regression must be positive"):
        OnlineRidge(np.zeros(2), 0.0)
