"""UCB1: worked examples."""

import numpy as np
import pytest

from learners.bandit.ucb import SamplingUcb1, Ucb1

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


@pytest.mark.parametrize("kind", [Ucb1, SamplingUcb1])
def test_loaded_statistics_continue_exactly(kind):
    first, second = after(kind(2), 3, 1), kind(2)
    second.load(first.save())
    second.observe(0, 1.0)
    first.observe(0, 1.0)
    assert first.indices().tolist() == second.indices().tolist()
