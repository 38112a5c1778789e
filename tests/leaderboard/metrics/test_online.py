"""Cards A7 to A9, literally, and that a record does not depend on how it was folded."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.bleu import score, statistics
from leaderboard.metrics.online import (
    GapError,
    OnlineRecord,
    Round,
    checkpoints,
    cumulative_rewards,
    is_checkpoint,
    relative_rewards,
    running_regret,
    to_ticks,
)

REFERENCES = ["the red shirt", "machine washable at 30 degrees"]
PASSES = [["a red shirt", "washable at 30 °"], ["the red shirt", "machine washable at 30 °"]]


def played(index, hypothesis, reference, held_out_pass=None):
    counts = statistics(hypothesis, reference)
    return Round(index, score(counts), counts, held_out_pass)


def two_passes():
    """The card's example: two held-out passes of two sentences, one fresh sentence between them."""
    outputs = [(0, 0, 0), (1, 0, 1), (3, 1, 0), (4, 1, 1)]
    held_out = [played(index, PASSES[number][line], REFERENCES[line], number) for index, number, line in outputs]
    return [*held_out[:2], played(2, "a b", "a c"), *held_out[2:]]


def test_cumulative_reward_of_card_a7():
    assert cumulative_rewards([0.2, 0.6, 0.3, 0.9]) == [0.2, 0.8, 1.1, 2.0]


def test_a_million_equal_rewards_do_not_drift():
    assert cumulative_rewards([0.1] * 1_000_000)[-1] == 100_000.0


def test_running_regret_of_card_a8():
    oracle = {1: 10**12, 2: 16 * 10**11, 3: 21 * 10**11, 4: 29 * 10**11}
    system = {1: 2 * 10**11, 2: 8 * 10**11, 3: 11 * 10**11, 4: 2 * 10**12}
    assert running_regret(oracle, system) == {
        1: pytest.approx(0.8),
        2: pytest.approx(0.4),
        3: pytest.approx(0.3333, abs=5e-5),
        4: pytest.approx(0.225),
    }


def test_regret_is_known_only_where_both_curves_are():
    assert running_regret({1: 10**12}, {1: 0, 2: 0}) == {1: 1.0}


def test_regret_may_be_negative():
    assert running_regret({1: 0}, {1: 10**12}) == {1: -1.0}


def test_relative_reward_of_card_a9():
    first, second = relative_rewards(OnlineRecord().fold(two_passes()).passes, size=2)
    assert (first.held_out_pass, second.held_out_pass) == (0, 1)
    assert (first.corpus_bleu, first.sentence_bleu) == pytest.approx((44.815, 16.176), abs=5e-4)
    assert (second.corpus_bleu, second.sentence_bleu) == pytest.approx((72.313, 83.437), abs=5e-4)
    assert (first.relative_corpus_bleu, first.relative_sentence_bleu) == (0, 0)
    assert second.relative_corpus_bleu == pytest.approx(27.498, abs=1e-3)  # the card subtracts rounded numbers
    assert second.relative_sentence_bleu == pytest.approx(67.261, abs=5e-4)
    assert (first.length_ratio, second.length_ratio) == (7 / 8, 1.0)


def test_a_pass_that_is_still_played_is_left_out():
    record = OnlineRecord().fold(two_passes()[:-1])
    assert [point.held_out_pass for point in relative_rewards(record.passes, size=2)] == [0]
    assert relative_rewards(OnlineRecord().fold(two_passes()[:1]).passes, size=2) == []


def test_nothing_played_has_no_means():
    nothing = OnlineRecord().total
    assert (nothing.rounds, nothing.reward, nothing.corpus_bleu) == (0, 0.0, 0.0)
    assert (nothing.mean_reward, nothing.mean_sentence_bleu, nothing.length_ratio) == (None, None, None)


def test_totals_count_fresh_and_held_out_rounds():
    total = OnlineRecord().fold(two_passes()).total
    assert total.rounds == 5
    assert total.reward == pytest.approx(2 * 0.16176 + 0.0707107 + 2 * 0.83437, abs=1e-4)
    assert total.mean_reward == pytest.approx(total.reward / 5)
    assert total.mean_sentence_bleu == pytest.approx(100 * total.reward / 5)


@given(st.lists(st.floats(0, 1), max_size=60), st.data())
def test_a_record_does_not_depend_on_how_it_was_folded(rewards, data):
    rounds = [
        Round(k, reward, statistics("a b", "a c"), k // 10 if k % 10 < 3 else None) for k, reward in enumerate(rewards)
    ]
    at_once = OnlineRecord().fold(rounds)
    one_by_one = OnlineRecord()
    for single in rounds:
        one_by_one = one_by_one.fold([single])
    cut = data.draw(st.integers(0, len(rounds)))
    again = data.draw(st.integers(0, cut))
    in_blocks = OnlineRecord().fold(rounds[:cut]).fold(rounds[again:])
    assert at_once == one_by_one == in_blocks == at_once.fold(rounds)


def test_missing_rounds_are_noticed():
    with pytest.raises(GapError, match="round 3 follows 2 rounds"):
        OnlineRecord().fold([*two_passes()[:2], two_passes()[3]])


@pytest.mark.parametrize("reward", [-0.001, 1.001, float("nan"), float("inf")])
def test_a_reward_outside_0_to_1_is_refused(reward):
    with pytest.raises(ValueError, match="between 0 and 1"):
        to_ticks(reward)


def test_ticks_of_a_full_training_run_fit_a_64_bit_integer():
    assert 1_297_974 * to_ticks(1.0) < 2**63


def test_checkpoints_are_dense_at_first_then_even_on_a_log_axis():
    points = checkpoints()
    assert points[:130] == tuple(range(1, 131))
    assert {10**exponent for exponent in range(7)} <= set(points)
    assert len([k for k in points if k <= 1_297_974]) == 1_328
    assert len(points) < 2_000
    assert is_checkpoint(1_000)
    assert not is_checkpoint(0)
    assert not is_checkpoint(1_001)


def test_the_curve_is_sampled_at_checkpoints_only():
    rounds = [Round(k, 1.0, statistics("a", "a"), None) for k in range(140)]
    curve = OnlineRecord().fold(rounds).curve
    assert curve[100] == 100 * 10**12
    assert sorted(curve) == [k for k in range(1, 141) if is_checkpoint(k)]
    assert len(curve) < 140


def test_the_curve_is_also_sampled_at_every_stride():
    rounds = [Round(k, 1.0, statistics("a", "a"), None) for k in range(1_001)]
    curve = OnlineRecord(stride=7).fold(rounds[:500]).fold(rounds[500:]).curve
    assert [curve[k] for k in range(7, 1_002, 7)] == [k * 10**12 for k in range(7, 1_002, 7)]
    assert not is_checkpoint(7 * 143)
    assert 7 * 143 not in OnlineRecord().fold(rounds).curve


def test_a_record_can_be_sent_to_another_process():
    record = OnlineRecord(stride=2).fold(two_passes())
    sent = pickle.loads(pickle.dumps(record))
    assert sent == record
    assert sent.fold(two_passes()) == record
