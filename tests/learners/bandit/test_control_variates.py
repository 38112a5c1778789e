"""Baselines of rewards (Sokolov et al. 2017, sections 5.1 and 5.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.bandit.control_variates import NoControlVariate, RunningMean

rewards = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def advantages(control_variate, rewards):
    return [control_variate.advantage("s", reward) for reward in rewards]


def test_without_a_control_variate_the_reward_is_the_advantage():
    assert advantages(NoControlVariate(), [0.2, 0.6]) == [0.2, 0.6]


def test_the_published_mean_includes_the_current_reward():
    assert advantages(RunningMean(), [0.2, 0.6, 0.4, 0.8]) == pytest.approx([0, 0.2, 0, 0.3])


def test_the_mean_without_the_current_reward():
    assert advantages(RunningMean(include_current=False), [0.2, 0.6, 0.4, 0.8]) == pytest.approx([0, 0.4, 0, 0.4])


@given(rewards)
def test_including_the_current_reward_only_scales_the_advantage(rewards):
    included, excluded = (RunningMean(include_current=current) for current in (True, False))
    for k, reward in enumerate(rewards, start=1):
        with_it, without = included.advantage("s", reward), excluded.advantage("s", reward)
        assert with_it == pytest.approx((k - 1) / k * without, abs=1e-9)


@pytest.mark.parametrize("make", [NoControlVariate, RunningMean, lambda: RunningMean(include_current=False)])
def test_a_loaded_control_variate_continues_exactly(make):
    first, second = make(), make()
    advantages(first, [0.3, 0.9])
    second.load(first.save())
    assert advantages(second, [0.1, 0.7]) == advantages(first, [0.1, 0.7])
