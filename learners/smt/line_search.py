"""The exact line search of MERT: along a line of weights, corpus BLEU changes only where some best candidate does.

Each candidate's score is a straight line in the step along a direction. The best candidates of a sentence form the
upper envelope of its lines. Where one of them breakpoints, the corpus is a new one; in between it is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from leaderboard.metrics.bleu import MAX_ORDER, BleuStatistics
from learners.smt.forest import Vector

Counts = npt.NDArray[np.int64]  # rows of matches, candidates and reference length: nine numbers
MIN_INTERVAL = 1e-9  # an interval of steps that is narrower cannot be hit for sure
MAX_OVERSHOOT = 0.1  # how far past a bend a step goes at most: where the next one is far away, the middle is nowhere
MAX_STEP = 100.0  # breakpoints farther away are those of candidates that differ by rounding only


@dataclass(frozen=True)
class CandidatePool:
    """All candidates of all sentences, one after the other."""

    features: npt.NDArray[np.float64]  # a row per candidate
    counts: Counts  # a row per candidate
    bounds: npt.NDArray[np.int64]  # where the candidates of each sentence begin, and the end

    def bleu(self, weights: Vector) -> float:
        """Corpus BLEU of the best candidates."""
        scores = self.features @ weights
        pairs = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        chosen = [start + int(np.argmax(scores[start:end])) for start, end in pairs]
        return float(bleu(self.counts[chosen].sum(0, keepdims=True))[0])


@dataclass(frozen=True)
class LineSearchResult:
    """How far to go along a direction, and the corpus BLEU there."""

    step: float
    bleu: float


def line_search(pool: CandidatePool, weights: Vector, direction: Vector) -> LineSearchResult:
    """The step with the highest corpus BLEU: the middle of the best interval, the nearest one among equals."""
    intercepts, slopes = pool.features @ weights, pool.features @ direction
    places, before, after = _breakpoints(intercepts, slopes, pool.bounds)
    first = before == -1
    order = np.argsort(places[~first], kind="stable")
    breakpoints = places[~first][order]
    changes = (pool.counts[after[~first]] - pool.counts[before[~first]])[order]
    corpora = np.cumsum(np.vstack([pool.counts[after[first]].sum(0), changes]), axis=0)
    lowest, highest = min(0.0, breakpoints.min(initial=0.0)), max(0.0, breakpoints.max(initial=0.0))
    starts, ends = (
        np.append(lowest - 2 * MAX_OVERSHOOT, breakpoints),
        np.append(breakpoints, highest + 2 * MAX_OVERSHOOT),
    )
    able = (ends - starts > MIN_INTERVAL) & (starts < MAX_STEP) & (ends > -MAX_STEP)
    starts, ends, scores = starts[able], ends[able], bleu(corpora[able])
    steps = np.clip((starts + ends) / 2, ends.clip(max=0.0) - MAX_OVERSHOOT, starts.clip(min=0.0) + MAX_OVERSHOOT)
    steps = np.where((starts < 0) & (ends > 0), 0.0, steps)
    equals = np.flatnonzero(scores == scores.max())
    best = equals[np.argmin(np.abs(steps[equals]))]
    return LineSearchResult(float(steps[best]), float(scores[best]))


@numba.njit(cache=True)
def _breakpoints(
    intercepts: npt.NDArray[np.float64], slopes: npt.NDArray[np.float64], bounds: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the envelopes change, from which candidate, and to which; the first of a sentence is from none (-1)."""
    places = np.empty(len(slopes))
    before, after = np.empty(len(slopes), np.int64), np.empty(len(slopes), np.int64)
    count = 0
    for sentence in range(len(bounds) - 1):
        start = bounds[sentence]
        bottom = count  # the envelope of this sentence is a stack that begins here
        for number in np.argsort(slopes[start : bounds[sentence + 1]]):
            line = start + number
            place = -np.inf
            while count > bottom:
                last = after[count - 1]
                if slopes[line] == slopes[last]:
                    if intercepts[line] <= intercepts[last]:
                        place = np.inf  # never above the other
                        break
                else:
                    place = (intercepts[last] - intercepts[line]) / (slopes[line] - slopes[last])
                    if place > places[count - 1]:
                        break
                count -= 1
                place = -np.inf
            if place < np.inf:
                places[count], after[count] = place, line
                before[count] = after[count - 1] if count > bottom else -1
                count += 1
    return places[:count], before[:count], after[:count]


def bleu(corpora: Counts) -> Vector:
    """``corpus_bleu`` of many corpora at once, one per row."""
    matches, candidates = corpora[:, :MAX_ORDER], corpora[:, MAX_ORDER : 2 * MAX_ORDER]
    unmatched = matches == 0
    smoothed = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=1), matches)
    precisions = np.log(smoothed / np.maximum(candidates, 1)).mean(1)
    brevity = np.minimum(0.0, 1 - corpora[:, -1] / np.maximum(candidates[:, 0], 1))
    scored = (matches[:, 0] > 0) & (candidates > 0).all(1)
    scores: Vector = np.where(scored, 100 * np.exp(precisions + brevity), 0.0)
    return scores


def packed(statistics: Sequence[BleuStatistics]) -> Counts:
    """Rows of numbers, which can be added."""
    return np.array([(*each.matches, *each.candidates, each.reference_length) for each in statistics], np.int64)
