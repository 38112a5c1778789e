"""Accuracy on contrastive test sets: of several systems, in total and by the distance of the context that decides.

Groups that share a source are not independent. In a balanced set, a system that ignores the context gets exactly one of
them right. So sources are resampled for intervals, with all their groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.evaluation.comparison import Score
from leaderboard.evaluation.reports import Cell, Report
from leaderboard.metrics.bootstrap import (
    CONFIDENCE,
    MIN_BLOCKS,
    RESAMPLES,
    Difference,
    interval_where_measured,
)
from leaderboard.metrics.contrastive import SIGNATURE, ContrastiveError, ContrastiveGroup, chance_accuracy, judge_groups

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class ContrastiveSet:
    """A named test set."""

    name: str
    groups: tuple[ContrastiveGroup, ...]

    @property
    def candidates(self) -> int:
        return sum(len(group.candidates) for group in self.groups)

    def parts(self) -> dict[str, list[int]]:
        """Return the places of the groups of each column: all groups, and those of each distance."""
        parts = {TOTAL: list(range(len(self.groups)))}
        for distance in sorted({group.distance for group in self.groups if group.distance}):
            parts[str(distance)] = [place for place, group in enumerate(self.groups) if group.distance == distance]
        return parts


def accuracies(
    test_set: ContrastiveSet, losses: Mapping[str, Sequence[float]], *, seed: int = 0
) -> dict[str, dict[str, Score]]:
    """Return the accuracy of each system in percent, by part of the set; each is compared with the first system.

    Args:
        test_set: The groups.
        losses: By system, the loss of each candidate, group after group.
        seed: Of the resamples.

    Raises:
        ContrastiveError: The losses of a system do not fit the groups.
    """
    right = {}
    for name, values in losses.items():
        try:
            right[name] = np.array(judge_groups(test_set.groups, values), dtype=np.float64)
        except ContrastiveError as wrong:
            raise ContrastiveError(f"{name}, test set {test_set.name}: {wrong}") from None
    scores: dict[str, dict[str, Score]] = {name: {} for name in right}
    for part, places in test_set.parts().items():
        sources = [test_set.groups[place].sources for place in places]
        for name, score in _compare({name: each[places] for name, each in right.items()}, sources, seed).items():
            scores[name][part] = score
    return scores


def _compare(
    right: Mapping[str, npt.NDArray[np.float64]], sources: Sequence[tuple[str, ...]], seed: int
) -> dict[str, Score]:
    """Return the scores of all systems on the same groups."""
    numbers = {source: number for number, source in enumerate(dict.fromkeys(sources))}
    cluster = np.array([numbers[source] for source in sources])
    sizes = np.bincount(cluster).astype(np.float64)
    values = {name: 100 * float(each.mean()) for name, each in right.items()}
    if len(sizes) < MIN_BLOCKS:
        return {name: Score(value) for name, value in values.items()}
    draws = np.random.default_rng(seed).multinomial(len(sizes), [1 / len(sizes)] * len(sizes), size=RESAMPLES)
    totals = draws @ sizes
    resampled = {name: 100 * (draws @ np.bincount(cluster, weights=each)) / totals for name, each in right.items()}
    first = next(iter(right))
    return {
        name: Score(
            value,
            interval_where_measured(resampled[name].tolist()),
            None
            if name == first
            else Difference.from_resamples(
                value - values[first],
                (resampled[name] - resampled[first]).tolist(),
                confidence=CONFIDENCE,
                blocks=len(sizes),
            ),
        )
        for name, value in values.items()
    }


def contrastive_report(sets: Sequence[ContrastiveSet], losses: Mapping[str, Sequence[Sequence[float]]]) -> Report:
    """Report the accuracy of systems: by distance if there is one set, else a total for each set.

    Args:
        sets: The test sets.
        losses: By system, its losses on each set.

    Raises:
        ContrastiveError: The losses of a system do not fit a set.
    """
    rows: dict[str, list[Cell]] = {name: [] for name in losses}
    for number, test_set in enumerate(sets):
        by_system = accuracies(test_set, {name: each[number] for name, each in losses.items()})
        for name, parts in by_system.items():
            shown = parts if len(sets) == 1 else {test_set.name: parts[TOTAL]}
            rows[name] += [Cell(part, score.value, score.interval, score.difference) for part, score in shown.items()]
    columns = [cell.column for cell in next(iter(rows.values()))]
    notes = tuple(
        f"{each.name}: {len(each.groups):,} groups, {each.candidates:,} candidates, "
        f"chance {chance_accuracy(each.groups):.1f}"
        for each in sets
    )
    return Report(
        "system",
        tuple((name, tuple(cells)) for name, cells in rows.items()),
        dict.fromkeys(columns, SIGNATURE),
        notes=notes,
    )
