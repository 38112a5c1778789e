"""What an audit reports, and the checks of a single round that imports of archives share with it."""

import math
import struct
import zlib
from dataclasses import dataclass

from task.rounds import LINK_BYTES, Round

REWARD_TOLERANCE = 1e-9  # logarithms may differ in their last bit between the machine that scored and this one
# Raised by code that meets a value which the service never writes.
IMPOSSIBLE_VALUE_ERRORS = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    struct.error,
    zlib.error,
)

_MAX_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that is wrong with a store, with a run, or with one of its rounds."""

    run: str | None  # None for the store as a whole
    round: int | None  # None for the run as a whole
    problem: str

    def __str__(self) -> str:
        if self.run is None:
            return self.problem
        where = "" if self.round is None else f", round {self.round:,}"
        return f"run {self.run}{where}: {self.problem}"


def is_close(reward: float, recomputed: float) -> bool:
    """Return whether two rewards are equal, up to the rounding of different machines."""
    return math.isclose(reward, recomputed, rel_tol=0, abs_tol=REWARD_TOLERANCE)


def sequence_problem(played: Round, before: Round | None, total: int) -> str | None:
    """Return why a round cannot follow the round before it in a run of ``total`` rounds, or None if it can."""
    expected = 0 if before is None else before.index + 1
    if played.index != expected:
        return f"round {expected:,} should come here"
    if played.index >= total:
        return "the phase has no such round"
    if played.ticks_before != ((0, 0) if before is None else before.ticks_after):
        return "the sums are not those of the rewards up to here"
    return None


def value_problem(played: Round) -> str | None:
    """Return which value of a round the service can never have written, or None. SQLite stores any type anywhere."""
    rewards = {"observed reward": played.observed_reward, "true reward": played.true_reward}
    for name, reward in rewards.items():
        if type(reward) is not float or not 0 <= reward <= 1:
            return f"the {name} is {reward!r}"
    numbers = {
        "index": played.index,
        "sum of observed rewards": played.observed_ticks,
        "sum of true rewards": played.true_ticks,
        "time": played.committed_at,
    }
    for name, number in numbers.items():
        if type(number) is not int or not 0 <= number < _MAX_INTEGER:
            return f"the {name} is {number!r}"
    if type(played.translation) is not str or not isinstance(played.post_edit, str | None):
        return "the translation or the post-edit is not a text"
    probability = played.log_probability
    if probability is not None and (type(probability) is not float or math.isnan(probability)):
        return f"the log-probability is {probability!r}"
    if type(played.statistics) is not bytes or type(played.link) is not bytes:
        return "the statistics or the link are not bytes"
    return None if len(played.link) in (0, LINK_BYTES) else f"the link has {len(played.link):,} bytes"
