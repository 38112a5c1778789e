"""A row of a log of feedback: what was translated, how, what it earned, and with which probability it was sampled."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from learners.errors import LearnerError
from task.limits import MAX_TRANSLATION_CHARACTERS, is_log_probability, is_one_line


class LogError(LearnerError):
    """A log cannot be learned from; the message says why, and in which row."""


@dataclass(frozen=True, slots=True)
class LoggedRound:
    """One round as an offline learner sees it."""

    source: str
    translation: str
    reward: float  # as observed, from 0 to 1
    log_probability: float | None = None  # of the translation under the system that logged it; None if it is unknown
    system: str = ""  # that logged it; empty if the log does not say
    run: str = ""


def logged_round(row: Any, where: str) -> LoggedRound:
    """Return a row of a log; raise LogError, which begins with ``where``, if a column is missing or wrong.

    Columns that learning does not need are ignored.
    """
    if not isinstance(row, Mapping):
        raise LogError(f"{where} is not a JSON object: a log has one object per line")
    missing = [name for name in ("source", "translation", "observed_reward") if row.get(name) is None]
    if missing:
        raise LogError(f"{where} has no {missing[0]}: docs/logged-feedback.md lists the columns of a log")
    log_probability = row.get("log_probability")
    return LoggedRound(
        _text(row, "source", where),
        _text(row, "translation", where),
        _number(row["observed_reward"], "observed_reward", "a number from 0 to 1", where, low=0.0, high=1.0),
        None if log_probability is None else _log_probability(log_probability, where),
        _text(row, "system", where) if row.get("system") is not None else "",
        _text(row, "run", where) if row.get("run") is not None else "",
    )


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row[name]
    if not isinstance(value, str) or not is_one_line(value) or len(value) > MAX_TRANSLATION_CHARACTERS:
        raise LogError(f"{where}: {name} is not a line of at most {MAX_TRANSLATION_CHARACTERS:,} characters")
    return value


def _number(value: Any, name: str, expected: str, where: str, *, low: float, high: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        raise LogError(f"{where}: {name} is {expected}, but got {str(value)[:40]}")
    return float(value)


def _log_probability(value: Any, where: str) -> float:
    number = _number(value, "log_probability", "a number of at most 0", where, low=-math.inf, high=math.inf)
    if not is_log_probability(number):
        raise LogError(f"{where}: log_probability is a number of at most 0, but got {number}")
    return number


def with_probability(rounds: Iterable[LoggedRound]) -> list[LoggedRound]:
    """Return the rounds whose probability is known: only these can be reweighted."""
    return [each for each in rounds if each.log_probability is not None]


def split_by_source(
    rounds: Sequence[LoggedRound], share: float, *, seed: int
) -> tuple[list[LoggedRound], list[LoggedRound]]:
    """Return the rounds to train on and those held out; all rounds of a source are on the same side.

    A source decides by a hash, so that the sides do not depend on the order of the log.
    """
    training: list[LoggedRound] = []
    held_out: list[LoggedRound] = []
    for each in rounds:
        (held_out if _uniform(each.source, seed) < share else training).append(each)
    return training, held_out


def _uniform(text: str, seed: int) -> float:
    """Return a number in [0, 1) that depends on nothing but the text and the seed."""
    digest = blake2b(text.encode(), key=str(seed).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64


def batches(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield a sequence in consecutive batches of nearly equal size, none above ``size``."""
    number = math.ceil(len(order) / size)
    for part in range(number):
        yield order[part * len(order) // number : (part + 1) * len(order) // number]
