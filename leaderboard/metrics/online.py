"""The three online metrics of a run: cumulative reward, running regret, and relative reward on held-out passes.

They are those of Sokolov et al. 2017, section 3. A run is folded round by round into an ``OnlineRecord``. Rewards are
summed in ticks, so the record is exact: folding one round at a time, in batches, or some rounds twice gives the same
record to the last bit.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from leaderboard.metrics.adaptation import AdaptationRecord, AdaptationSums
from leaderboard.metrics.bleu import EMPTY_STATISTICS, BleuStatistics, corpus_bleu
from task.layout import Layout
from task.rounds import TICKS, RoundResult, to_ticks

CHECKPOINTS_PER_DECADE = 300  # keeps the curve of the largest run under 2,000 points
SPARSE_STEP = 6  # every sixth checkpoint is enough to draw a curve
COARSE_STEP = 4  # blocks in a coarse block: a run has at most 50, enough for a learning curve and a smooth line
MAX_ROUNDS = 4_000_000  # of a run whose curve has checkpoints to its end


class GapError(ValueError):
    """Rounds are missing: a record can only be continued where it ends."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The rewards and BLEU statistics of any set of rounds. Tallies add up."""

    rounds: int = 0
    ticks: int = 0
    statistics: BleuStatistics = EMPTY_STATISTICS
    longer_references: int = 0  # of two or more words
    single_words: int = 0  # longer references that were answered with one word

    def minus(self, other: "Tally") -> "Tally":
        """Return the tally of the rounds that the other tally, of an earlier time, does not cover."""
        return Tally(
            self.rounds - other.rounds,
            self.ticks - other.ticks,
            self.statistics.minus(other.statistics),
            self.longer_references - other.longer_references,
            self.single_words - other.single_words,
        )

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
    def length_ratio(self) -> float | None:
        """Proposed tokens per reference token. Far from 1, outputs run away or are cut short."""
        reference = self.statistics.reference_length
        return self.statistics.hypothesis_length / reference if reference else None

    @property
    def single_word_share(self) -> float | None:
        """The share of longer references that were answered with one word, which sentence BLEU rewards most."""
        return self.single_words / self.longer_references if self.longer_references else None


class _Sums:
    """A tally that is being added to: millions of rounds pass through here."""

    __slots__ = ("_candidates", "_matches", "longer_references", "reference", "rounds", "single_words", "ticks")

    def __init__(self, tally: Tally = Tally()) -> None:  # noqa: B008 (a tally cannot be changed)
        self.rounds, self.ticks = tally.rounds, tally.ticks
        self._matches, self._candidates = list(tally.statistics.matches), list(tally.statistics.candidates)
        self.reference = tally.statistics.reference_length
        self.longer_references, self.single_words = tally.longer_references, tally.single_words

    def add(self, ticks: int, statistics: BleuStatistics) -> None:
        self.rounds += 1
        self.ticks += ticks
        (m1, m2, m3, m4), (c1, c2, c3, c4), reference = statistics
        matches, candidates = self._matches, self._candidates
        matches[0] += m1
        matches[1] += m2
        matches[2] += m3
        matches[3] += m4
        candidates[0] += c1
        candidates[1] += c2
        candidates[2] += c3
        candidates[3] += c4
        self.reference += reference
        if reference > 1:
            self.longer_references += 1
            if c1 == 1:
                self.single_words += 1

    def tally(self) -> Tally:
        m1, m2, m3, m4 = self._matches
        c1, c2, c3, c4 = self._candidates
        statistics = BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), self.reference)
        return Tally(self.rounds, self.ticks, statistics, self.longer_references, self.single_words)


