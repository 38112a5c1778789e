"""Several random seeds of a system: their mean as one summary, and intervals that cover the chance in seeds.

``banditmt compete --seeds 3`` plays a system as ``X``, ``X.s2`` and ``X.s3``. These are one row of the leaderboard. All
seeds have the same sentences, so resampling sentences tells nothing of another seed. The variance between seeds is
therefore added to that of the resamples.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import reduce
from statistics import fmean, variance

from leaderboard.metrics.adaptation import AdaptationCounts, AdaptationRecord
from leaderboard.metrics.bleu import BleuStatistics
from leaderboard.metrics.bootstrap import Interval
from leaderboard.metrics.online import OnlineRecord, Tally
from leaderboard.metrics.student_t import t_quantile
from leaderboard.summaries import Summary

_SEED_SUFFIX = re.compile(r"(?<=.)\.s([0-9]{1,9})$")
FIRST_SEED = 1  # of the run that has the name of its system


class Coverage(StrEnum):
    """What chance an interval covers: other sentences, other seeds, or both."""

    SENTENCES = "sentences"
    SEEDS = "seeds"
    BOTH = "both"


def system_without_seed(system: str) -> str:
    """Return the name of the system of which this is a seed: ``BNMT-EL`` for ``BNMT-EL.s3``."""
    return _SEED_SUFFIX.sub("", system)


def seed_in_name(system: str) -> int | None:
    """Return the seed that the name of a system ends with, such as 3 for ``BNMT-EL.s3``; None without one."""
    found = _SEED_SUFFIX.search(system)
    return int(found[1]) if found else None


def pool_seeds(seeds: Sequence[Summary]) -> Summary:
    """Return the mean of several seeds as one summary, as far as all of them have come.

    Rounds and rewards are means, counts of words and n-grams are sums: corpus BLEU and all other ratios are those of
    the translations of all seeds together.
    """
    first = min(seeds, key=lambda each: seed_in_name(each.identity.system) or FIRST_SEED)
    records = [summary.record for summary in seeds]
    curves = [summary.curve for summary in seeds]
    shared = sorted(set.intersection(*map(set, curves)))
    curve = {k: _mean([curve[k] for curve in curves]) for k in shared}
    rounds = shared[-1]
    identity = replace(
        first.identity, run=f"seeds:{first.identity.run}", system=system_without_seed(first.identity.system)
    )
    record = OnlineRecord(
        replace(_pool([record.total for record in records]), rounds=rounds, ticks=curve[rounds]),
        {number: _pool([record.passes[number] for record in records]) for number in _shared_keys(records, "passes")},
        curve,
        records[0].stride,
        min((record.first_at for record in records if record.first_at is not None), default=None),
        max((record.last_at for record in records if record.last_at is not None), default=None),
        _pool_adaptation([record.adaptation for record in records if record.adaptation is not None]),
        {k: _pool([record.late[k] for record in records]) for k in _shared_keys(records, "late")},
    )
    return Summary(identity, record)


def half_width_over_seeds(*systems: Sequence[float]) -> float | None:
    """Return half the 95 % interval of a mean over seeds, or of the difference of two such means (Welch 1947).

    A system with one value adds nothing: it has no randomness, or its chance is unknown. Returns None if no system has
    several.
    """
    spreads = [(variance(values) / len(values), len(values) - 1) for values in systems if len(values) > 1]
    if not spreads:
        return None
    total = math.fsum(spread for spread, _ in spreads)
    if not total:
        return 0.0
    freedom = total**2 / math.fsum(spread**2 / free for spread, free in spreads)
    return t_quantile(math.floor(freedom + 1e-9)) * math.sqrt(total)


def cover_seeds(
    value: float, interval: Interval | None, *systems: Sequence[float]
) -> tuple[Interval | None, Coverage | None]:
    """Return an interval of sentences widened by the chance in seeds, and what it covers.

    The two are independent, so their half-widths add as squares.

    Args:
        value: The estimate.
        interval: Its interval over sentences, if there is one.
        systems: The values of all seeds, of one system or of two whose difference is estimated.
    """
    half = half_width_over_seeds(*systems)
    if half is None:
        return interval, None if interval is None else Coverage.SENTENCES
    if interval is None:
        return (value - half, value + half), Coverage.SEEDS
    low, high = interval
    return (value - math.hypot(value - low, half), value + math.hypot(high - value, half)), Coverage.BOTH


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are known, or None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _mean(ticks: Sequence[int]) -> int:
    return round(sum(ticks) / len(ticks)) if len(set(ticks)) > 1 else ticks[0]


def _shared_keys(records: Sequence[OnlineRecord], name: str) -> list[int]:
    return sorted(set.intersection(*(set(getattr(record, name)) for record in records)))


def _pool(tallies: Sequence[Tally]) -> Tally:
    """Return mean rounds and rewards with the sums of all counts."""
    return Tally(
        min(tally.rounds for tally in tallies),
        _mean([tally.ticks for tally in tallies]),
        reduce(BleuStatistics.plus, [tally.statistics for tally in tallies]),
        sum(tally.longer_references for tally in tallies),
        sum(tally.single_words for tally in tallies),
    )


def _pool_adaptation(records: Sequence[AdaptationRecord]) -> AdaptationRecord | None:
    if not records:
        return None
    shared = set.intersection(*(set(record.samples) for record in records))
    samples = {k: _sum_counts([record.samples[k] for record in records]) for k in sorted(shared)}
    return AdaptationRecord(_sum_counts([record.total for record in records]), samples)


def _sum_counts(counts: Sequence[AdaptationCounts]) -> AdaptationCounts:
    return AdaptationCounts(*map(sum, zip(*counts, strict=True)))
