"""Safeguards of a policy: outputs must neither grow, nor shrink, nor loop, nor lose their diversity.

Sentence BLEU pays for more than translation. A learner can earn more by saying everything twice, or by answering a name
with its one word that it knows, until corpus BLEU halves. And a policy that has stopped exploring cannot recover.

Lengths are compared among sources of like length: in a mean over all sources, short ones that shrink hide long ones
that grow.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import fmean

from leaderboard.metrics.loops import is_loop
from learners.bandit.replay import Experience
from learners.nmt.hypothesis import Hypothesis
from learners.settings import check_bounds
from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SafeguardConfig:
    """When the safeguards step in; by default, never: the published systems have none."""

    # Of output lengths to those of the first rounds, for sources of like length; None for no limit.
    max_length_ratio: float | None = None
    min_length_ratio: float | None = None  # likewise: shorter outputs are not imitated
    anchor_rounds: int = 500  # first rounds, which the lengths of later outputs are compared with
    length_bands: int = 5  # of sources, each with the same share of the first rounds
    exclude_loops: bool = False  # never imitate an output that repeats itself over and over
    min_entropy: float = 0.0  # nats per token below which samples have become too predictable
    entropy_bonus: float = 0.0  # reward per nat of entropy while they are
    negative_advantage_weight: float = 1.0  # less than 1: a bad sample says little about what would be better
    running_mean_decay: float = 0.99  # of the means of length and entropy: how slowly they follow the outputs

    def __post_init__(self) -> None:
        check_bounds(
            self,
            max_length_ratio=(0, None),
            min_length_ratio=(0, None),
            anchor_rounds=(1, None),
            length_bands=(1, None),
            min_entropy=(0, None),
            entropy_bonus=(0, None),
            negative_advantage_weight=(0, None),
            running_mean_decay=(0, 1),
        )


@dataclass(slots=True)
class LengthBand:
    """Sources of like length, and the mean log ratio of output to source length.

    The mean of logarithms makes half as long and twice as long the same change, and one output of the maximum length
    changes it little.
    """

    max_source_length: int  # the last band has longer sources, too
    anchor: float  # mean of the first rounds
    mean: float  # running mean


class Safeguards:
    """Watches the length, the loops and the entropy of outputs. Lengths are in tokens, with the end symbol."""

    def __init__(self, config: SafeguardConfig = SafeguardConfig()) -> None:  # noqa: B008 (cannot be changed)
        self._config = config
        self._rounds = 0
        self._entropy = 0.0  # running mean of -log p per token, which estimates the entropy
        self._first: list[tuple[int, float]] = []  # source length and log ratio of the first rounds, until they end
        self._bands: list[LengthBand] = []  # by length; empty during the first rounds

    def observe(self, output: Hypothesis) -> None:
        """Take an output into account, whatever it earned."""
        self._rounds += 1
        weight = max(1 - self._config.running_mean_decay, 1 / self._rounds)  # a plain mean at first
        self._entropy += weight * (-output.log_probability / len(output.ids) - self._entropy)
        source_length, log_ratio = len(output.source_ids), _log_ratio(output.source_ids, output.ids)
        if self._bands:
            band = self._band(source_length)
            band.mean += (1 - self._config.running_mean_decay) * (log_ratio - band.mean)
            return
        self._first.append((source_length, log_ratio))
        if len(self._first) >= self._config.anchor_rounds:
            self._bands, self._first = _split(self._first, self._config.length_bands), []

    def limit(self, advantage: float, source: str, output: Hypothesis) -> float:
        """Return the advantage to learn from.

        A negative advantage is weighted down. A positive one is 0 if the output loops, or if outputs of such sources
        have become too long and this one is longer than those of the first rounds; likewise if they are too short.
        """
        if advantage <= 0:
            return self._config.negative_advantage_weight * advantage
        if self._config.exclude_loops and is_loop(source, output.text):
            return 0.0
        return 0.0 if self._adds_to_drift(output.source_ids, output.ids) else advantage

    def without_drift(self, experiences: Sequence[Experience]) -> list[Experience]:
        """Return the experiences that may be imitated now: lengths may have drifted since they were stored."""
        return [one for one in experiences if not self._adds_to_drift(one.source, one.target)]

    @property
    def entropy_weight(self) -> float:
        """The current reward per nat of entropy."""
        return self._config.entropy_bonus if self._entropy < self._config.min_entropy else 0.0

    def save(self) -> Snapshot:
        return Snapshot(
            values={
                "rounds": self._rounds,
                "entropy": self._entropy,
                "first": [list(one) for one in self._first],
                "bands": [list(astuple(band)) for band in self._bands],
            }
        )

    def load(self, snapshot: Snapshot) -> None:
        self._rounds, self._entropy = snapshot.values["rounds"], snapshot.values["entropy"]
        self._first = [(length, ratio) for length, ratio in snapshot.values["first"]]
        self._bands = [LengthBand(*values) for values in snapshot.values["bands"]]

    def _band(self, source_length: int) -> LengthBand:
        position = bisect_left(self._bands, source_length, key=lambda band: band.max_source_length)
        return self._bands[min(position, len(self._bands) - 1)]

    def _adds_to_drift(self, source: Sequence[int], output: Sequence[int]) -> bool:
        """Whether outputs of such sources are too long and this one is long, or too short and this one is short."""
        if not self._bands:
            return False
        band, shortest, longest = self._band(len(source)), self._config.min_length_ratio, self._config.max_length_ratio
        drift, own = math.exp(band.mean - band.anchor), _log_ratio(source, output) - band.anchor
        has_grown = longest is not None and drift > longest
        has_shrunk = shortest is not None and drift < shortest
        return (has_grown and own > 0) or (has_shrunk and own < 0)


def _log_ratio(source: Sequence[int], output: Sequence[int]) -> float:
    return math.log(len(output) / len(source))


def _split(rounds: Sequence[tuple[int, float]], bands: int) -> list[LengthBand]:
    """Return at most so many bands of source lengths, each with at least its share of the rounds.

    Bands follow the lengths that occur, because a band with few rounds has no mean to compare with: a length that few
    sources have is in one band with its neighbours.
    """
    counts = Counter(length for length, _ in rounds)
    ends, waiting = [], 0
    for length in sorted(counts):
        waiting += counts[length]
        if waiting >= len(rounds) / bands:
            ends.append(length)
            waiting = 0
    ratios: list[list[float]] = [[] for _ in ends]
    for length, ratio in rounds:
        ratios[min(bisect_left(ends, length), len(ends) - 1)].append(ratio)
    return [LengthBand(end, mean, mean) for end, mean in zip(ends, map(fmean, ratios), strict=True)]
