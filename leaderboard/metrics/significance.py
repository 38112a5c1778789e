"""A paired block bootstrap of the difference of two runs, from the rewards of single rounds.

Both runs played the same sentences in the same order, so their rewards are compared round by round. Neighbouring rounds
are not independent (a learner drifts, products come in series), so whole blocks are resampled, not rounds.
"""

import math

import numpy as np
import numpy.typing as npt

from leaderboard.metrics.bootstrap import MIN_BLOCKS, Difference

RESAMPLES = 2_000
MAX_DRAWS_AT_ONCE = 4_000_000  # random numbers: bounds memory for runs of any length


def default_block_length(rounds: int) -> int:
    """Return the usual block length n^(1/3), or less to have at least 30 blocks."""
    return max(1, min(round(math.cbrt(rounds)), rounds // 30))


def paired_block_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    block: int | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Return the difference in mean reward of two runs over the same rounds, with interval and p-value.

    Args:
        first: the rewards of the first run, in the order of rounds.
        second: those of the second.
        block: rounds per block; ``default_block_length`` by default.
        resamples: how many resamples to draw.
        confidence: of the interval.
        seed: of the random numbers.

    Raises:
        ValueError: the rewards do not pair up, are not finite, or make too few blocks.
    """
    differences = _paired_differences(first, second)
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(
            f"resamples must be at least 1 and confidence between 0 and 1, but got {resamples} and {confidence}"
        )
    length = default_block_length(differences.size) if block is None else block
    if length < 1:
        raise ValueError(f"a block has at least one round, but got {length}")
    starts = np.arange(0, differences.size, length)
    if starts.size < MIN_BLOCKS:
        raise ValueError(f"{starts.size} blocks are too few for a significance test; it needs at least {MIN_BLOCKS}")
    sums = np.add.reduceat(differences, starts)
    sizes = np.diff(np.append(starts, differences.size)).astype(np.float64)
    observed = float(differences.mean())
    means = _resampled_means(sums, sizes, resamples, np.random.default_rng(seed))
    return Difference.from_resamples(observed, means.tolist(), confidence=confidence, blocks=starts.size)


def _paired_differences(first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.float64]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"two runs are compared round by round, but these have shapes {a.shape} and {b.shape}")
    if not a.size:
        raise ValueError("there are no rounds to compare")
    difference: npt.NDArray[np.float64] = a - b
    if not np.isfinite(difference).all():
        raise ValueError("rewards must be finite numbers")
    return difference


def _resampled_means(
    sums: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the mean difference of each resample of whole blocks, drawn with replacement."""
    blocks = sums.size
    means = np.empty(resamples)
    step = max(1, MAX_DRAWS_AT_ONCE // blocks)
    for start in range(0, resamples, step):
        drawn = rng.integers(0, blocks, size=(min(step, resamples - start), blocks))
        means[start : start + step] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means
