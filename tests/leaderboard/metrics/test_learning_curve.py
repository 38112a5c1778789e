"""The percentage slope: worked numbers, Table 2 of Bertoldi et al. 2012, and what holds for any curve."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.learning_curve import (
    Block,
    CurveModel,
    LearningCurveError,
    Slope,
    fit_blocks,
    percentage_slope,
    series,
)

POWER_LAW = [60 * block**-0.05 for block in range(1, 11)]


@pytest.mark.parametrize(
    ("scores", "exponent", "percentage"),
    [
        (POWER_LAW, -0.05, 96.5936),
        ([50, 48, 47, 47, 46], -0.048798, 96.6742),
        ([50, 49, 48.333, 48, 47.6], -0.030342, 97.9188),
        ([50, 50, 50], 0.0, 100.0),
        ([50, 51, 53, 54, 56], 0.068011, 104.8271),
    ],
)
def test_worked_slopes(scores, exponent, percentage):
    slope = percentage_slope(scores)
    assert slope.exponent == pytest.approx(exponent, abs=1e-6)
    assert slope.percentage == pytest.approx(percentage, abs=1e-4)


def test_the_cumulative_average_of_a_power_law_is_flatter():
    slope = percentage_slope(series([Block(score, 1) for score in POWER_LAW], CurveModel.CUMULATIVE))
    assert slope.exponent == pytest.approx(-0.033160, abs=1e-6)
    assert slope.percentage == pytest.approx(97.7278, abs=1e-4)


@pytest.mark.parametrize(
    ("scores", "averages", "percentage"),
    [
        ([50, 48, 47, 47, 46], [50, 49, 48.3333, 48, 47.6], 97.9188),
        ([50, 50, 50], [50, 50, 50], 100.0),
        ([50, 51, 53, 54, 56], [50, 50.5, 51.3333, 52, 52.8], 102.3187),
    ],
    ids=["learns", "stands still", "forgets"],
)
def test_cumulative_averages_of_equal_blocks_and_their_slopes(scores, averages, percentage):
    blocks = [Block(score, 1) for score in scores]
    assert series(blocks, CurveModel.CUMULATIVE) == pytest.approx(averages, abs=1e-4)
    assert fit_blocks(blocks, CurveModel.CUMULATIVE).percentage == pytest.approx(percentage, abs=1e-4)


def test_the_cumulative_average_pools_errors_and_words_of_unequal_blocks():
    blocks = [Block(300, 500), Block(480, 1000)]
    assert series(blocks, CurveModel.UNIT) == [0.6, 0.48]
    assert series(blocks, CurveModel.CUMULATIVE) == [0.6, 0.52]


# Table 2 of Bertoldi et al. 2012, by TER: what its slopes say of the exponent.
@pytest.mark.parametrize(("percentage", "exponent"), [(96.9, -0.0454), (97.7, -0.0336), (107.4, 0.1030)])
def test_published_slopes(percentage, exponent):
    assert Slope(exponent, 1.0, 57, 0).percentage == pytest.approx(percentage, abs=0.01)


def test_a_slope_of_96_9_saves_a_sixth_of_the_errors_in_57_blocks():
    assert 1 - Slope(math.log2(0.969), 1.0, 57, 0).fitted(57) == pytest.approx(0.168, abs=5e-4)


SCORES = st.lists(st.floats(0.01, 100), min_size=2, max_size=30)


@given(SCORES, st.floats(0.1, 10))
def test_the_slope_does_not_depend_on_the_unit_of_errors(scores, factor):
    scaled = percentage_slope([factor * score for score in scores])
    assert scaled.percentage == pytest.approx(percentage_slope(scores).percentage, rel=1e-6)


@given(SCORES)
def test_a_curve_in_reverse_does_not_learn_where_the_curve_does(scores):
    ordered = sorted(scores)
    assert percentage_slope(ordered).percentage >= 100 - 1e-9
    assert percentage_slope(ordered[::-1]).percentage <= 100 + 1e-9


def test_blocks_without_errors_are_left_out_and_counted():
    slope = percentage_slope([50, 0, 25, 0])
    assert (slope.blocks, slope.left_out) == (2, 2)
    assert slope.exponent == pytest.approx(-math.log(2) / math.log(3))


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ([], r"needs at least 2 blocks with errors, but got 0 \(of 0 blocks\)"),
        ([50], r"needs at least 2 blocks with errors, but got 1 \(of 1 blocks\)"),
        ([0, 0, 50], r"needs at least 2 blocks with errors, but got 1 \(of 3 blocks\)"),
        ([50, -1], "the error of block 2 is -1: errors must be 0 or more"),
        ([50, math.nan], "the error of block 2 is nan: errors must be 0 or more"),
    ],
)
def test_scores_that_no_curve_can_be_fitted_to_are_refused(scores, complaint):
    with pytest.raises(LearningCurveError, match=complaint):
        percentage_slope(scores)


def test_a_block_without_words_is_refused():
    with pytest.raises(LearningCurveError, match="a block without words or sentences"):
        fit_blocks([Block(1, 1), Block(0, 0)], CurveModel.UNIT)


def noisy_blocks(seed, exponent=-0.05, blocks=57):
    rng = random.Random(seed)
    return [Block(40 * place**exponent * math.exp(rng.gauss(0, 0.08)), 1) for place in range(1, blocks + 1)]


@pytest.mark.parametrize("model", list(CurveModel))
def test_the_interval_holds_the_true_slope_about_nineteen_times_of_twenty(model):
    truth = percentage_slope(series([Block(place**-0.05, 1) for place in range(1, 58)], model)).percentage
    held = 0
    for seed in range(100):
        slope = fit_blocks(noisy_blocks(seed), model, resamples=200)
        assert slope.interval is not None
        held += slope.interval[0] <= truth <= slope.interval[1]
    assert 90 <= held <= 100


@pytest.mark.parametrize("blocks", [10, 20, 57])
def test_the_standard_error_is_the_spread_of_slopes_that_are_fitted_to_other_noise(blocks):
    logarithms = [math.log(place) for place in range(1, blocks + 1)]
    mean = sum(logarithms) / blocks
    of_exponent = 0.08 / math.sqrt(sum((each - mean) ** 2 for each in logarithms))  # least squares with noise of 0.08
    errors = [fit_blocks(noisy_blocks(seed, blocks=blocks), CurveModel.UNIT, resamples=100) for seed in range(150)]
    typical = math.sqrt(sum((slope.standard_error or 0) ** 2 for slope in errors) / len(errors))
    assert typical == pytest.approx(math.log(2) * 100 * 2**-0.05 * of_exponent, rel=0.04)


def test_a_wider_spread_of_blocks_gives_a_larger_standard_error():
    calm = [Block(40 * place**-0.05 * (1.01 if place % 2 else 0.99), 1) for place in range(1, 41)]
    wild = [Block(40 * place**-0.05 * (1.2 if place % 2 else 0.8), 1) for place in range(1, 41)]
    small, large = (fit_blocks(blocks, CurveModel.UNIT).standard_error or 0 for blocks in (calm, wild))
    assert 0 < 5 * small < large


def test_few_blocks_or_blocks_without_errors_get_no_interval():
    assert fit_blocks(noisy_blocks(1, blocks=9), CurveModel.UNIT).interval is None
    assert fit_blocks([*noisy_blocks(1), Block(0, 1)], CurveModel.UNIT).interval is None
