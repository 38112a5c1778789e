"""Ticks add up exactly, and the records of a run say where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.rounds import TICKS, Round, RoundResult, Run, RunProgress, to_ticks

RUN = Run("a" * 26, "acme", "dev", "copy", attempt=1, opened_at=5, key=1)


def played(index, observed=0.25, true=0.5, before=(0, 0)):
    sums = before[0] + to_ticks(observed), before[1] + to_ticks(true)
    return Round(RUN, index, "ein seil", observed, true, b"123456789", *sums, committed_at=1_000 + index)


@pytest.mark.parametrize(
    ("reward", "ticks"), [(0, 0), (1, 10**12), (0.1, 10**11), (1 / 3, 333_333_333_333), (5e-324, 0)]
)
def test_a_tick_is_a_fixed_point_unit_of_reward(reward, ticks):
    assert to_ticks(reward) == ticks


@pytest.mark.parametrize("reward", [-0.001, 1.001, float("nan"), float("inf")])
def test_a_reward_outside_0_to_1_is_refused(reward):
    with pytest.raises(ValueError, match="between 0 and 1"):
        to_ticks(reward)


def test_ticks_of_a_full_training_run_fit_a_64_bit_integer():
    assert 1_297_974 * to_ticks(1.0) < 2**63


@given(st.floats(0, 1))
def test_a_tick_is_finer_than_any_score_that_is_printed(reward):
    assert to_ticks(reward) / TICKS == pytest.approx(reward, abs=1e-12)


def test_what_the_leaderboard_needs_of_a_round():
    assert played(7).result == RoundResult(7, 0.5, b"123456789", 1_007)
    assert played(7).result == (7, 0.5, b"123456789", 1_007, b"")


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_the_sums_of_a_round_begin_where_the_round_before_it_ends(rewards):
    earned = (0, 0)
    for index, (observed, true) in enumerate(rewards):
        committed = played(index, observed, true, before=earned)
        assert committed.ticks_before == earned
        earned = committed.ticks_after
    assert earned == (sum(to_ticks(each) for each, _ in rewards), sum(to_ticks(each) for _, each in rewards))


def test_the_pending_sentence_follows_the_last_round():
    assert RunProgress(RUN, None).pending == 0
    assert RunProgress(RUN, played(13)).pending == 14