@dataclass(frozen=True, slots=True)
class OnlineRecord:
    """All that the leaderboard needs to know of a run, in a few kilobytes."""

    total: Tally = Tally()
    passes: Mapping[int, Tally] = field(default_factory=dict)  # by held-out pass
    curve: Mapping[int, int] = field(default_factory=dict)  # ticks after k rounds
    stride: int = 0  # the curve is also sampled after every so many rounds, for resampling by blocks; 0 for never
    first_at: int | None = None  # when the first round was committed
    last_at: int | None = None
    adaptation: AdaptationRecord | None = None  # in a post-edit phase
    late: Mapping[int, Tally] = field(default_factory=dict)  # where the last quarter begins, and after blocks within it
    head: bytes = b""  # the link of the last round

    def last_quarter(self, total: int) -> Tally | None:
        """Return the rounds in the last quarter of a phase of ``total`` rounds, or None before the first of them."""
        start = last_quarter_start(total)
        if self.total.rounds <= start or (start and start not in self.late):  # there is none in early summaries
            return None
        return self.total.minus(self.late[start]) if start else self.total

    def fold(self, results: Iterable[RoundResult], layout: Layout) -> "OnlineRecord":
        """Return the record continued with further rounds in their order; rounds that it has already are skipped.

        Raises GapError if rounds are missing between the record and ``results``, and ValueError if the statistics of a
        round are not those of the phase.
        """
        total, stride, dense = _Sums(self.total), self.stride, _checkpoint_set()
        first_at, last_at, head = self.first_at, self.last_at, self.head
        passes = {number: _Sums(tally) for number, tally in self.passes.items()}
        held_out: _Sums | None = None
        segment_end = 0  # up to where held_out is known
        quarter = last_quarter_start(layout.total)
        adaptation = None if self.adaptation is None else AdaptationSums(self.adaptation)
        unpack = BleuStatistics.from_bytes if adaptation is None else adaptation.add
        samples = _Samples(dict(self.curve), dict(self.late), adaptation, stride, quarter)
        for index, reward, packed, committed_at, link in results:
            if index != total.rounds:
                if index < total.rounds:
                    continue
                raise GapError(f"round {index:,} follows {total.rounds:,} rounds: the ones between are missing")
            if index >= segment_end:
                held_out_pass, segment_end = layout.segment(index)
                held_out = None if held_out_pass is None else passes.setdefault(held_out_pass, _Sums())
            if not index:
                first_at = committed_at
            last_at, head = committed_at, link
            statistics = unpack(packed)
            ticks = to_ticks(reward)
            total.add(ticks, statistics)
            if held_out is not None:
                held_out.add(ticks, statistics)
            if total.rounds in dense or total.rounds == quarter or (stride and not total.rounds % stride):
                samples.take(total)
        done = {number: sums.tally() for number, sums in passes.items()}
        adapted = None if adaptation is None else adaptation.record()
        return OnlineRecord(total.tally(), done, samples.curve, stride, first_at, last_at, adapted, samples.late, head)


@dataclass(slots=True)
class _Samples:
    """What is remembered of a run after some of its rounds."""

    curve: dict[int, int]
    late: dict[int, Tally]
    adaptation: AdaptationSums | None
    stride: int
    quarter: int  # rounds before the last quarter

    def take(self, total: _Sums) -> None:
        """Remember the sums as they are after the last round, in all curves that are sampled there."""
        rounds, stride = total.rounds, self.stride
        ends_block = bool(stride) and not rounds % stride
        if ends_block or rounds in _checkpoint_set():
            self.curve[rounds] = total.ticks
        if rounds == self.quarter or (ends_block and rounds > self.quarter):
            self.late[rounds] = total.tally()
        if self.adaptation is not None and ends_block and not rounds % (COARSE_STEP * stride):
            self.adaptation.sample()


def last_quarter_start(total: int) -> int:
    """Return the number of rounds before the last quarter of a phase of ``total`` rounds."""
    return 3 * total // 4


@cache
def checkpoints() -> tuple[int, ...]:
    """Return the rounds (counted from 1) at which every curve is sampled: all small ones, then evenly on a log axis."""
    return _log_spaced(1)


@cache
def sparse_checkpoints() -> tuple[int, ...]:
    """Return a sixth of the checkpoints: enough to draw a curve."""
    return _log_spaced(SPARSE_STEP)


def _log_spaced(step: int) -> tuple[int, ...]:
    exponents = range(0, math.ceil(CHECKPOINTS_PER_DECADE * math.log10(MAX_ROUNDS)) + 1, step)
    return tuple(sorted({int(10 ** (exponent / CHECKPOINTS_PER_DECADE) + 1e-9) for exponent in exponents}))


@cache
def _checkpoint_set() -> frozenset[int]:
    return frozenset(checkpoints())


def coarse_ends(rounds: int, stride: int) -> range:
    """Return the rounds at which complete coarse blocks end, up to ``rounds``; none without blocks."""
    step = COARSE_STEP * stride
    return range(step, rounds + 1, step) if step else range(0)


def cumulative_rewards(rewards: Iterable[float]) -> Iterator[float]:
    """Yield the cumulative reward C_k after k = 1, 2, ... rounds, without the drift of summing floats."""
    ticks = 0
    for reward in rewards:
        ticks += to_ticks(reward)
        yield ticks / TICKS


def running_regret(oracle_ticks: int, system_ticks: int, rounds: int) -> float:
    """Return R_k = (C_oracle - C_system) / k, the mean regret per round after k rounds."""
    return (oracle_ticks - system_ticks) / TICKS / rounds


@dataclass(frozen=True, slots=True)
class RelativeReward:
    """The reward of one held-out pass in BLEU points, absolute and relative to the first pass."""

    held_out_pass: int
    corpus_bleu: float
    sentence_bleu: float
    relative_corpus_bleu: float
    relative_sentence_bleu: float
    length_ratio: float | None


def relative_rewards(passes: Mapping[int, Tally], *, size: int) -> list[RelativeReward]:
    """Return the curve over the held-out passes of ``size`` sentences, without a pass that is not complete yet."""
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
