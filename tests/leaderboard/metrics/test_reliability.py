"""Backward reliability: what is left of the first documents after the last."""

import math

import pytest

from leaderboard.metrics.reliability import (
    DocumentScores,
    ReliabilityError,
    backward_reliability,
    held_out_from,
)


def test_a_system_that_keeps_only_the_last_document_forgets_all_others():
    documents = [DocumentScores(f"d{number}", 20.0, 30.0, 30.0 if number == 6 else 20.0) for number in range(1, 7)]
    reliability = backward_reliability(documents)
    assert reliability.forgotten == ("d1", "d2", "d3", "d4", "d5")
    assert reliability.mean_drift == pytest.approx(-50 / 6)
    assert reliability.mean_gain == 10.0


def test_a_reliable_system_loses_nothing():
    reliability = backward_reliability([DocumentScores("d1", 20.0, 25.0, 26.0), DocumentScores("d2", 21.0, 24.0, 24.0)])
    assert reliability.forgotten == ()
    assert reliability.mean_drift == 0.5


def test_where_less_is_better_a_rise_is_forgetting():
    reliability = backward_reliability([DocumentScores("d1", 50.0, 40.0, 45.0)], higher_is_better=False)
    assert reliability.forgotten == ("d1",)
    assert (reliability.mean_gain, reliability.mean_drift) == (-10.0, 5.0)


def test_the_last_third_of_a_document_is_held_out():
    assert [held_out_from(sentences) for sentences in (3, 10, 300)] == [2, 7, 200]


@pytest.mark.parametrize("sentences", [0, 1, 2])
def test_a_document_that_is_too_short_is_refused(sentences):
    with pytest.raises(ReliabilityError, match=f"a document of {sentences} sentences cannot be cut"):
        held_out_from(sentences)


def test_impossible_scores_are_refused():
    with pytest.raises(ReliabilityError, match="at least one document"):
        backward_reliability([])
    with pytest.raises(ReliabilityError, match="a score of document 'd1' is not a finite number"):
        backward_reliability([DocumentScores("d1", 1.0, math.nan, 2.0)])
