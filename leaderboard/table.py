"""The leaderboard of a phase: who earned what, how far from the oracle, and which differences are more than chance.

Only finished contestants are ranked. Baselines and oracles stand beside them, unfinished runs below. What a number
means is said by the signatures; ``docs/leaderboard-format.md`` describes every field.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from itertools import groupby
from typing import Any

from leaderboard.families import Families, Role, RoleKind
from leaderboard.metrics import bootstrap
from leaderboard.metrics.bleu import CORPUS_SIGNATURE
from leaderboard.metrics.bootstrap import Difference, Interval
from leaderboard.metrics.online import RelativeReward, relative_rewards, running_regret, sparse_checkpoints
from leaderboard.summaries import Summary, block_length
from task.layout import Layout
from task.rounds import TICKS

ABANDONED_AFTER_MS = 3 * 24 * 3600 * 1000  # milliseconds without a round
AXIS_BLOCKS = 4  # every so many ends of blocks are on the axis, so that curves are also smooth where k is linear
CURVE_DIGITS = 4  # decimals of cumulative rewards in curves


class RowStatus(StrEnum):
    """How a run came to stand where it stands."""

    FINISHED = "finished"
    RUNNING = "running"
    ABANDONED = "abandoned"  # unfinished, and nobody goes on with it


@dataclass(frozen=True, slots=True)
class HeldOutBlock:
    """The passes over the held-out block."""

    passes: int
    size: int  # sentences in the block
    ends: list[int]  # rounds played when each pass is over

    @classmethod
    def of(cls, layout: Layout) -> "HeldOutBlock":
        return cls(layout.blocks, layout.block, list(layout.pass_ends))


@dataclass(frozen=True, slots=True)
class BoardPhase:
    """The phase that is judged."""

    phase: str
    state: str  # open, frozen or closed
    total: int  # rounds of a finished run
    held_out: HeldOutBlock
    signature: str  # of the reward


@dataclass(frozen=True, slots=True)
class Regret:
    """How much less than the oracle a run earned per round."""

    oracle: str  # its run
    rounds: int  # up to where both are known
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the table."""

    run: str
    participant: str
    system: str
    attempt: int
    status: RowStatus
    role: RoleKind
    family: str | None
    rank: int | None
    group: int | None
    rounds: int
    progress: float
    reward: float
    mean_reward: float
    interval: Interval | None
    regret: Regret | None
    regrets: dict[str, float]
    gap_closed: float | None
    passes: list[RelativeReward]
    length_ratio: float | None
    speed: float | None
    opened_at: int
    first_at: int | None
    last_at: int | None
    curve: list[float]

    def as_dict(self) -> dict[str, Any]:
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        regret = asdict(self.regret) if self.regret else None
        return {**shallow, "regret": regret, "passes": [asdict(each) for each in self.passes]}


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of a phase."""

    phase: str
    state: str
    total: int
    visible: str  # "all" or "own"
    updated_at: int | None
    held_out: HeldOutBlock
    signatures: dict[str, str]
    checkpoints: list[int]
    rows: list[Row]

    def as_dict(self) -> dict[str, Any]:
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**shallow, "held_out": asdict(self.held_out), "rows": [row.as_dict() for row in self.rows]}


def make_board(
    contest: BoardPhase, summaries: Iterable[Summary], roles: Iterable[Role] = (), *, now: int, visible: str = "all"
) -> Board:
    """Judge the runs of a phase, as things stand at ``now`` (milliseconds since 1970)."""
    shown = _shown(summaries, contest.total)
    judge = _Judge(contest, shown, roles, now)
    rows = _ranked([judge.row(summary) for summary in shown], judge)
    return Board(
        contest.phase,
        contest.state,
        contest.total,
        visible,
        max((row.last_at for row in rows if row.last_at is not None), default=None),
        contest.held_out,
        {
            "reward": contest.signature,
            "corpus_bleu": CORPUS_SIGNATURE,
            "interval": f"bootstrap|paired:yes|block:{block_length(contest.total)}|n:{bootstrap.RESAMPLES}"
            f"|conf:{bootstrap.CONFIDENCE}|v:1",
        },
        judge.axis,
        rows,
    )


def _shown(summaries: Iterable[Summary], total: int) -> list[Summary]:
    """Of every system the newest finished run and the unfinished one; a run without a round has nothing to show."""
    newest: dict[tuple[str, str, bool], Summary] = {}
    for summary in summaries:
        key = (summary.identity.participant, summary.identity.system, summary.rounds >= total)
        if summary.rounds and (key not in newest or newest[key].identity.attempt < summary.identity.attempt):
            newest[key] = summary
    return list(newest.values())


class _Judge:
    """Judges the runs of one phase against each other."""

    def __init__(self, contest: BoardPhase, summaries: Sequence[Summary], roles: Iterable[Role], now: int) -> None:
        self._contest, self._now = contest, now
        self._summaries = {summary.identity.run: summary for summary in summaries}
        self._families = Families(summaries, roles, contest.total)
        self._blocks = {summary.identity.run: summary.blocks(contest.total) for summary in summaries}
        self._resampled: dict[tuple[str, int], list[float]] = {}
        ends = range(0, contest.total, AXIS_BLOCKS * block_length(contest.total))
        self.axis = sorted({*(k for k in sparse_checkpoints() if k < contest.total), *ends[1:], contest.total})

    def row(self, summary: Summary) -> Row:
        identity, tally = summary.identity, summary.record.total
        mean = tally.reward / tally.rounds
        return Row(
            run=identity.run,
            participant=identity.participant,
            system=identity.system,
            attempt=identity.attempt,
            status=self._status(summary),
            role=self._families.role(summary),
            family=self._families.family(summary),
            rank=None,  # known when all rows are
            group=None,
            rounds=tally.rounds,
            progress=tally.rounds / self._contest.total,
            reward=tally.reward,
            mean_reward=mean,
            interval=self._interval(mean, identity.run),
            regret=self._regret(summary),
            regrets={oracle.identity.run: _regret(oracle, summary)[1] for oracle in self._families.oracles},
            gap_closed=self._gap_closed(summary),
            passes=relative_rewards(summary.record.passes, size=self._contest.held_out.size),
            length_ratio=tally.length_ratio,
            speed=summary.speed,
            opened_at=identity.opened_at,
            first_at=summary.record.first_at,
            last_at=summary.record.last_at,
            curve=[round(summary.curve[k] / TICKS, CURVE_DIGITS) for k in self.axis if k <= tally.rounds],
        )

    def difference(self, better: str, worse: str) -> Difference | None:
        """How two finished runs differ; None if they are too short to tell."""
        first, second = self._blocks[better], self._blocks[worse]
        count = len(first.earned)
        if count < bootstrap.MIN_BLOCKS:
            return None
        resampled = self._resampled_difference(better, worse, count)
        observed = (first.mean - second.mean) / TICKS
        return Difference.from_resamples(observed, resampled, confidence=bootstrap.CONFIDENCE, blocks=count)

    def _status(self, summary: Summary) -> RowStatus:
        if summary.rounds >= self._contest.total:
            return RowStatus.FINISHED
        last_at = summary.record.last_at
        quiet = last_at is not None and self._now - last_at > ABANDONED_AFTER_MS
        return RowStatus.ABANDONED if quiet or self._contest.state == "closed" else RowStatus.RUNNING

    def _regret(self, summary: Summary) -> Regret | None:
        oracle = self._families.oracle(summary)
        if oracle is None:
            return None
        rounds, value = _regret(oracle, summary)
        return Regret(
            oracle.identity.run, rounds, value, self._interval(value, oracle.identity.run, summary.identity.run)
        )

    def _gap_closed(self, summary: Summary) -> float | None:
        oracle, static = self._families.oracle(summary), self._families.baseline(summary)
        if oracle is None or static is None:
            return None
        k = _last_common(oracle, static, summary)
        top, bottom = oracle.curve[k], static.curve[k]
        return (summary.curve[k] - bottom) / (top - bottom) if top > bottom else None

    def _interval(self, value: float, run: str, minus: str | None = None) -> Interval | None:
        """Around a mean of a run, or of the difference of two, known from the complete blocks."""
        count = len(self._blocks[run].earned)
        if minus is not None:
            count = min(count, len(self._blocks[minus].earned))
        if count < bootstrap.MIN_BLOCKS:
            return None
        resampled = self._means(run, count) if minus is None else self._resampled_difference(run, minus, count)
        middle = self._blocks[run].prefix(count).mean
        if minus is not None:
            middle -= self._blocks[minus].prefix(count).mean
        shift = value - middle / TICKS  # zero, but for the rounds since the last complete block of an unfinished run
        low, high = bootstrap.interval(resampled)
        return low + shift, high + shift

    def _resampled_difference(self, run: str, minus: str, count: int) -> list[float]:
        return [a - b for a, b in zip(self._means(run, count), self._means(minus, count), strict=True)]

    def _means(self, run: str, count: int) -> list[float]:
        """Resampled means of the first so many blocks of a run."""
        if (run, count) not in self._resampled:
            self._resampled[run, count] = [mean / TICKS for mean in self._blocks[run].prefix(count).resampled()]
        return self._resampled[run, count]


def _last_common(*summaries: Summary) -> int:
    """The last number of rounds after which it is known what each of them had earned: all know the first round."""
    k = min(summary.rounds for summary in summaries)
    if all(k in summary.curve for summary in summaries):
        return k
    shared = set.intersection(*(set(summary.record.curve) for summary in summaries))
    return max(shared)


def _regret(oracle: Summary, system: Summary) -> tuple[int, float]:
    k = _last_common(oracle, system)
    return k, running_regret(oracle.curve[k], system.curve[k], k)


def _ranked(rows: Sequence[Row], judge: _Judge) -> list[Row]:
    """Finished rows, best first and with their ranks and groups; then running ones, then abandoned, furthest first."""
    finished = sorted((row for row in rows if row.status is RowStatus.FINISHED), key=_by_reward)
    contestants = [row for row in finished if row.role is RoleKind.CONTESTANT]
    ranks, groups = _ranks(contestants), _groups(contestants, judge)
    others = sorted(
        (row for row in rows if row.status is not RowStatus.FINISHED),
        key=lambda row: (row.status is RowStatus.ABANDONED, -row.rounds, row.system, row.participant),
    )
    return [replace(row, rank=ranks.get(row.run), group=groups.get(row.run)) for row in finished] + others


def _by_reward(row: Row) -> tuple[float, int, str, str]:
    return -row.reward, row.last_at or 0, row.system, row.participant  # of equals, who was there first


def _ranks(contestants: Sequence[Row]) -> Mapping[str, int]:
    """Equal rewards share a rank, and the next rank counts them all: 1, 2, 2, 4."""
    ranks: dict[str, int] = {}
    for _, equals in groupby(contestants, key=lambda row: row.reward):
        ranks |= dict.fromkeys([row.run for row in equals], len(ranks) + 1)
    return ranks


def _groups(contestants: Sequence[Row], judge: _Judge) -> Mapping[str, int]:
    """Going down the table, a run that is significantly worse than the best of its group begins another."""
    groups: dict[str, int] = {}
    leader: str | None = None
    number = 0
    for row in contestants:
        found = judge.difference(leader, row.run) if leader else None
        if leader is None or (found is not None and found.significant):
            leader, number = row.run, number + 1
        groups[row.run] = number
    return groups
