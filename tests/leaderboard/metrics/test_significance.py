"""The paired block bootstrap finds real differences, only those, and is reproducible."""

import numpy as np
import pytest

from leaderboard.metrics.significance import default_block_length, paired_block_bootstrap


def rewards(rounds=3_000, seed=1):
    return np.random.default_rng(seed).uniform(0, 0.6, rounds)


def test_constant_difference_has_an_interval_of_zero_width():
    base = rewards()
    found = paired_block_bootstrap(base + 0.1, base)
    assert (found.mean, found.low, found.high) == tuple([pytest.approx(0.1)] * 3)
    assert found.p_value == pytest.approx(2 / 2_001)
    assert found.significant


def test_a_run_does_not_differ_from_itself():
    found = paired_block_bootstrap(rewards(), rewards())
    assert (found.mean, found.low, found.high, found.p_value) == (0, 0, 0, 1)
    assert not found.significant


def test_swapping_the_runs_mirrors_the_interval():
    a, b = rewards(seed=1), rewards(seed=2)
    there, back = paired_block_bootstrap(a, b, block=10), paired_block_bootstrap(b, a, block=10)
    assert (there.low, there.high, there.p_value) == (
        pytest.approx(-back.high),
        pytest.approx(-back.low),
        pytest.approx(back.p_value),
    )


def test_the_interval_agrees_with_the_normal_approximation_for_independent_rounds():
    a, b = rewards(20_000, seed=1), rewards(20_000, seed=2)
    found = paired_block_bootstrap(a, b, block=1, resamples=4_000)
    half_width = 1.96 * np.std(a - b) / np.sqrt(20_000)
    assert found.high - found.low == pytest.approx(2 * half_width, rel=0.06)


def test_interval_covers_the_true_difference_at_its_confidence():
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        difference = rng.normal(0.02, 0.2, 600)
        found = paired_block_bootstrap(difference, np.zeros(600), block=8, resamples=400, seed=seed)
        covered += found.low <= 0.02 <= found.high
    assert 180 <= covered <= 198  # 95 % of 200, give or take three standard errors


def test_blocks_widen_the_interval_of_correlated_rounds():
    waves = np.repeat(np.random.default_rng(3).normal(0, 0.2, 200), 50)
    single = paired_block_bootstrap(waves, np.zeros_like(waves), block=1)
    blocked = paired_block_bootstrap(waves, np.zeros_like(waves), block=50)
    assert blocked.high - blocked.low > 5 * (single.high - single.low)


def test_the_same_seed_gives_the_same_answer_and_another_seed_another():
    a, b = rewards(seed=1), rewards(seed=2)
    assert paired_block_bootstrap(a, b, seed=5) == paired_block_bootstrap(a, b, seed=5)
    assert paired_block_bootstrap(a, b, seed=5) != paired_block_bootstrap(a, b, seed=6)


def test_a_shorter_last_block_is_weighted_by_its_length():
    found = paired_block_bootstrap([1.0] * 34, [0.0] * 34, block=3)
    assert (found.mean, found.low, found.high, found.blocks) == (1, 1, 1, 12)


def test_interval_and_p_value_agree():
    for seed in range(150):
        skewed = np.random.default_rng(seed).exponential(1, 40) - 0.75
        found = paired_block_bootstrap(skewed, np.zeros(40), seed=seed)
        if abs(found.p_value - 0.05) > 0.003:  # at the very edge, interpolation decides
            assert found.significant == (found.p_value < 0.05)


@pytest.mark.parametrize("rounds", [12, 48])
def test_noise_is_rarely_significant(rounds):
    noise = (np.random.default_rng(seed).normal(0, 0.2, rounds) for seed in range(300))
    wrong = sum(paired_block_bootstrap(each, np.zeros(rounds), block=1, resamples=400).significant for each in noise)
    assert wrong <= 300 * 0.12


@pytest.mark.parametrize(("rounds", "block"), [(1, None), (9, None), (100, 100), (100, 12)])
def test_too_few_blocks_are_an_error(rounds, block):
    with pytest.raises(ValueError, match="too few for a significance test; it needs at least 10"):
        paired_block_bootstrap([0.2] * rounds, [0.1] * rounds, block=block)


@pytest.mark.parametrize(("rounds", "block"), [(1, 1), (29, 1), (90, 3), (1_000, 10), (40_000, 34), (1_297_974, 109)])
def test_default_block_lengths(rounds, block):
    assert default_block_length(rounds) == block


def test_resampling_in_chunks_gives_the_same_result(monkeypatch):
    a, b = rewards(seed=1), rewards(seed=2)
    at_once = paired_block_bootstrap(a, b)
    monkeypatch.setattr("leaderboard.metrics.significance.MAX_DRAWS_AT_ONCE", 1_000)
    assert paired_block_bootstrap(a, b) == at_once


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([0.1], [0.1, 0.2], {}, "round by round"),
        ([[0.1]], [[0.1]], {}, "round by round"),
        ([], [], {}, "no rounds"),
        ([float("nan")], [0.1], {}, "finite"),
        ([0.1], [0.1], {"block": 0}, "at least one round"),
        ([0.1], [0.1], {"resamples": 0}, "resamples"),
        ([0.1], [0.1], {"confidence": 1.0}, "confidence"),
    ],
)
def test_invalid_input_is_an_error(first, second, options, message):
    with pytest.raises(ValueError, match=message):
        paired_block_bootstrap(first, second, **options)
