"""The comparison of all runs of a phase with each other: regret, gains, intervals, and what is significant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from leaderboard.consistency import CONSISTENCY, mean_accuracy, mean_of_seeds
from leaderboard.families import Families, Role
from leaderboard.gain_curve import GainCurve, gain_curve
from leaderboard.last_quarter import LastQuarter, last_quarter
from leaderboard.measures import Estimate, measure_run
from leaderboard.metrics import bootstrap
from leaderboard.metrics.bootstrap import Difference, Interval
from leaderboard.metrics.online import coarse_ends, relative_rewards, running_regret, sparse_checkpoints
from leaderboard.profiles import Profiles
from leaderboard.rows import BoardPhase, Lead, Regret, RewardGain, Row, RowStatus
from leaderboard.seeds import Coverage, cover_seeds, pool_seeds, system_without_seed
from leaderboard.summaries import Summary, block_length
from task.rounds import TICKS

ABANDONED_AFTER_MS = 3 * 24 * 3600 * 1000  # without a round
CURVE_DECIMALS = 4  # of cumulative rewards in curves


@dataclass(frozen=True, slots=True)
class Entry:
    """What becomes one row: a run, or several seeds of a system and their mean."""

    summary: Summary
    seeds: tuple[Summary, ...] = ()

    @property
    def run(self) -> str:
        return self.summary.identity.run


def entries(summaries: Iterable[Summary], total: int) -> list[Entry]:
    """Return one entry for every system: of its finished runs, and another one of its unfinished runs."""
    groups: dict[tuple[str, str, bool], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        key = (identity.participant, system_without_seed(identity.system), summary.rounds >= total)
        groups.setdefault(key, []).append(summary)
    return [
        Entry(pool_seeds(seeds), tuple(sorted(seeds, key=_by_seed))) if len(seeds) > 1 else Entry(seeds[0])
        for seeds in groups.values()
    ]


def _by_seed(summary: Summary) -> tuple[int, str]:
    return len(summary.identity.system), summary.identity.system  # X, X.s2, ..., X.s10


class RunComparison:
    """The comparison of all runs of one phase with each other."""

    def __init__(
        self, phase: BoardPhase, compared: Sequence[Entry], roles: Iterable[Role], profiles: Profiles, now: int
    ) -> None:
        self._phase, self._profiles, self._now = phase, profiles, now
        self._families = Families([entry.summary for entry in compared], roles, phase.total)
        self._seeds = {entry.run: entry.seeds for entry in compared}
        self._entry_of_seed = {seed.identity.run: entry.run for entry in compared for seed in entry.seeds}
        summaries = [summary for entry in compared for summary in (entry.summary, *entry.seeds)]
        self._blocks = {summary.identity.run: summary.blocks(phase.total) for summary in summaries}
        self._resampled: dict[tuple[str, int], list[float]] = {}
        self.has_consistency = any(self._consistency(summary) for summary in summaries)
        ends = coarse_ends(phase.total, block_length(phase.total))
        self.axis = sorted({*(k for k in sparse_checkpoints() if k < phase.total), *ends, phase.total})

    def row(self, entry: Entry) -> Row:
        """Return the row of a run or of several seeds, without its rank."""
        row = self._row(entry.summary)
        if not entry.seeds:
            return row
        seeds = [self._row(seed) for seed in entry.seeds]
        means = [seed.mean_reward for seed in seeds]
        measures = dict(row.measures)
        if self.has_consistency:
            measures[CONSISTENCY.name] = mean_of_seeds([seed.measures[CONSISTENCY.name] for seed in seeds])
        return replace(
            row,
            measures={name: _pooled_estimate(name, each, seeds) for name, each in measures.items()},
            last_quarter=row.last_quarter and _pooled_last_quarter(row.last_quarter, seeds),
            head=None,  # each of the seeds has its own
            speed=fmean(speeds) if (speeds := [seed.speed for seed in seeds if seed.speed is not None]) else None,
            seeds=seeds,
            seed_deviation=stdev(means),
        )

    def lead(self, first: Row, second: Row) -> Lead:
        """Return how far the best contestant is ahead of the second."""
        value = first.mean_reward - second.mean_reward
        return Lead(first.run, second.run, value, *self._interval(value, first.rounds, first.run, second.run))

    def is_significant(self, better: str, worse: str) -> bool:
        """Return whether two finished runs differ: the interval of their difference excludes zero."""
        first, second = self._blocks[better], self._blocks[worse]
        count = len(first.earned)
        if count < bootstrap.MIN_BLOCKS:
            return False
        resampled = self._resampled_difference(better, worse, count)
        observed = (first.mean - second.mean) / TICKS
        found = Difference.from_resamples(observed, resampled, confidence=bootstrap.CONFIDENCE, blocks=count)
        values = [self._seed_means(run, self._phase.total) for run in (better, worse)]
        interval, _ = cover_seeds(observed, (found.low, found.high), *values)
        return interval is not None and (interval[0] > 0 or interval[1] < 0)

    def _row(self, summary: Summary) -> Row:
        identity, tally = summary.identity, summary.record.total
        measured = measure_run(summary, self._phase.total)
        baseline = self._families.nearest_baseline(summary)
        compared = None if baseline is None or self._is_same_entry(summary, baseline) else baseline
        mean = tally.reward / tally.rounds
        interval, covers = self._interval(mean, tally.rounds, identity.run)
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
            interval=interval,
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
            measures={
                **measured.estimates,
                **({CONSISTENCY.name: self._consistency(summary)} if self.has_consistency else {}),
            },
            adaptation=measured.adaptation,
            reward_gain=self._reward_gain(summary, compared) if compared else None,
            full_information_share=self._full_information_share(summary),
            single_words=tally.single_word_share,
            last_quarter=last_quarter(summary, compared, self._phase.total),
            head=summary.record.head.hex() or None,
            interval_covers=covers,
            gain_curve=self._gain_curve(summary, compared) if compared else None,
        )

    def _consistency(self, summary: Summary) -> Estimate | None:
        identity = summary.identity
        return mean_accuracy(self._profiles.system(identity.participant, identity.system).consistency)

    def _is_same_entry(self, summary: Summary, other: Summary) -> bool:
        run = summary.identity.run
        return other.identity.run in (run, self._entry_of_seed.get(run))

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
        ends = oracle.identity.run, summary.identity.run
        return Regret(oracle.identity.run, rounds, value, *self._interval(value, rounds, *ends))

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
        return RewardGain(minus, k, value, *self._interval(value, k, run, minus))

    def _gain_curve(self, summary: Summary, baseline: Summary) -> GainCurve:
        seeds = [self._seeds.get(each.identity.run, ()) for each in (summary, baseline)]
        return gain_curve(summary, baseline, self._phase.total, *seeds)

    def _interval(
        self, value: float, rounds: int, run: str, minus: str | None = None
    ) -> tuple[Interval | None, Coverage | None]:
        """Return the interval around the mean of a run, or around the difference of two means, and what it covers."""
        interval = self._interval_over_sentences(value, run, minus)
        runs = (run,) if minus is None else (run, minus)
        return cover_seeds(value, interval, *(self._seed_means(each, rounds) for each in runs))

    def _seed_means(self, run: str, rounds: int) -> list[float]:
        """Return the mean rewards of the seeds of a row; none for a single run."""
        return [seed.curve[rounds] / TICKS / rounds for seed in self._seeds.get(run, ())]

    def _interval_over_sentences(self, value: float, run: str, minus: str | None) -> Interval | None:
        """Return the interval that is estimated from the complete blocks, or None if they are too few."""
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


def _pooled_estimate(name: str, pooled: Estimate | None, seeds: Sequence[Row]) -> Estimate | None:
    """Return the estimate over the translations of all seeds with an interval that covers the seeds, too."""
    if pooled is None:
        return None
    values = [each.value for seed in seeds if (each := seed.measures[name])]
    return Estimate(pooled.value, *cover_seeds(pooled.value, pooled.interval, values))


def _pooled_last_quarter(pooled: LastQuarter, seeds: Sequence[Row]) -> LastQuarter:
    """Return the last quarter of several seeds; it is marked only if the interval that covers them is below zero."""
    found = pooled.difference
    if found is None or found.interval is None:
        return pooled
    quarters = [seed.last_quarter for seed in seeds if seed.last_quarter]
    values = [quarter.difference.corpus_bleu for quarter in quarters if quarter.difference]
    interval, _ = cover_seeds(found.corpus_bleu, found.interval, values)
    is_marked = interval is not None and interval[1] < 0
    return replace(pooled, difference=replace(found, interval=interval, reward_up_bleu_down=is_marked))


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
