"""Rows of a log: what is read, what is refused, and how a log is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.offline.logged_round import (
    LogError,
    LoggedRound,
    batches,
    logged_round,
    split_by_source,
    with_probability,
)

ROW = {"source": "rotes seil", "translation": "red rope", "observed_reward": 0.5}


def test_a_released_row_is_read_and_columns_that_learning_does_not_need_are_ignored():
    released = {**ROW, "log_probability": -1.5, "system": "BNMT-EL", "run": "r1", "round": 0, "seed": None}
    assert logged_round(released, "row 1") == LoggedRound("rotes seil", "red rope", 0.5, -1.5, "BNMT-EL", "r1")
    assert logged_round(ROW, "row 1") == LoggedRound("rotes seil", "red rope", 0.5)
    assert logged_round({**ROW, "log_probability": None, "observed_reward": 1}, "row 1").reward == 1.0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"source": None}, "row 7 has no source: docs/logged-feedback.md lists the columns"),
        ({"observed_reward": None}, "row 7 has no observed_reward"),
        ({"translation": 3}, "row 7: translation is not a line of at most 4,000 characters"),
        ({"translation": "two\nlines"}, "row 7: translation is not a line"),
        ({"source": "x" * 4_001}, "row 7: source is not a line"),
        ({"observed_reward": 1.5}, "row 7: observed_reward is a number from 0 to 1, but got 1.5"),
        ({"observed_reward": -0.1}, "row 7: observed_reward is a number from 0 to 1, but got -0.1"),
        ({"observed_reward": float("nan")}, "row 7: observed_reward is a number from 0 to 1, but got nan"),
        ({"observed_reward": "0.5"}, "row 7: observed_reward is a number from 0 to 1, but got 0.5"),
        ({"observed_reward": True}, "row 7: observed_reward is a number from 0 to 1, but got True"),
        ({"log_probability": 0.5}, "row 7: log_probability is a number of at most 0, but got 0.5"),
        ({"log_probability": float("-inf")}, "row 7: log_probability is a number of at most 0, but got -inf"),
        ({"system": 3}, "row 7: system is not a line"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(change, complaint):
    with pytest.raises(LogError) as refused:
        logged_round({**ROW, **change}, "row 7")
    assert str(refused.value).startswith(complaint)


def test_a_row_that_is_no_object_is_refused():
    with pytest.raises(LogError, match="row 7 is not a JSON object: a log has one object per line"):
        logged_round([1], "row 7")


def rounds(count):
    return [LoggedRound(f"source {number % 40}", f"t{number}", 0.5) for number in range(count)]


def test_all_rounds_of_a_source_are_on_the_same_side_of_a_split():
    training, held_out = split_by_source(rounds(200), 0.25, seed=1)
    assert len(training) + len(held_out) == 200
    assert not {each.source for each in training} & {each.source for each in held_out}
    assert 20 <= len(held_out) <= 80
    assert split_by_source(rounds(200), 0.25, seed=2) != (training, held_out)


def test_a_split_does_not_depend_on_the_order_of_the_log():
    training, _ = split_by_source(rounds(200), 0.25, seed=1)
    backwards, _ = split_by_source(rounds(200)[::-1], 0.25, seed=1)
    assert backwards == training[::-1]


def test_only_rounds_with_a_probability_can_be_reweighted():
    known = LoggedRound("a", "b", 0.5, -1.0)
    assert with_probability([known, LoggedRound("a", "b", 0.5)]) == [known]


@given(st.integers(1, 200), st.integers(1, 40))
def test_batches_have_everything_once_and_nearly_equal_sizes(count, size):
    found = list(batches(range(count), size))
    assert [index for batch in found for index in batch] == list(range(count))
    assert max(map(len, found)) <= size
    assert max(map(len, found)) - min(map(len, found)) <= 1
