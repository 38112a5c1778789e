"""The leaderboard of a phase: rewards, regret against the oracle, and which differences are significant.

Only finished contestants are ranked. Baselines and oracles are listed beside them, unfinished runs below. Signatures
say how the numbers were computed; ``docs/leaderboard-format.md`` describes every field.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from itertools import groupby
from typing import Any

from leaderboard.families import Families, Role, RoleKind
from leaderboard.last_quarter import LastQuarter, last_quarter
from leaderboard.measures import (
    Adaptation,
    BoardMeasure,
    Estimate,
    board_measures,
    coarse_block_length,
    measure_run,
    measure_signatures,
)
from leaderboard.metrics import bootstrap
from leaderboard.metrics.bleu import CORPUS_SIGNATURE
from leaderboard.metrics.bootstrap import Difference, Interval
from leaderboard.metrics.online import RelativeReward, coarse_ends, relative_rewards, running_regret, sparse_checkpoints
from leaderboard.profiles import Profiles
from leaderboard.summaries import Summary, block_length
from task.feedback import FeedbackKind
from task.layout import Layout
from task.rounds import TICKS

ABANDONED_AFTER_MS = 3 * 24 * 3600 * 1000  # without a round
CURVE_DECIMALS = 4  # of cumulative rewards in curves


class RowStatus(StrEnum):
    """Whether a run is finished, and if not, whether anyone is still playing it."""

    FINISHED = "finished"
    RUNNING = "running"
    ABANDONED = "abandoned"  # unfinished, and either the phase is closed or no round came for three days


@dataclass(frozen=True, slots=True)
class HeldOutBlock:
    """The held-out block of a phase, and the passes over it."""

    passes: int
    size: int  # sentences in the block
    ends: list[int]  # rounds played at the end of each pass

    @classmethod
    def of(cls, layout: Layout) -> "HeldOutBlock":
        return cls(layout.blocks, layout.block, list(layout.pass_ends))


@dataclass(frozen=True, slots=True)
class BoardPhase:
    """What the leaderboard needs to know of a phase."""

    name: str
    state: str  # open, frozen or closed
    total: int  # rounds of a finished run
    held_out: HeldOutBlock
    signature: str  # of the reward
    post_edits: bool = False  # whether participants are shown references, so that adaptation is measured
    language: str = ""  # of the references


@dataclass(frozen=True, slots=True)
class Regret:
    """How much less reward per round than the oracle a run earned."""

    oracle: str  # the oracle's run
    rounds: int  # the last number of rounds for which both cumulative rewards are known
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class RewardGain:
    """How much more reward per round than its baseline a run earned."""

    baseline: str  # the baseline's run
    rounds: int  # the last number of rounds for which both cumulative rewards are known
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the table."""

    run: str
    participant: str
    system: str
    attempt: int
    display_name: str | None  # of the participant
    affiliation: str | None
    team_url: str | None
    system_description: str | None
    system_link: str | None
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
    baseline: str | None  # the run that differences are drawn against
    measures: dict[str, Estimate | None]  # by name; None where nothing could be measured
    adaptation: Adaptation | None  # in a post-edit phase
    reward_gain: RewardGain | None  # over the baseline
    full_information_share: float | None  # share of the gain of the full-information run
    single_words: float | None  # share of references of two or more words that were answered with one
    last_quarter: LastQuarter | None  # None until the run gets there

    @property
    def is_marked(self) -> bool:
        """Whether the run earned more than its baseline in the last quarter, but with lower corpus BLEU."""
        return self.last_quarter is not None and self.last_quarter.is_marked

    def as_dict(self) -> dict[str, Any]:
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        regret = asdict(self.regret) if self.regret else None
        return {
            **shallow,
            "regret": regret,
            "passes": [asdict(each) for each in self.passes],
            "measures": {name: each and asdict(each) for name, each in self.measures.items()},
            "adaptation": self.adaptation and self.adaptation.as_dict(),
            "reward_gain": self.reward_gain and asdict(self.reward_gain),
            "last_quarter": self.last_quarter and asdict(self.last_quarter),
        }


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
    feedback: str  # "bandit" or "post-edit"
    block: int  # rounds in a coarse block, by which learning curves are fitted
    measures: list[BoardMeasure]

    @property
    def shows_post_edits(self) -> bool:
        return self.feedback == FeedbackKind.POST_EDIT

    def as_dict(self) -> dict[str, Any]:
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **shallow,
            "held_out": asdict(self.held_out),
            "rows": [row.as_dict() for row in self.rows],
            "measures": [asdict(each) for each in self.measures],
        }


