"""What feedback a phase gives: one number or a post-edit too, by which metric, and with which noise.

Noise changes only the observed reward. The leaderboard sums true rewards. Noise is a pure function of the score and of
a uniform draw, so the service can answer a resent request with the same reward, and a run can be replayed.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple, Protocol

NO_NOISE = "none"
MAX_COARSE_GRADES = 20  # of granular feedback that does not tell how many n-grams match


class FeedbackError(ValueError):
    """Feedback noise does not exist, or has a parameter that it cannot have."""


class FeedbackKind(StrEnum):
    """What a participant receives for a translation."""

    BANDIT = "bandit"  # one number; references never leave the service
    POST_EDIT = "post-edit"  # the number, and the reference as a translator's correction (Simianer et al. 2019)


class Metric(NamedTuple):
    """What scores a translation against its reference."""

    name: str
    signature: str  # what the number means, in the manner of sacreBLEU


# Smoothed as Sokolov et al. 2017, section 2: a zero n-gram count becomes 0.01.
SENTENCE_BLEU = Metric(
    "sentence-bleu", "sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1"
)
CHRF = Metric("chrf", "sentChrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v:1")  # Popović 2016
METRICS = {metric.name: metric for metric in (SENTENCE_BLEU, CHRF)}


class FeedbackNoise(Protocol):
    """A way to change a score in [0, 1] before a learner sees it (Nguyen et al. 2017, section 4)."""

    def apply(self, score: float, uniform: float) -> float:
        """Return the noisy score, in [0, 1], given a uniform draw from (0, 1)."""


@dataclass(frozen=True, slots=True)
class Granular:
    """Rounds the score to ``grades`` equal steps: 1 is thumbs up or down, 5 is stars."""

    grades: float

    def __post_init__(self) -> None:
        whole = math.isfinite(self.grades) and self.grades == int(self.grades)
        _require(whole and self.grades >= 1, "granular needs a whole number of grades from 1")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002 (draws nothing)
        return math.floor(self.grades * score + 0.5) / self.grades  # Python's round() rounds half to even


@dataclass(frozen=True, slots=True)
class HighVariance:
    """Adds Gaussian noise with the spread of human raters: largest for middling translations, none at the ends."""

    scale: float

    def __post_init__(self) -> None:
        _require(self.scale > 0 and math.isfinite(self.scale), "high-variance needs a positive scale")

    def deviation(self, score: float) -> float:
        """Return the standard deviation at a score; the slopes were fitted to human ratings by Nguyen et al. 2017."""
        return self.scale * max(0.0, min(0.64 * score, 0.67 - 0.67 * score))

    def apply(self, score: float, uniform: float) -> float:
        noisy = score + self.deviation(score) * NormalDist().inv_cdf(uniform)
        return min(1.0, max(0.0, noisy))


@dataclass(frozen=True, slots=True)
class Skewed:
    """Raises the score to a power: a harsh rater above 1, a generous one below 1."""

    power: float

    def __post_init__(self) -> None:
        _require(self.power > 0 and math.isfinite(self.power), "skewed needs a positive power")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002
        return math.pow(score, self.power)


@dataclass(frozen=True, slots=True)
class Binary:
    """Accepts a translation (1) whose score reaches a threshold, and rejects any other (0)."""

    threshold: float

    def __post_init__(self) -> None:
        _require(0 < self.threshold <= 1, "binary needs a threshold above 0 and up to 1")

    def apply(self, score: float, uniform: float) -> float:  # noqa: ARG002
        return float(score >= self.threshold)


NOISE_KINDS: dict[str, Callable[[float], FeedbackNoise]] = {
    "granular": Granular,
    "high-variance": HighVariance,
    "skewed": Skewed,
    "binary": Binary,
}


def parse_noise(text: str) -> FeedbackNoise | None:
    """Parse ``none``, or a kind and its parameter such as ``granular:5`` or ``binary:0.3``.

    Raises FeedbackError naming the known kinds.
    """
    if text == NO_NOISE:
        return None
    found = re.fullmatch(r"([a-z-]+):(\d+(?:\.\d+)?)", text, re.ASCII)
    if not found or found[1] not in NOISE_KINDS:
        known = ", ".join(f"{kind}:NUMBER" for kind in NOISE_KINDS)
        raise FeedbackError(f"unknown feedback noise {text!r}; known are {NO_NOISE}, {known}")
    return NOISE_KINDS[found[1]](float(found[2]))


@dataclass(frozen=True, slots=True)
class FeedbackSpec:
    """The feedback of a phase: its kind, a metric, and the noise added to its score."""

    noise: str = NO_NOISE  # as parse_noise reads it
    seed: int = 0  # of the noise
    kind: FeedbackKind = FeedbackKind.BANDIT
    metric: Metric = SENTENCE_BLEU
    parsed_noise: FeedbackNoise | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parsed_noise", parse_noise(self.noise))

    @property
    def shows_post_edits(self) -> bool:
        return self.kind is FeedbackKind.POST_EDIT

    @property
    def has_noise(self) -> bool:
        return self.parsed_noise is not None

    @property
    def tells_counts(self) -> bool:
        """Whether an observed reward is precise enough to tell how many n-grams of an answer are in the reference.

        Then many answers to the same sentence reveal its reference (``benchmarks/extraction.py``).
        """
        match self.parsed_noise:
            case Granular(grades):
                return grades > MAX_COARSE_GRADES
            case HighVariance() | Binary():
                return False
        return True

    @property
    def signature(self) -> str:
        """What the reward means, in the manner of sacreBLEU. Leaves out the seed, with which noise could be undone."""
        return self.metric.signature + (f"|perturb:{self.noise}" if self.has_noise else "")


BANDIT_FEEDBACK = FeedbackSpec()  # as in the WMT 2017 task


def find_metric(name: str) -> Metric:
    """Return the metric of this name. Raises FeedbackError naming the known metrics."""
    if name not in METRICS:
        raise FeedbackError(f"unknown metric {name!r}; known are {', '.join(METRICS)}")
    return METRICS[name]


def find_kind(name: str) -> FeedbackKind:
    """Return the kind of feedback of this name. Raises FeedbackError naming the known kinds."""
    try:
        return FeedbackKind(name)
    except ValueError:
        raise FeedbackError(f"unknown feedback {name!r}; known are {', '.join(FeedbackKind)}") from None


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise FeedbackError(message)
