"""Learning curves from texts: blocks by reference words, slopes, and their differences."""

import pytest

from leaderboard.evaluation.comparison import EvaluationError
from leaderboard.evaluation.learning import cut_blocks, learning_curves
from leaderboard.metrics.learning_curve import Block, CurveModel, ErrorRate, LearningCurveError
from tests.leaderboard.evaluation.test_comparison import known, made_up


def test_blocks_end_after_so_many_reference_words_and_a_rest_is_left_out():
    hypotheses, references = ["a b", "x", "a"], ["a b", "a b", "a"]
    assert cut_blocks(hypotheses, references, ErrorRate.TER, block_words=2) == [Block(0, 2), Block(2, 2)]


def test_a_short_text_is_one_block():
    assert cut_blocks(["a x"], ["a b"], ErrorRate.TER) == [Block(1, 2)]


def test_the_error_of_sentence_bleu_is_what_is_missing_to_one():
    (block,) = cut_blocks(["a b", "c"], ["a b", "d"], ErrorRate.SENTENCE_BLEU)
    assert block == Block(1.0, 2.0)


def test_a_system_that_improves_has_a_slope_below_that_of_one_that_does_not():
    references, weak, _ = made_up(1_200)
    corrected = [gold if number % 3 else ours for number, (ours, gold) in enumerate(zip(weak, references, strict=True))]
    learning = [*weak[:300], *corrected[300:]]
    curves = learning_curves({"static": weak, "learning": learning}, references, block_words=300)
    assert curves["learning"].slope.percentage < 85
    assert known(curves["learning"].difference).high < 0
    assert curves["static"].difference is None
    low, high = known(curves["static"].slope.interval)
    assert low < 100 < high


def test_points_hold_errors_and_the_fitted_curve_in_percent():
    references, weak, _ = made_up(200)
    curve = learning_curves({"weak": weak}, references, block_words=400, model=CurveModel.CUMULATIVE)["weak"]
    number, error, fitted = next(curve.points(CurveModel.CUMULATIVE))
    assert number == 1
    assert error == pytest.approx(100 * curve.blocks[0].rate)
    assert fitted == pytest.approx(100 * curve.slope.first)


def test_one_block_is_refused():
    with pytest.raises(LearningCurveError, match=r"^one: .* at least 2 blocks with errors, but got 1 \(of 1 blocks\)"):
        learning_curves({"one": ["a x"]}, ["a b"])


def test_the_system_without_a_curve_is_named():
    references = ["a b", "a c", "a d"]
    systems = {"weak": ["x", "x", "x"], "perfect": references}
    with pytest.raises(LearningCurveError, match=r"^perfect: a learning curve needs at least 2 blocks with errors"):
        learning_curves(systems, references, block_words=2)


def test_texts_of_different_lengths_are_refused():
    with pytest.raises(EvaluationError, match="one has 1 sentences"):
        learning_curves({"one": ["a"]}, ["a", "b"])