def make_board(
    phase: BoardPhase,
    summaries: Iterable[Summary],
    roles: Iterable[Role] = (),
    profiles: Profiles | None = None,
    *,
    now: int,
    visible: str = "all",
) -> Board:
    """Return the leaderboard of a phase as of ``now``, in milliseconds since 1970."""
    shown = _newest_runs(summaries, phase.total)
    evaluation = _Evaluation(phase, shown, roles, profiles or Profiles(), now)
    rows = _rank([evaluation.row(summary) for summary in shown], evaluation)
    measures = board_measures(phase.total, post_edits=phase.post_edits, language=phase.language)
    return Board(
        phase.name,
        phase.state,
        phase.total,
        visible,
        max((row.last_at for row in rows if row.last_at is not None), default=None),
        phase.held_out,
        {
            "reward": phase.signature,
            "corpus_bleu": CORPUS_SIGNATURE,
            "interval": f"bootstrap|paired:yes|block:{block_length(phase.total)}|n:{bootstrap.RESAMPLES}"
            f"|conf:{bootstrap.CONFIDENCE}|v:1",
            **measure_signatures(measures, phase.total),
        },
        evaluation.axis,
        rows,
        (FeedbackKind.POST_EDIT if phase.post_edits else FeedbackKind.BANDIT).value,
        coarse_block_length(phase.total),
        measures,
    )


def _newest_runs(summaries: Iterable[Summary], total: int) -> list[Summary]:
    """Return the newest finished and the newest unfinished run of every system; runs without a round are left out."""
    newest: dict[tuple[str, str, bool], Summary] = {}
    for summary in summaries:
        key = (summary.identity.participant, summary.identity.system, summary.rounds >= total)
        if summary.rounds and (key not in newest or newest[key].identity.attempt < summary.identity.attempt):
            newest[key] = summary
    return list(newest.values())


class _Evaluation:
    """The comparison of all runs of one phase with each other."""

    def __init__(
        self, phase: BoardPhase, summaries: Sequence[Summary], roles: Iterable[Role], profiles: Profiles, now: int
    ) -> None:
        self._phase, self._profiles, self._now = phase, profiles, now
        self._summaries = {summary.identity.run: summary for summary in summaries}
        self._families = Families(summaries, roles, phase.total)
        self._blocks = {summary.identity.run: summary.blocks(phase.total) for summary in summaries}
        self._resampled: dict[tuple[str, int], list[float]] = {}
        ends = coarse_ends(phase.total, block_length(phase.total))
        self.axis = sorted({*(k for k in sparse_checkpoints() if k < phase.total), *ends, phase.total})

    def row(self, summary: Summary) -> Row:
        identity, tally = summary.identity, summary.record.total
        measured = measure_run(summary, self._phase.total)
        baseline = self._families.nearest_baseline(summary)
        mean = tally.reward / tally.rounds
        team = self._profiles.team(identity.participant)
        about = self._profiles.system(identity.participant, identity.system)
        return Row(
            run=identity.run,
            participant=identity.participant,
            system=identity.system,
            attempt=identity.attempt,
            display_name=team.display_name,
            affiliation=team.affiliation,
            team_url=team.url,
            system_description=about.description,
            system_link=about.link,
            status=self._status(summary),
            role=self._families.role(summary),
            family=self._families.family(summary),
            rank=None,  # set when all rows are known
            group=None,
            rounds=tally.rounds,
            progress=tally.rounds / self._phase.total,
            reward=tally.reward,
            mean_reward=mean,
            interval=self._interval(mean, identity.run),
            regret=self._regret(summary),
            regrets={oracle.identity.run: _regret(oracle, summary)[1] for oracle in self._families.oracles},
            gap_closed=self._gap_closed(summary),
            passes=relative_rewards(summary.record.passes, size=self._phase.held_out.size),
            length_ratio=tally.length_ratio,
            speed=summary.speed,
            opened_at=identity.opened_at,
            first_at=summary.record.first_at,
            last_at=summary.record.last_at,
            curve=[round(summary.curve[k] / TICKS, CURVE_DECIMALS) for k in self.axis if k <= tally.rounds],
            baseline=baseline.identity.run if baseline else None,
            measures=measured.estimates,
            adaptation=measured.adaptation,
            reward_gain=None if baseline is None or baseline is summary else self._reward_gain(summary, baseline),
            full_information_share=self._full_information_share(summary),
            single_words=tally.single_word_share,
            last_quarter=last_quarter(summary, baseline, self._phase.total),
        )

    def difference(self, better: str, worse: str) -> Difference | None:
        """Return the difference of two finished runs, or None if they have too few blocks for a test."""
        first, second = self._blocks[better], self._blocks[worse]
        count = len(first.earned)
        if count < bootstrap.MIN_BLOCKS:
            return None
        resampled = self._resampled_difference(better, worse, count)
        observed = (first.mean - second.mean) / TICKS
        return Difference.from_resamples(observed, resampled, confidence=bootstrap.CONFIDENCE, blocks=count)

    def _status(self, summary: Summary) -> RowStatus:
        if summary.rounds >= self._phase.total:
            return RowStatus.FINISHED
        last_at = summary.record.last_at
        quiet = last_at is not None and self._now - last_at > ABANDONED_AFTER_MS
        return RowStatus.ABANDONED if quiet or self._phase.state == "closed" else RowStatus.RUNNING

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
        return None if oracle is None or static is None else _share(summary, static, oracle)

    def _full_information_share(self, summary: Summary) -> float | None:
        compared = self._families.full_information(summary)
        if compared is None:
            return None
        full, static = compared
        return _share(summary, static, full)

    def _reward_gain(self, summary: Summary, baseline: Summary) -> RewardGain:
        k = _last_common(baseline, summary)
        value = (summary.curve[k] - baseline.curve[k]) / TICKS / k
        run, minus = summary.identity.run, baseline.identity.run
        return RewardGain(minus, k, value, self._interval(value, run, minus))

    def _interval(self, value: float, run: str, minus: str | None = None) -> Interval | None:
        """Return the interval around the mean of a run, or around the difference of two means.

        It is estimated from the complete blocks, and None if they are too few.
        """
        count = len(self._blocks[run].earned)
        if minus is not None:
            count = min(count, len(self._blocks[minus].earned))
        if count < bootstrap.MIN_BLOCKS:
            return None
        resampled = self._means(run, count) if minus is None else self._resampled_difference(run, minus, count)
        middle = self._blocks[run].prefix(count).mean
        if minus is not None:
            middle -= self._blocks[minus].prefix(count).mean
        shift = value - middle / TICKS  # not zero only if an unfinished run has rounds after its last complete block
        low, high = bootstrap.percentile_interval(resampled)
        return low + shift, high + shift

    def _resampled_difference(self, run: str, minus: str, count: int) -> list[float]:
        return [a - b for a, b in zip(self._means(run, count), self._means(minus, count), strict=True)]

    def _means(self, run: str, count: int) -> list[float]:
        """Return the resampled means of the first ``count`` blocks of a run."""
        if (run, count) not in self._resampled:
            self._resampled[run, count] = [mean / TICKS for mean in self._blocks[run].prefix(count).resampled()]
        return self._resampled[run, count]


