"""LinUCB: bounds by the closed form, and choices that depend on the features of a round."""

import numpy as np
import pytest

from learners.bandit.linear_ucb import LinearUcb

FEATURES = np.array([[1.0, 2], [1, 3], [1, 5]])
REWARDS = (0.1, 0.2, 0.4)
NEW = np.array([1.0, 4])


def observed(exploration):
    choice = LinearUcb(2, 2, exploration=exploration, penalty=0.1)
    for features, reward in zip(FEATURES, REWARDS, strict=True):
        choice.observe(0, features, reward)
    return choice


def test_the_bound_is_the_prediction_plus_its_uncertainty():
    deviation = np.sqrt(NEW @ np.linalg.inv(FEATURES.T @ FEATURES + 0.1 * np.eye(2)) @ NEW)
    never_played = np.sqrt(17 / 0.1)
    assert observed(0.5).bounds(NEW) == pytest.approx([0.297626 + 0.5 * deviation, 0.5 * never_played], abs=1e-6)
    assert observed(0.0).bounds(NEW) == pytest.approx([0.297626, 0.0], abs=1e-6)


def test_an_arm_that_was_never_played_is_tried_unless_nothing_is_explored():
    assert observed(0.5).choose(NEW) == 1
    assert observed(0.0).choose(NEW) == 0


def test_each_arm_is_played_where_it_earns_more():
    choice, rng = LinearUcb(2, 2, exploration=0.5, penalty=1.0), np.random.default_rng(0)
    right = []
    for _ in range(600):
        is_long = rng.random() < 0.5
        features = np.array([1.0, float(is_long)])
        arm = choice.choose(features)
        right.append(arm == is_long)
        choice.observe(arm, features, (0.4 if arm == is_long else 0.2) + rng.uniform(-0.2, 0.2))
    assert np.mean(right[-200:]) > 0.9


def test_a_loaded_bandit_continues_exactly():
    first, second = observed(0.5), LinearUcb(2, 2, exploration=0.5, penalty=0.1)
    second.load(first.save())
    for choice in (first, second):
        choice.observe(1, NEW, 0.9)
    assert first.bounds(NEW) == second.bounds(NEW)
