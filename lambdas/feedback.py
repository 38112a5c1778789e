"""The one number a participant is told: smoothed sentence BLEU, optionally perturbed.

What is perturbed is only what the learner sees; accounts are kept with the clean score. A perturbation is a pure
function of (task seed, run, round), so a repeated request is answered alike and a run can be replayed.
"""

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple, Protocol

from leaderboard.metrics import bleu


class FeedbackError(ValueError):
    """A perturbation that does not exist, or with a parameter that it cannot have."""


class Perturbation(Protocol):
    """A way to blur a score in [0, 1], given a uniform draw from (0, 1)."""

    def apply(self, score: float, uniform: float) -> float: ...


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise FeedbackError(message)


@dataclass(frozen=True, slots=True)
class Granular:
    """Rounds to ``grades`` equal steps: 1 is thumbs up or down, 5 is stars."""

    grades: float

    def __post_init__(self) -> None:
        whole = math.isfinite(self.grades) and self.grades == int(self.grades)
        _require(whole and self.grades >= 1, "granular needs a whole number of grades from 1")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002 (no noise in this one)
        return math.floor(self.grades * score + 0.5) / self.grades  # Python's round() goes half to even


@dataclass(frozen=True, slots=True)
class HighVariance:
    """Adds Gaussian noise whose spread is that of human judges: largest for middling translations, none at the ends."""

    scale: float

    def __post_init__(self) -> None:
        _require(self.scale > 0 and math.isfinite(self.scale), "high-variance needs a positive scale")

    def deviation(self, score: float) -> float:
        # the slopes fitted to human ratings by Nguyen, Daume and Boyd-Graber (2017)
        return self.scale * max(0.0, min(0.64 * score, 0.67 - 0.67 * score))

    def apply(self, score: float, uniform: float) -> float:
        noisy = score + self.deviation(score) * NormalDist().inv_cdf(uniform)
        return min(1.0, max(0.0, noisy))


@dataclass(frozen=True, slots=True)
class Skewed:
    """Raises the score to a power: above 1 a harsh judge, below 1 a generous one."""

    power: float

    def __post_init__(self) -> None:
        _require(self.power > 0 and math.isfinite(self.power), "skewed needs a positive power")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002
        return math.pow(score, self.power)


@dataclass(frozen=True, slots=True)
class Binary:
    """Accepts (1) from a threshold on, else rejects (0)."""

    threshold: float

    def __post_init__(self) -> None:
        _require(0 < self.threshold <= 1, "binary needs a threshold above 0 and up to 1")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002
        return float(score >= self.threshold)


KINDS: dict[str, Callable[[float], Perturbation]] = {
    "granular": Granular,
    "high-variance": HighVariance,
    "skewed": Skewed,
    "binary": Binary,
}


def parse_perturbation(text: str) -> Perturbation | None:
    """Read ``none``, or a kind and its parameter such as ``granular:5`` or ``binary:0.3``."""
    if text == "none":
        return None
    found = re.fullmatch(r"([a-z-]+):(\d+(?:\.\d+)?)", text, re.ASCII)
    if not found or found[1] not in KINDS:
        known = ", ".join(f"{kind}:NUMBER" for kind in KINDS)
        raise FeedbackError(f"unknown feedback perturbation {text!r}; known are none, {known}")
    return KINDS[found[1]](float(found[2]))


class Verdict(NamedTuple):
    """The outcome of one round."""

    shown: float  # what the participant is told
    clean: float  # what the accounts are kept with
    statistics: bleu.BleuStatistics


@dataclass(frozen=True, slots=True)
class Feedback:
    """The reward of a task: sentence BLEU, and how it is blurred before a learner sees it."""

    perturbation: str = "none"  # as parse_perturbation reads it
    seed: int = 0  # of the task
    _blur: Perturbation | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_blur", parse_perturbation(self.perturbation))

    @property
    def signature(self) -> str:
        """What the number means, in the manner of sacreBLEU. The seed is left out: with it, noise could be undone."""
        return bleu.SENTENCE_SIGNATURE + ("" if self._blur is None else f"|perturb:{self.perturbation}")

    def judge(self, translation: str, reference: str, *, run: str, index: int) -> Verdict:
        """Score one translation of round ``index`` of ``run``."""
        counts = bleu.statistics(translation, reference)
        clean = bleu.score(counts)
        if self._blur is None:
            return Verdict(clean, clean, counts)
        return Verdict(self._blur.apply(clean, self._uniform(run, index)), clean, counts)

    def _uniform(self, run: str, index: int) -> float:
        """A draw from (0, 1) that anybody with the seed can repeat, on any machine."""
        digest = hashlib.sha256(f"{self.seed}\0{run}\0{index}".encode()).digest()
        return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48