def _last_common(*summaries: Summary) -> int:
    """Return the largest number of rounds for which all cumulative rewards are known; the first round always is."""
    k = min(summary.rounds for summary in summaries)
    if all(k in summary.curve for summary in summaries):
        return k
    shared = set.intersection(*(set(summary.record.curve) for summary in summaries))
    return max(shared)


def _share(summary: Summary, bottom: Summary, top: Summary) -> float | None:
    """Return how far a run has come from one run (0) to another (1); None if there is nothing between them."""
    k = _last_common(top, bottom, summary)
    low, high = bottom.curve[k], top.curve[k]
    return (summary.curve[k] - low) / (high - low) if high > low else None


def _regret(oracle: Summary, system: Summary) -> tuple[int, float]:
    k = _last_common(oracle, system)
    return k, running_regret(oracle.curve[k], system.curve[k], k)


def _rank(rows: Sequence[Row], evaluation: _Evaluation) -> list[Row]:
    """Return finished rows with ranks and groups, best first, then running and abandoned rows by rounds played."""
    finished = sorted((row for row in rows if row.status is RowStatus.FINISHED), key=_by_reward)
    contestants = [row for row in finished if row.role is RoleKind.CONTESTANT]
    ranks, groups = _ranks(contestants), _groups(contestants, evaluation)
    others = sorted(
        (row for row in rows if row.status is not RowStatus.FINISHED),
        key=lambda row: (row.status is RowStatus.ABANDONED, -row.rounds, row.system, row.participant),
    )
    return [replace(row, rank=ranks.get(row.run), group=groups.get(row.run)) for row in finished] + others


def _by_reward(row: Row) -> tuple[float, int, str, str]:
    return -row.reward, row.last_at or 0, row.system, row.participant  # on ties, who finished first


def _ranks(contestants: Sequence[Row]) -> Mapping[str, int]:
    """Return the rank of each run. Equal rewards share a rank, and the next ranks are skipped: 1, 2, 2, 4."""
    ranks: dict[str, int] = {}
    for _, equals in groupby(contestants, key=lambda row: row.reward):
        ranks |= dict.fromkeys([row.run for row in equals], len(ranks) + 1)
    return ranks


def _groups(contestants: Sequence[Row], evaluation: _Evaluation) -> Mapping[str, int]:
    """Return the group of each run: a run that is significantly worse than the best of a group begins the next."""
    groups: dict[str, int] = {}
    leader: str | None = None
    number = 0
    for row in contestants:
        found = evaluation.difference(leader, row.run) if leader else None
        if leader is None or (found is not None and found.significant):
            leader, number = row.run, number + 1
        groups[row.run] = number
    return groups
