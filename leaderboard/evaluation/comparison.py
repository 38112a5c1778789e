"""Several systems on the same references: their scores with intervals, and their differences from the first of them.

Neighbouring sentences are alike, so blocks of them are resampled, and all systems with the same draws: the differences
are paired.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.evaluation.measures import Measure
from leaderboard.metrics.bootstrap import (
    CONFIDENCE,
    MIN_BLOCKS,
    RESAMPLES,
    Difference,
    Interval,
    interval_where_measured,
)
from leaderboard.metrics.significance import default_block_length

CURVE_POINTS = 400  # of a curve over sentences: more than a figure can show


class EvaluationError(ValueError):
    """Texts that cannot be evaluated together."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a system scores on one measure."""

    value: float | None  # None where nothing could be measured
    interval: Interval | None = None  # None where there are too few sentences, or too few with anything to measure
    difference: Difference | None = None  # to the first system


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of all systems, in their order, on all measures."""

    measures: tuple[Measure, ...]
    scores: Mapping[str, tuple[Score, ...]]  # by system, as many as measures
    sentences: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Why scores or intervals are missing: a line for each reason."""
        columns = list(zip(self.measures, zip(*self.scores.values(), strict=True), strict=True))
        without_score = [measure.name for measure, column in columns if any(each.value is None for each in column)]
        without_interval = [
            measure.name
            for measure, column in columns
            if measure.name not in without_score and any(each.interval is None for each in column)
        ]
        notes = []
        if without_score:
            notes.append(f"no {', '.join(without_score)}: the references have no such words")
        if without_interval and self.sentences < MIN_BLOCKS:
            notes.append(f"no intervals: they need at least {MIN_BLOCKS} sentences, and there are {self.sentences}")
        elif without_interval:
            notes.append(f"no interval of {', '.join(without_interval)}: too few sentences have such words")
        return tuple(notes)


def evaluate(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], measures: Sequence[Measure], *, seed: int = 0
) -> Evaluation:
    """Score all systems, and compare each with the first.

    Raises:
        EvaluationError: There is nothing to score, a reference is empty, or a system has another number of sentences.
    """
    check_aligned(systems, references)
    columns: dict[str, list[Score]] = {name: [] for name in systems}
    for measure in measures:
        for name, score in zip(systems, _score(list(systems.values()), references, measure, seed), strict=True):
            columns[name].append(score)
    return Evaluation(tuple(measures), {name: tuple(row) for name, row in columns.items()}, len(references))


def check_aligned(systems: Mapping[str, Sequence[str]], references: Sequence[str]) -> None:
    """Raise EvaluationError unless all texts have as many sentences as there are references, none of them empty."""
    if not systems or not references:
        raise EvaluationError("there is nothing to evaluate: hypotheses and references have no sentences")
    for place, reference in enumerate(references, start=1):
        if not reference.strip():
            raise EvaluationError(f"reference {place:,} is empty: a translation cannot be compared with it")
    for name, hypotheses in systems.items():
        if len(hypotheses) != len(references):
            raise EvaluationError(
                f"{name} has {len(hypotheses):,} sentences, but the references have {len(references):,}"
            )


def difference_curves(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], measure: Measure
) -> dict[str, list[tuple[int, float]]]:
    """Return, for each system but the first, its difference from the first after growing numbers of sentences.

    Both are scored on all sentences so far (Simianer et al. 2019, Appendix B). A point is left out where either cannot
    be scored yet.
    """
    check_aligned(systems, references)
    places = np.unique(np.linspace(1, len(references), min(CURVE_POINTS, len(references))).astype(int))
    curves = {}
    for name, hypotheses in systems.items():
        sums = np.cumsum(np.array(measure.statistics(hypotheses, references), dtype=np.float64), axis=0)
        curves[name] = [measure.score(sums[place - 1]) for place in places]
    first = curves.pop(next(iter(systems)))
    return {
        name: [
            (int(place), mine - theirs)
            for place, mine, theirs in zip(places, curve, first, strict=True)
            if mine is not None and theirs is not None
        ]
        for name, curve in curves.items()
    }


def _score(systems: Sequence[Sequence[str]], references: Sequence[str], measure: Measure, seed: int) -> list[Score]:
    """Score each system on one measure."""
    blocks = [_block_sums(measure.statistics(hypotheses, references)) for hypotheses in systems]
    values = [measure.score(sums.sum(axis=0)) for sums in blocks]
    count = len(blocks[0])
    if count < MIN_BLOCKS:
        return [Score(value) for value in values]
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, size=RESAMPLES).astype(np.float64)
    resampled = [[measure.score(sums) for sums in draws @ each] for each in blocks]
    scores = []
    for number, (value, drawn) in enumerate(zip(values, resampled, strict=True)):
        interval = interval_where_measured(drawn)
        if value is None or interval is None:
            scores.append(Score(value))
            continue
        difference = _difference(value, values[0], drawn, resampled[0], count) if number else None
        scores.append(Score(value, interval, difference))
    return scores


def _difference(
    value: float, first: float | None, drawn: Sequence[float | None], first_drawn: Sequence[float | None], blocks: int
) -> Difference | None:
    """Return the difference from the first system, over the resamples in which both can be measured."""
    if first is None:
        return None
    pairs = zip(drawn, first_drawn, strict=True)
    differences = [mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    return Difference.from_resamples(value - first, differences, confidence=CONFIDENCE, blocks=blocks)


def _block_sums(statistics: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    """Return the statistics [blocks, counts] of blocks of neighbouring sentences."""
    values = np.array(statistics, dtype=np.float64)
    sums: npt.NDArray[np.float64] = np.add.reduceat(
        values, np.arange(0, len(values), default_block_length(len(values)))
    )
    return sums
