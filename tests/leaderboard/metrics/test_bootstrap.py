"""The block bootstrap without numpy agrees with numpy and with the bootstrap over single rounds."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics import bootstrap
from leaderboard.metrics.bootstrap import BlockRewards, Difference, percentile_interval
from leaderboard.metrics.significance import paired_block_bootstrap
from task.rounds import TICKS


def drawn_blocks(blocks):
    """Return the blocks of every resample, drawn in the plainest way."""
    rng = random.Random(blocks)
    return [rng.choices(range(blocks), k=blocks) for _ in range(bootstrap.RESAMPLES)]


@pytest.mark.parametrize("blocks", [2, 13, 200])
def test_packed_sums_equal_the_sums_of_drawn_blocks(blocks):
    rng = random.Random(0)
    earned = tuple(rng.randrange(20_000 * TICKS) for _ in range(blocks))  # a run of four million full rewards
    rounds = (*[20_000] * (blocks - 1), 17)
    expected = [sum(earned[i] for i in draw) / sum(rounds[i] for i in draw) for draw in drawn_blocks(blocks)]
    assert BlockRewards(earned, rounds).resampled() == expected


def test_the_largest_run_does_not_overflow():
    blocks = BlockRewards((20_000 * TICKS,) * 200, (20_000,) * 200)
    assert set(blocks.resampled()) == {float(TICKS)}


def test_all_runs_are_resampled_with_the_same_draws():
    one, other = BlockRewards((5, 1, 9, 4), (10,) * 4), BlockRewards((6, 2, 10, 5), (10,) * 4)
    differences = [b - a for a, b in zip(one.resampled(), other.resampled(), strict=True)]
    assert differences == [pytest.approx(0.1)] * bootstrap.RESAMPLES


def test_a_prefix_and_its_mean():
    blocks = BlockRewards((5, 1, 9, 4), (10, 10, 10, 5))
    assert blocks.mean == 19 / 35
    assert blocks.prefix(2) == BlockRewards((5, 1), (10, 10))


def test_one_block_cannot_be_resampled():
    with pytest.raises(ValueError, match="at least two blocks"):
        BlockRewards((5,), (10,)).resampled()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_intervals_equal_quantiles_of_numpy(values, confidence):
    expected = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    assert percentile_interval(values, confidence) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_agrees_with_the_bootstrap_over_single_rounds():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(0, 0.62, 4_000), rng.uniform(0, 0.6, 4_000)
    over_rounds = paired_block_bootstrap(first, second, block=20, resamples=4_000)
    blocks = [
        BlockRewards(tuple(round(TICKS * float(part.sum())) for part in rewards.reshape(200, 20)), (20,) * 200)
        for rewards in (first, second)
    ]
    resampled = [(a - b) / TICKS for a, b in zip(*(each.resampled() for each in blocks), strict=True)]
    observed = (blocks[0].mean - blocks[1].mean) / TICKS
    found = Difference.from_resamples(observed, resampled, confidence=0.95, blocks=200)
    assert found.mean == pytest.approx(over_rounds.mean)
    width = over_rounds.high - over_rounds.low
    assert (found.low, found.high) == (
        pytest.approx(over_rounds.low, abs=0.08 * width),
        pytest.approx(over_rounds.high, abs=0.08 * width),
    )
    assert found.p_value == pytest.approx(over_rounds.p_value, abs=0.03)


def test_an_interval_of_few_blocks_is_as_wide_as_their_unbiased_variance():
    found = Difference.from_resamples(1.0, [0.0, 1.0, 2.0], confidence=1.0, blocks=2)
    assert (found.low, found.high) == pytest.approx((1 - 2**0.5, 1 + 2**0.5))
