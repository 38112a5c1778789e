"""What a run has earned so far: cumulative reward, running regret, relative reward on held-out passes.

A run is folded round by round into an ``OnlineRecord``. Rewards are summed as whole numbers of ticks (1e-12), which is
exact in any order and grouping: folding one round at a time, in blocks, or twice over the same rounds gives the same
record to the last bit.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from leaderboard.metrics.bleu import EMPTY, BleuStatistics, corpus_bleu

TICKS = 10**12  # of one reward; 1.3 million full rewards stay far below the largest 64-bit integer

CHECKPOINTS_PER_DECADE = 300  # keeps the curve of the largest run under 2,000 points
LARGEST_RUN = 4_000_000


def to_ticks(reward: float) -> int:
    """A reward in [0, 1] as a whole number of ticks; anything else is refused."""
    if not 0 <= reward <= 1:  # catches NaN too
        raise ValueError(f"a reward lies between 0 and 1, but this one is {reward}")
    return round(reward * TICKS)


class Round(NamedTuple):
    """One committed round, as the judge sees it."""

    position: int  # in the run, zero-based
    reward: float  # clean, whatever the learner was shown
    statistics: BleuStatistics
    held_out_pass: int | None
    committed_at: int | None = None  # milliseconds since 1970, where known


class GapError(ValueError):
    """Rounds were left out: a record can only be continued where it ends."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rewards and BLEU statistics of any set of rounds; tallies add up."""

    rounds: int = 0
    ticks: int = 0
    statistics: BleuStatistics = EMPTY

    @property
    def reward(self) -> float:
        return self.ticks / TICKS

    @property
    def mean_reward(self) -> float | None:
        return self.reward / self.rounds if self.rounds else None

    @property
    def corpus_bleu(self) -> float:
        """In BLEU points, 0 to 100."""
        return corpus_bleu(self.statistics)

    @property
    def mean_sentence_bleu(self) -> float | None:
        """In BLEU points, 0 to 100, to stand beside corpus BLEU."""
        return 100 * self.reward / self.rounds if self.rounds else None

    @property
    def length_ratio(self) -> float | None:
        """Tokens proposed per reference token; far from 1 it tells of runaway or starved outputs."""
        reference = self.statistics.reference_length
        return self.statistics.hypothesis_length / reference if reference else None


class _Sums:
    """A tally that is being added to: millions of rounds go through here."""

    __slots__ = ("_candidates", "_matches", "reference", "rounds", "ticks")

    def __init__(self, tally: Tally = Tally()) -> None:  # noqa: B008 (a tally cannot be changed)
        self.rounds, self.ticks = tally.rounds, tally.ticks
        self._matches, self._candidates = list(tally.statistics.matches), list(tally.statistics.candidates)
        self.reference = tally.statistics.reference_length

    def add(self, ticks: int, statistics: BleuStatistics) -> None:
        self.rounds += 1
        self.ticks += ticks
        (m1, m2, m3, m4), (c1, c2, c3, c4), reference = statistics
        mine, all_of_mine = self._matches, self._candidates
        mine[0] += m1
        mine[1] += m2
        mine[2] += m3
        mine[3] += m4
        all_of_mine[0] += c1
        all_of_mine[1] += c2
        all_of_mine[2] += c3
        all_of_mine[3] += c4
        self.reference += reference

    def tally(self) -> Tally:
        m1, m2, m3, m4 = self._matches
        c1, c2, c3, c4 = self._candidates
        return Tally(self.rounds, self.ticks, BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), self.reference))


