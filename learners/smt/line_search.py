"""The exact line search of MERT (Och 2003, section 5).

Along a direction in weight space, the score of each candidate translation is a straight line. The best candidates of a
sentence form the upper envelope of its lines. Corpus BLEU can change only at a breakpoint of some envelope, so trying
one step in each interval between breakpoints finds the best step of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from leaderboard.metrics.bleu import MAX_ORDER, BleuStatistics
from learners.smt.forest import Vector

StatisticsRows = npt.NDArray[np.int64]  # [row, 9]: n-gram matches, n-gram candidates, reference length
MIN_INTERVAL = 1e-9  # narrower intervals between breakpoints are skipped: rounding might miss them
MAX_OVERSHOOT = 0.1  # how far a step may go past a breakpoint: the middle of a very long interval is too far away
MAX_STEP = 100.0  # breakpoints farther away come from candidates that differ by rounding only


@dataclass(frozen=True)
class CandidatePool:
    """The candidates of all sentences, concatenated."""

    features: npt.NDArray[np.float64]  # [candidate, feature]
    statistics: StatisticsRows  # a row per candidate
    starts: npt.NDArray[np.int64]  # the first candidate of each sentence, then the number of candidates

    def bleu(self, weights: Vector) -> float:
        """Return the corpus BLEU of the best candidates."""
        scores = self.features @ weights
        sentences = zip(self.starts[:-1], self.starts[1:], strict=True)
        chosen = [start + int(np.argmax(scores[start:end])) for start, end in sentences]
        return float(corpus_bleu_of_rows(self.statistics[chosen].sum(0, keepdims=True))[0])


@dataclass(frozen=True)
class LineSearchResult:
    """The best step along a direction, and the corpus BLEU there."""

    step: float
    bleu: float


def line_search(pool: CandidatePool, weights: Vector, direction: Vector) -> LineSearchResult:
    """Return the step with the highest corpus BLEU: the middle of the best interval, on ties of the nearest one."""
    intercepts, slopes = pool.features @ weights, pool.features @ direction
    positions, before, after = _envelope_breakpoints(intercepts, slopes, pool.starts)
    leftmost = before == -1
    order = np.argsort(positions[~leftmost], kind="stable")
    breakpoints = positions[~leftmost][order]
    changes = (pool.statistics[after[~leftmost]] - pool.statistics[before[~leftmost]])[order]
    totals = np.cumsum(np.vstack([pool.statistics[after[leftmost]].sum(0), changes]), axis=0)
    lowest, highest = min(0.0, breakpoints.min(initial=0.0)), max(0.0, breakpoints.max(initial=0.0))
    starts = np.append(lowest - 2 * MAX_OVERSHOOT, breakpoints)
    ends = np.append(breakpoints, highest + 2 * MAX_OVERSHOOT)
    usable = (ends - starts > MIN_INTERVAL) & (starts < MAX_STEP) & (ends > -MAX_STEP)
    starts, ends, scores = starts[usable], ends[usable], corpus_bleu_of_rows(totals[usable])
    steps = np.clip((starts + ends) / 2, ends.clip(max=0.0) - MAX_OVERSHOOT, starts.clip(min=0.0) + MAX_OVERSHOOT)
    steps = np.where((starts < 0) & (ends > 0), 0.0, steps)
    tied = np.flatnonzero(scores == scores.max())
    best = tied[np.argmin(np.abs(steps[tied]))]
    return LineSearchResult(float(steps[best]), float(scores[best]))


@numba.njit(cache=True)
def _envelope_breakpoints(
    intercepts: npt.NDArray[np.float64], slopes: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the breakpoints of all upper envelopes, the best candidate before each of them, and the one after.

    The first entry of a sentence is its leftmost segment: it starts at minus infinity, and no candidate (-1) is before.
    """
    positions = np.empty(len(slopes))
    before, after = np.empty(len(slopes), np.int64), np.empty(len(slopes), np.int64)
    count = 0
    for sentence in range(len(starts) - 1):
        start = starts[sentence]
        bottom = count  # the envelope of this sentence is a stack that begins here
        for number in np.argsort(slopes[start : starts[sentence + 1]]):
            line = start + number
            position = -np.inf
            while count > bottom:
                last = after[count - 1]
                if slopes[line] == slopes[last]:
                    if intercepts[line] <= intercepts[last]:
                        position = np.inf  # parallel and not above: never the best
                        break
                else:
                    position = (intercepts[last] - intercepts[line]) / (slopes[line] - slopes[last])
                    if position > positions[count - 1]:
                        break
                count -= 1
                position = -np.inf
            if position < np.inf:
                positions[count], after[count] = position, line
                before[count] = after[count - 1] if count > bottom else -1
                count += 1
    return positions[:count], before[:count], after[:count]


def corpus_bleu_of_rows(rows: StatisticsRows) -> Vector:
    """Return the ``corpus_bleu`` of each row; a row sums the statistics of one corpus."""
    matches, candidates = rows[:, :MAX_ORDER], rows[:, MAX_ORDER : 2 * MAX_ORDER]
    unmatched = matches == 0
    smoothed = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=1), matches)
    precisions = np.log(smoothed / np.maximum(candidates, 1)).mean(1)
    brevity = np.minimum(0.0, 1 - rows[:, -1] / np.maximum(candidates[:, 0], 1))
    scored = (matches[:, 0] > 0) & (candidates > 0).all(1)
    scores: Vector = np.where(scored, 100 * np.exp(precisions + brevity), 0.0)
    return scores


def statistics_rows(statistics: Sequence[BleuStatistics]) -> StatisticsRows:
    """Return the statistics as rows of integers, which can be added."""
    return np.array([(*each.matches, *each.candidates, each.reference_length) for each in statistics], np.int64)
