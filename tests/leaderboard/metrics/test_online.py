"""The online metrics, by worked examples, and that a record does not depend on how it was folded."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.bleu import count_ngram_matches, sentence_score
from leaderboard.metrics.online import (
    GapError,
    OnlineRecord,
    checkpoints,
    cumulative_rewards,
    last_quarter_start,
    relative_rewards,
    running_regret,
)
from task.layout import Layout
from task.rounds import RoundResult

REFERENCES = ["the red shirt", "machine washable at 30 degrees"]
PASSES = [["a red shirt", "washable at 30 °"], ["the red shirt", "machine washable at 30 °"]]


LAYOUT = Layout(blocks=2, block=2, gap=1)


def played(index, hypothesis, reference):
    counts = count_ngram_matches(hypothesis, reference)
    return RoundResult(index, sentence_score(counts), counts.to_bytes(), 0)


def fold(rounds, layout=LAYOUT):
    return OnlineRecord().fold(rounds, layout)


def two_passes():
    """Two held-out passes of two sentences, with one fresh sentence between them."""
    outputs = [(0, 0, 0), (1, 0, 1), (3, 1, 0), (4, 1, 1)]
    held_out = [played(index, PASSES[number][line], REFERENCES[line]) for index, number, line in outputs]
    return [*held_out[:2], played(2, "a b", "a c"), *held_out[2:]]


def test_cumulative_reward():
    assert list(cumulative_rewards([0.2, 0.6, 0.3, 0.9])) == [0.2, 0.8, 1.1, 2.0]


def test_a_million_equal_rewards_do_not_drift():
    *_, last = cumulative_rewards([0.1] * 1_000_000)
    assert last == 100_000.0


def test_running_regret():
    oracle = {1: 10**12, 2: 16 * 10**11, 3: 21 * 10**11, 4: 29 * 10**11}
    system = {1: 2 * 10**11, 2: 8 * 10**11, 3: 11 * 10**11, 4: 2 * 10**12}
    assert {k: running_regret(oracle[k], system[k], k) for k in oracle} == {
        1: pytest.approx(0.8),
        2: pytest.approx(0.4),
        3: pytest.approx(0.3333, abs=5e-5),
        4: pytest.approx(0.225),
    }


def test_regret_may_be_negative():
    assert running_regret(0, 10**12, 1) == -1.0


def test_relative_reward():
    first, second = relative_rewards(fold(two_passes()).passes, size=2)
    assert (first.held_out_pass, second.held_out_pass) == (0, 1)
    assert (first.corpus_bleu, first.sentence_bleu) == pytest.approx((44.815, 16.176), abs=5e-4)
    assert (second.corpus_bleu, second.sentence_bleu) == pytest.approx((72.313, 83.437), abs=5e-4)
    assert (first.relative_corpus_bleu, first.relative_sentence_bleu) == (0, 0)
    assert second.relative_corpus_bleu == pytest.approx(27.498, abs=1e-3)  # worked out by hand from rounded numbers
    assert second.relative_sentence_bleu == pytest.approx(67.261, abs=5e-4)
    assert (first.length_ratio, second.length_ratio) == (7 / 8, 1.0)


def test_a_pass_that_is_still_played_is_left_out():
    record = fold(two_passes()[:-1])
    assert [point.held_out_pass for point in relative_rewards(record.passes, size=2)] == [0]
    assert relative_rewards(fold(two_passes()[:1]).passes, size=2) == []


def test_nothing_played_has_no_means():
    nothing = OnlineRecord().total
    assert (nothing.rounds, nothing.reward, nothing.corpus_bleu) == (0, 0.0, 0.0)
    assert (nothing.mean_reward, nothing.length_ratio) == (None, None)


def test_totals_count_fresh_and_held_out_rounds():
    total = fold(two_passes()).total
    assert total.rounds == 5
    assert total.reward == pytest.approx(2 * 0.16176 + 0.0707107 + 2 * 0.83437, abs=1e-4)
    assert total.mean_reward == pytest.approx(total.reward / 5)


def test_single_words_for_longer_references():
    pairs = [("a", "a b"), ("a", "a"), ("a b", "a b c"), ("", "a b"), ("x", "a b c"), ("a a", "a")]
    total = fold([played(k, *pair) for k, pair in enumerate(pairs)], Layout.plain(6)).total
    assert (total.longer_references, total.single_words, total.single_word_share) == (4, 2, 0.5)
    assert OnlineRecord().total.single_word_share is None


@pytest.mark.parametrize(("total", "start"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (1_297_974, 973_480)])
def test_where_the_last_quarter_begins(total, start):
    assert last_quarter_start(total) == start


@pytest.mark.parametrize("total", [1, 2, 3, 7, 40])
def test_the_last_quarter_is_the_difference_of_two_records(total):
    rounds, layout = [played(k, "a b", "a c") for k in range(total)], Layout.plain(total)
    whole, start = OnlineRecord(stride=2).fold(rounds, layout), last_quarter_start(total)
    before = OnlineRecord(stride=2).fold(rounds[:start], layout)
    assert before.last_quarter(total) is None
    expected = whole.total.minus(before.total)
    assert (whole.last_quarter(total), expected.rounds) == (expected, total - start)
    assert sorted(whole.late) == sorted({start, *range(start + 2 - start % 2, total + 1, 2)} - {0})


@given(st.lists(st.floats(0, 1), max_size=60), st.data())
def test_a_record_does_not_depend_on_how_it_was_folded(rewards, data):
    layout, counts = Layout(blocks=7, block=3, gap=7), count_ngram_matches("a b", "a c").to_bytes()
    rounds = [RoundResult(k, reward, counts, k) for k, reward in enumerate(rewards)]
    at_once = fold(rounds, layout)
    one_by_one = OnlineRecord()
    for single in rounds:
        one_by_one = one_by_one.fold([single], layout)
    cut = data.draw(st.integers(0, len(rounds)))
    again = data.draw(st.integers(0, cut))
    in_batches = fold(rounds[:cut], layout).fold(rounds[again:], layout)
    assert at_once == one_by_one == in_batches == at_once.fold(rounds, layout)
    held_out = {number: [k for k in layout.rounds_of_pass(number) if k < len(rounds)] for number in range(7)}
    assert {number: tally.rounds for number, tally in at_once.passes.items()} == {
        number: len(indices) for number, indices in held_out.items() if indices
    }


def test_missing_rounds_are_noticed():
    with pytest.raises(GapError, match="round 3 follows 2 rounds"):
        fold([*two_passes()[:2], two_passes()[3]])


def test_checkpoints_are_dense_at_first_then_even_on_a_log_axis():
    points = checkpoints()
    assert points[:130] == tuple(range(1, 131))
    assert {10**exponent for exponent in range(7)} <= set(points)
    assert len([k for k in points if k <= 1_297_974]) == 1_328
    assert len(points) < 2_000
    assert 1_000 in points
    assert 0 not in points
    assert 1_001 not in points


def test_the_curve_is_sampled_at_checkpoints_only():
    rounds = [played(k, "a", "a") for k in range(140)]
    curve = fold(rounds, Layout.plain(140)).curve
    assert curve[100] == 100 * 10**12
    assert sorted(curve) == [k for k in range(1, 141) if k in checkpoints()]
    assert len(curve) < 140


def test_the_curve_is_also_sampled_at_every_stride():
    rounds, layout = [played(k, "a", "a") for k in range(1_001)], Layout.plain(1_001)
    curve = OnlineRecord(stride=7).fold(rounds[:500], layout).fold(rounds[500:], layout).curve
    assert [curve[k] for k in range(7, 1_002, 7)] == [k * 10**12 for k in range(7, 1_002, 7)]
    assert 7 * 143 not in checkpoints()
    assert 7 * 143 not in fold(rounds, layout).curve


def test_a_record_can_be_sent_to_another_process():
    record = OnlineRecord(stride=2).fold(two_passes(), LAYOUT)
    sent = pickle.loads(pickle.dumps(record))
    assert sent == record
    assert sent.fold(two_passes(), LAYOUT) == record