@dataclass(frozen=True, slots=True)
class OnlineRecord:
    """All that the leaderboard needs to know of a run, in a few kilobytes."""

    total: Tally = Tally()
    passes: Mapping[int, Tally] = field(default_factory=dict)  # by held-out pass
    curve: Mapping[int, int] = field(default_factory=dict)  # ticks after k rounds
    stride: int = 0  # the curve is also sampled after every so many rounds, for resampling by blocks; 0 for never
    first_at: int | None = None  # when the first round was committed
    last_at: int | None = None

    def fold(self, rounds: Iterable[Round]) -> "OnlineRecord":
        """Continue with rounds in their order; those that are in the record already are passed over."""
        total, curve, stride, dense = _Sums(self.total), dict(self.curve), self.stride, _checkpoint_set()
        first_at, last_at = self.first_at, self.last_at
        passes = {number: _Sums(tally) for number, tally in self.passes.items()}
        for position, reward, statistics, held_out_pass, committed_at in rounds:
            if position != total.rounds:
                if position < total.rounds:
                    continue
                raise GapError(f"round {position:,} follows {total.rounds:,} rounds: the ones between are missing")
            if not position:
                first_at = committed_at
            last_at = committed_at
            ticks = to_ticks(reward)
            total.add(ticks, statistics)
            if held_out_pass is not None:
                passes.setdefault(held_out_pass, _Sums()).add(ticks, statistics)
            if total.rounds in dense or (stride and not total.rounds % stride):
                curve[total.rounds] = total.ticks
        done = {number: sums.tally() for number, sums in passes.items()}
        return OnlineRecord(total.tally(), done, curve, stride, first_at, last_at)


@cache
def checkpoints() -> tuple[int, ...]:
    """The rounds (counted from 1) at which every curve is sampled: all small ones, then evenly on a log axis."""
    return _log_spaced(1)


@cache
def sparse_checkpoints() -> tuple[int, ...]:
    """Every sixth of them: enough to draw a curve."""
    return _log_spaced(6)


def _log_spaced(stride: int) -> tuple[int, ...]:
    steps = math.ceil(CHECKPOINTS_PER_DECADE * math.log10(LARGEST_RUN))
    return tuple(sorted({int(10 ** (step / CHECKPOINTS_PER_DECADE) + 1e-9) for step in range(0, steps + 1, stride)}))


def is_checkpoint(rounds: int) -> bool:
    """Is a curve sampled after this many rounds?"""
    return rounds in _checkpoint_set()


@cache
def _checkpoint_set() -> frozenset[int]:
    return frozenset(checkpoints())


def cumulative_rewards(rewards: Iterable[float]) -> list[float]:
    """C_k for k = 1, 2, ... (card A7), without the drift of summing floats."""
    ticks, sums = 0, []
    for reward in rewards:
        ticks += to_ticks(reward)
        sums.append(ticks / TICKS)
    return sums


def running_regret(oracle: Mapping[int, int], system: Mapping[int, int]) -> dict[int, float]:
    """R_k = (C_oracle - C_system) / k wherever both curves (ticks after k rounds) are known (card A8)."""
    return {k: (oracle[k] - ticks) / TICKS / k for k, ticks in sorted(system.items()) if k in oracle}


@dataclass(frozen=True, slots=True)
class RelativeReward:
    """One held-out pass, absolute and against the first pass, in BLEU points (card A9)."""

    held_out_pass: int
    corpus_bleu: float
    sentence_bleu: float
    relative_corpus_bleu: float
    relative_sentence_bleu: float
    length_ratio: float | None


def relative_rewards(passes: Mapping[int, Tally], *, size: int) -> list[RelativeReward]:
    """The curve over held-out passes of ``size`` sentences; a pass that is still being played is left out."""
    complete = {number: tally for number, tally in sorted(passes.items()) if tally.rounds == size}
    if 0 not in complete:
        return []
    first_corpus, first_sentence = complete[0].corpus_bleu, 100 * complete[0].reward / size
    curve = []
    for number, tally in complete.items():
        corpus, sentence = tally.corpus_bleu, 100 * tally.reward / size
        relative = (corpus - first_corpus, sentence - first_sentence)
        curve.append(RelativeReward(number, corpus, sentence, *relative, tally.length_ratio))
    return curve
