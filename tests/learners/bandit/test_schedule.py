"""Annealing, by the formula of the paper and by the code of its authors (Sokolov et al. 2017, section 5.2)."""

import numpy as np
import pytest

from learners.bandit.schedule import AnnealingSchedule, LearningRateDecay

CUMULATIVE, DIRECT = AnnealingSchedule(), AnnealingSchedule(learning_rate_decay=LearningRateDecay.DIRECT)
START = 700_000


@pytest.mark.parametrize("k", [1, 699_999, START])
def test_before_annealing_nothing_changes(k):
    assert (CUMULATIVE.temperature_at(k), CUMULATIVE.rate_factor(k), CUMULATIVE.is_frozen(k)) == (1.0, 1.0, False)


@pytest.mark.parametrize(("n", "temperature"), [(1, 0.99), (100, 0.366032), (229, 0.100106)])
def test_the_temperature_falls_by_one_per_cent_a_round(n, temperature):
    assert CUMULATIVE.temperature_at(START + n) == pytest.approx(temperature, abs=1e-6)


@pytest.mark.parametrize(("n", "bound"), [(459, 0.01), (688, 0.001)])
def test_the_first_round_below_a_temperature(n, bound):
    assert CUMULATIVE.temperature_at(START + n) < bound <= CUMULATIVE.temperature_at(START + n - 1)


@pytest.mark.parametrize(
    ("schedule", "n", "bound"), [(CUMULATIVE, 12, 0.5), (CUMULATIVE, 37, 1e-3), (DIRECT, 69, 0.5), (DIRECT, 688, 1e-3)]
)
def test_the_first_round_below_a_rate(schedule, n, bound):
    assert schedule.rate_factor(START + n) < bound <= schedule.rate_factor(START + n - 1)


def test_the_paper_multiplies_all_temperatures():
    assert CUMULATIVE.rate_factor(START + 100) == pytest.approx(9.1e-23, rel=0.01)
    product = 1.0
    for n in range(1, 60):
        product *= CUMULATIVE.temperature_at(START + n)
        assert CUMULATIVE.rate_factor(START + n) == pytest.approx(product)


@pytest.mark.parametrize(("n", "precision"), [(10_346, np.float32), (74_141, np.float64)])
def test_the_first_round_whose_temperature_is_no_longer_above_zero(n, precision):
    before, then = (precision(CUMULATIVE.temperature_at(START + number)) for number in (n - 1, n))
    assert before > 0
    assert then == 0
    assert CUMULATIVE.is_frozen(START + n - 1)


def test_learning_freezes_before_anything_overflows():
    assert not CUMULATIVE.is_frozen(START + 687)
    assert CUMULATIVE.is_frozen(START + 688)
    assert CUMULATIVE.is_frozen(1_297_974)  # where the temperature is 0


def test_annealing_starts_from_the_given_temperature():
    assert AnnealingSchedule(temperature=0.3, start=10).temperature_at(11) == pytest.approx(0.297)


def test_without_a_start_nothing_is_annealed():
    never = AnnealingSchedule(start=None)
    assert (never.temperature_at(10**9), never.rate_factor(10**9), never.is_frozen(10**9)) == (1.0, 1.0, False)
