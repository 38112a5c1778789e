"""Thompson sampling: a posterior worked out by hand, and how often the worse arm is played."""

import numpy as np
import pytest

from learners.bandit.thompson import ThompsonSampling


def test_the_posterior_of_a_normal_mean_with_unknown_variance():
    choice = ThompsonSampling(2)
    for reward in (0.2, 0.4):
        choice.observe(0, reward)
    means, rounds, shapes, scales = choice.posterior()
    assert means == pytest.approx([1.1 / 3, 0.5])
    assert rounds.tolist() == [3, 1]
    assert shapes.tolist() == [2, 1]
    assert scales == pytest.approx([0.125 + 0.01 + 0.04 / 3, 0.125])  # prior, deviations, distance from the prior mean


def pulls(choice, rounds, spread, rng):
    chosen = []
    for _ in range(rounds):
        chosen.append(choice.choose(rng))
        choice.observe(chosen[-1], (0.2, 0.25)[chosen[-1]] + rng.uniform(-spread, spread))
    return chosen


def test_the_worse_arm_is_played_less_and_less():
    chosen = pulls(ThompsonSampling(2), 4_000, 0.2, np.random.default_rng(3))
    shares = [np.mean(chosen[start : start + 1_000]) for start in (0, 3_000)]
    assert 0.5 < shares[0] < shares[1]
    assert shares[1] > 0.98


def test_rewards_that_vary_less_are_told_apart_sooner():
    wrong = [
        sum(arm == 0 for arm in pulls(ThompsonSampling(2), 1_000, spread, np.random.default_rng(3)))
        for spread in (0.01, 0.5)
    ]
    assert wrong[0] < wrong[1] / 3


def test_with_a_discount_an_arm_that_became_better_is_found():
    choice, rng = ThompsonSampling(2, discount=0.99), np.random.default_rng(0)
    for _ in range(300):
        choice.observe(0, 0.1)
        choice.observe(1, 0.4)
    for _ in range(300):
        arm = choice.choose(rng)
        choice.observe(arm, 0.9 if arm == 0 else 0.4)
    assert [choice.choose(rng) for _ in range(20)].count(0) > 15


def test_loaded_statistics_continue_exactly():
    first, second = ThompsonSampling(3), ThompsonSampling(3)
    for arm, reward in [(0, 0.3), (1, 0.5), (0, 0.1)]:
        first.observe(arm, reward)
    second.load(first.save())
    assert [part.tolist() for part in first.posterior()] == [part.tolist() for part in second.posterior()]
