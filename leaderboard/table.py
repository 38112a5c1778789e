"""The leaderboard of a phase: rewards, regret against the oracle, and which differences are significant.

Only finished contestants are ranked. Baselines and oracles are listed beside them, unfinished runs below. Signatures
say how the numbers were computed; ``docs/leaderboard-format.md`` describes every field.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from leaderboard.consistency import CONSISTENCY
from leaderboard.families import Role, RoleKind
from leaderboard.measures import board_measures, coarse_block_length, measure_signatures
from leaderboard.metrics import bootstrap
from leaderboard.metrics.bleu import CORPUS_SIGNATURE
from leaderboard.profiles import Profiles
from leaderboard.rows import Board, BoardPhase, Lead, Row, RowStatus
from leaderboard.run_comparison import RunComparison, entries
from leaderboard.summaries import Summary, block_length
from task.feedback import FeedbackKind

# How the chance in seeds is added to intervals, where a system was played with several.
_SEED_SIGNATURE = {"seed_interval": f"welch-t|combined:root-sum-square|conf:{bootstrap.CONFIDENCE}|v:1"}


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
    shown = entries(_newest_runs(summaries, phase.total), phase.total)
    comparison = RunComparison(phase, shown, roles, profiles or Profiles(), now)
    rows = _rank([comparison.row(entry) for entry in shown], comparison)
    measures = board_measures(phase.total, post_edits=phase.post_edits, language=phase.language)
    if comparison.has_consistency:
        measures.append(CONSISTENCY)
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
            **(_SEED_SIGNATURE if any(row.seeds for row in rows) else {}),
            **measure_signatures(measures, phase.total),
        },
        comparison.axis,
        rows,
        (FeedbackKind.POST_EDIT if phase.post_edits else FeedbackKind.BANDIT).value,
        coarse_block_length(phase.total),
        measures,
        _lead(rows, comparison),
    )


def _newest_runs(summaries: Iterable[Summary], total: int) -> list[Summary]:
    """Return the newest finished and the newest unfinished run of every system; runs without a round are left out."""
    newest: dict[tuple[str, str, bool], Summary] = {}
    for summary in summaries:
        key = (summary.identity.participant, summary.identity.system, summary.rounds >= total)
        if summary.rounds and (key not in newest or newest[key].identity.attempt < summary.identity.attempt):
            newest[key] = summary
    return list(newest.values())


def _rank(rows: Sequence[Row], comparison: RunComparison) -> list[Row]:
    """Return finished rows with ranks and groups, best first, then running and abandoned rows by rounds played."""
    finished = sorted((row for row in rows if row.status is RowStatus.FINISHED), key=_by_reward)
    contestants = [row for row in finished if row.role is RoleKind.CONTESTANT]
    ranks, groups = _ranks(contestants), _groups(contestants, comparison)
    others = sorted(
        (row for row in rows if row.status is not RowStatus.FINISHED),
        key=lambda row: (row.status is RowStatus.ABANDONED, -row.rounds, row.system, row.participant),
    )
    ranked = [replace(row, rank=ranks.get(row.run), group=groups.get(row.run)) for row in finished]
    return [*ranked, *others]


def _lead(rows: Sequence[Row], comparison: RunComparison) -> Lead | None:
    """Return how far the best contestant is ahead of the next, or None if fewer than two are ranked."""
    first, second, *_ = [*(row for row in rows if row.rank), None, None]
    return comparison.lead(first, second) if first and second else None


def _by_reward(row: Row) -> tuple[float, int, str, str]:
    return -row.reward, row.last_at or 0, row.system, row.participant  # on ties, who finished first


def _ranks(contestants: Sequence[Row]) -> Mapping[str, int]:
    """Return the rank of each run. Equal rewards share a rank, and the next ranks are skipped: 1, 2, 2, 4."""
    ranks: dict[str, int] = {}
    for _, equals in groupby(contestants, key=lambda row: row.reward):
        ranks |= dict.fromkeys([row.run for row in equals], len(ranks) + 1)
    return ranks


def _groups(contestants: Sequence[Row], comparison: RunComparison) -> Mapping[str, int]:
    """Return the group of each run: a run that is significantly worse than the best of a group begins the next."""
    groups: dict[str, int] = {}
    leader: str | None = None
    number = 0
    for row in contestants:
        if leader is None or comparison.is_significant(leader, row.run):
            leader, number = row.run, number + 1
        groups[row.run] = number
    return groups
