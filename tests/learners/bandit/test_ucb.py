"""UCB1: worked examples."""

import numpy as np
import pytest

from learners.bandit.ucb import SamplingUcb1, Ucb1, Ucb1Tuned

RNG = np.random.default_rng(0)
MEANS = (0.18, 0.16)


def after(choice, *plays):
    """Play each arm this many times, always for its mean reward."""
    for arm, count in enumerate(plays):
        for _ in range(count):
            choice.observe(arm, MEANS[arm])
    return choice


def pulls(choice, rounds):
    chosen = []
    for _ in range(rounds):
        chosen.append(choice.choose(RNG))
        choice.observe(chosen[-1], MEANS[chosen[-1]])
    return chosen


def test_indices_are_upper_confidence_bounds():
    choice = after(Ucb1(2), 60, 40)
    assert choice.indices() == pytest.approx([0.5718, 0.6399], abs=1e-4)
    assert choice.choose(RNG) == 1


def test_each_arm_is_played_once_first():
    assert pulls(Ucb1(2), 2) == [0, 1]
    assert pulls(SamplingUcb1(2), 2) == [0, 1]


@pytest.mark.parametrize(("rounds", "worse"), [(1_000, 440), (10_000, 3_453)])
def test_a_small_gap_is_explored_for_long(rounds, worse):
    assert sum(pulls(Ucb1(2), rounds)) == worse


def test_arms_are_sampled_in_proportion_to_their_indices():
    choice = after(SamplingUcb1(2), 60, 40)
    rng = np.random.default_rng(1)
    share = np.mean([choice.choose(rng) for _ in range(20_000)])
    assert share == pytest.approx(0.6399 / (0.5718 + 0.6399), abs=0.01)


@pytest.mark.parametrize("kind", [Ucb1, SamplingUcb1, Ucb1Tuned])
def test_loaded_statistics_continue_exactly(kind):
    first, second = after(kind(2), 3, 1), kind(2)
    second.load(first.save())
    second.observe(0, 1.0)
    first.observe(0, 1.0)
    assert first.indices().tolist() == second.indices().tolist()


def test_the_tuned_bound_follows_the_variance_of_rewards():
    assert after(Ucb1Tuned(2), 60, 40).indices() == pytest.approx([0.318522, 0.329653], abs=1e-6)  # a coin's variance
    assert after(Ucb1Tuned(2), 6_000, 4_000).indices() == pytest.approx([0.189223, 0.1725], abs=1e-5)
    varying = Ucb1Tuned(2)
    for reward in (0.0, 1.0) * 3_000:
        varying.observe(0, reward)
    for _ in range(6_000):
        varying.observe(1, 0.5)
    first, second = varying.indices()
    assert first > second  # both have the same mean


def test_the_tuned_bound_explores_a_small_gap_for_less_long():
    assert sum(pulls(Ucb1Tuned(2), 10_000)) < 3_453 / 2


def test_old_rewards_are_forgotten_with_a_discount():
    choice = Ucb1(2, discount=0.9)
    for reward in [1.0] * 50 + [0.0] * 50:
        choice.observe(0, reward)
        choice.observe(1, 0.4)
    assert choice.choose(RNG) == 1
    for arm in [1] * 200:
        choice.observe(arm, 0.4)
    assert choice.choose(RNG) == 0, "the first arm counts as if it had never been played"


def test_statistics_of_an_earlier_version_are_loaded():
    saved = after(Ucb1(2), 60, 40).save()
    del saved.arrays["squares"]
    choice = Ucb1(2)
    choice.load(saved)
    assert choice.indices() == pytest.approx([0.5718, 0.6399], abs=1e-4)
