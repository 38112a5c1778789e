"""The measures of a board beside reward: what each of them means, and its value for a run, with an interval.

A board of a bandit phase has two: the percentage slope of lost reward (does the system learn, stand still or forget?),
and corpus BLEU of all rounds (does it translate better, or only earn more?). A board of a post-edit phase has those by
which Simianer et al. 2019 and Bertoldi et al. 2012 judge systems that adapt. Learning curves and intervals are by
coarse block: equal numbers of rounds, at most 50 in a phase. Where held-out passes lie has no influence on any of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import Any, Self

from leaderboard.metrics.adaptation import MILLION, NO_COUNTS, AdaptationCounts
from leaderboard.metrics.bleu import CORPUS_SIGNATURE
from leaderboard.metrics.bootstrap import (
    CONFIDENCE,
    MIN_BLOCKS,
    RESAMPLES,
    Interval,
    interval_where_measured,
    resampled_bleu,
    resampled_sizes,
    resampled_sums,
)
from leaderboard.metrics.learning_curve import (
    Block,
    CurveModel,
    LearningCurveError,
    Slope,
    fit_blocks,
    series,
    slope_signature,
)
from leaderboard.metrics.online import COARSE_STEP, coarse_ends
from leaderboard.metrics.recall import recall_signature
from leaderboard.metrics.sentence_bleu import Smoothing
from leaderboard.metrics.ter import SIGNATURE as TER_SIGNATURE
from leaderboard.seeds import Coverage
from leaderboard.summaries import Summary, block_length
from task.rounds import TICKS

CACHED_RUNS = 1_024  # boards are made again and again, and most of their runs are finished
SLOPE_RESAMPLES = 400  # of each learning curve: a board may have hundreds
CURVE_DECIMALS = 2  # of percentages along a run
COUNTED = ("bleu", "sbleu", "ter", "r0", "r1", "r0_1")  # measures that follow from the counts of any rounds
CURVES = ("bleu", "r0", "r1", "r0_1")  # those whose difference to a baseline is drawn
SLOPES = {"slope": CurveModel.UNIT, "slope_cumulative": CurveModel.CUMULATIVE}

_SIGNATURE_NAMES = {"bleu": "corpus_bleu", **dict.fromkeys(("r0", "r1", "r0_1"), "recall")}  # shared signatures
_BLEU_MEANING = "Corpus BLEU of all translations"
_SLOPE_MEANING = "Errors left each time the text doubles, in percent: below 100 a system learns, above it forgets"


class Direction(StrEnum):
    """Which values of a measure are better."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class BoardMeasure:
    """One measure, and how to read it."""

    name: str  # in rows and in CSV
    label: str  # the heading of its column
    meaning: str
    better: Direction
    signature: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """The value of a measure for a run."""

    value: float
    interval: Interval | None  # None if there are too few blocks to tell
    covers: Coverage | None = None  # the chance that the interval covers

    @classmethod
    def over_sentences(cls, value: float, interval: Interval | None) -> Self:
        """Return the value for one run, whose interval is over its sentences."""
        return cls(value, interval, None if interval is None else Coverage.SENTENCES)


@dataclass(frozen=True, slots=True)
class TerCurve:
    """TER by coarse block, and the curve that was fitted to it: block x has ``first * x ** exponent``."""

    errors: list[float]  # in percent
    first: float | None  # None if there are too few blocks for a curve
    exponent: float | None

    def fitted(self, block: int) -> float | None:
        """Return TER of a block, counted from 1, on the fitted curve."""
        return None if self.first is None or self.exponent is None else self.first * math.pow(block, self.exponent)


@dataclass(frozen=True, slots=True)
class Adaptation:
    """How the measures of a run of a post-edit phase developed."""

    curves: dict[str, list[float | None]]  # over all rounds so far, at the end of each coarse block
    ter: dict[str, TerCurve]  # by model: of each coarse block, or of all blocks up to it

    def as_dict(self) -> dict[str, Any]:
        """Return the same as ``dataclasses.asdict``, without copying every number, which takes long."""
        ter = {
            model: {"errors": each.errors, "first": each.first, "exponent": each.exponent}
            for model, each in self.ter.items()
        }
        return {"curves": self.curves, "ter": ter}


@dataclass(frozen=True, slots=True)
class RunMeasures:
    """The measures of a run by name, and how they developed."""

    estimates: dict[str, Estimate | None]  # None where nothing could be measured
    adaptation: Adaptation | None = None  # in a post-edit phase


def coarse_block_length(total: int) -> int:
    """Return the number of rounds in a coarse block of a phase of ``total`` rounds."""
    return COARSE_STEP * block_length(total)


def board_measures(total: int, *, post_edits: bool, language: str = "") -> list[BoardMeasure]:
    """Return the measures of a phase of ``total`` rounds whose references are in this language."""
    block = f"{coarse_block_length(total)}r"
    if not post_edits:
        signature = slope_signature("1-reward", CurveModel.UNIT, block)
        return [
            BoardMeasure("slope", "S", _SLOPE_MEANING, Direction.LOWER, signature),
            BoardMeasure("bleu", "BLEU", _BLEU_MEANING, Direction.HIGHER, CORPUS_SIGNATURE),
        ]
    recall = recall_signature(language)
    unit, cumulative = (slope_signature("ter", model, block) for model in SLOPES.values())
    higher, lower = Direction.HIGHER, Direction.LOWER
    words = "Recall of content words that {} earlier reference has"
    return [
        BoardMeasure("bleu", "BLEU", _BLEU_MEANING, higher, CORPUS_SIGNATURE),
        BoardMeasure("sbleu", "SBLEU", "Mean of smoothed sentence BLEU", higher, Smoothing.ADD_ONE_HIGHER.signature),
        BoardMeasure("ter", "TER", "Edits per hundred reference words", lower, TER_SIGNATURE),
        BoardMeasure("r0", "R0", words.format("no"), higher, recall),
        BoardMeasure("r1", "R1", words.format("exactly one"), higher, recall),
        BoardMeasure("r0_1", "R0+1", words.format("at most one"), higher, recall),
        BoardMeasure("slope", "S", _SLOPE_MEANING, lower, unit),
        BoardMeasure("slope_cumulative", "S cum.", "S of the TER of all blocks so far", lower, cumulative),
    ]


def measure_signatures(measures: Sequence[BoardMeasure], total: int) -> dict[str, str]:
    """Return what the numbers of measures mean, and how their intervals are computed."""
    meanings = {_SIGNATURE_NAMES.get(each.name, each.name): each.signature for each in measures}
    by_blocks = f"block:{coarse_block_length(total)}|n:{{}}|conf:{CONFIDENCE}|v:1"
    if any(each.name == "ter" for each in measures):  # corpus BLEU of a bandit phase has no interval
        meanings["measure_interval"] = f"bootstrap|paired:yes|{by_blocks.format(RESAMPLES)}"
    return {**meanings, "slope_interval": f"bootstrap|residuals:yes|{by_blocks.format(SLOPE_RESAMPLES)}"}


def measure_run(summary: Summary, total: int) -> RunMeasures:
    """Return the measures of a run in a phase of ``total`` rounds."""
    ends = coarse_ends(summary.rounds, summary.record.stride)
    adaptation = summary.record.adaptation
    if adaptation is None:
        slope = _percentage(_fit(_lost_reward(summary, ends), CurveModel.UNIT))
        return RunMeasures({"slope": slope, "bleu": Estimate(summary.record.total.corpus_bleu, None)})
    samples = [adaptation.samples[end] for end in ends]
    blocks = [after.minus(before) for before, after in pairwise([NO_COUNTS, *samples])]
    ter = tuple(Block(block.edits, block.edited_length) for block in blocks)
    slopes = {name: _fit(ter, model) for name, model in SLOPES.items()}
    if summary.rounds == total and total % ends.step:  # a finished run ends with a short block: too short for a curve
        blocks.append(adaptation.total.minus(samples[-1] if samples else NO_COUNTS))
    estimates = {
        **_estimates(adaptation.total, tuple(blocks)),
        **{name: _percentage(each) for name, each in slopes.items()},
    }
    curves = {name: [_rounded(getattr(sample, name)) for sample in samples] for name in CURVES}
    fitted = {model.value: _ter_curve(ter, model, slopes[name]) for name, model in SLOPES.items()}
    return RunMeasures(estimates, Adaptation(curves, fitted))


def forget_runs() -> None:
    """Forget the measures of earlier runs, as a new process would not know them: for benchmarks."""
    _fit.cache_clear()
    _estimates.cache_clear()
    resampled_bleu.cache_clear()


def _lost_reward(summary: Summary, ends: Sequence[int]) -> tuple[Block, ...]:
    """Return how much reward a run missed in each coarse block."""
    ticks = [summary.curve[end] for end in ends]
    sizes = [after - before for before, after in pairwise([0, *ends])]
    earned = [after - before for before, after in pairwise([0, *ticks])]
    return tuple(Block((size * TICKS - reward) / TICKS, size) for size, reward in zip(sizes, earned, strict=True))


# Learning curves


@lru_cache(maxsize=CACHED_RUNS)
def _fit(blocks: tuple[Block, ...], model: CurveModel) -> Slope | None:
    """Return the curve of a run, or None if it has too few blocks, or too few with errors."""
    if len(blocks) < MIN_BLOCKS:
        return None
    try:
        return fit_blocks(blocks, model, resamples=SLOPE_RESAMPLES)
    except LearningCurveError:
        return None


def _percentage(slope: Slope | None) -> Estimate | None:
    return None if slope is None else Estimate.over_sentences(slope.percentage, slope.interval)


def _ter_curve(blocks: Sequence[Block], model: CurveModel, slope: Slope | None) -> TerCurve:
    errors = [round(100 * error, CURVE_DECIMALS) for error in series(blocks, model)]
    if slope is None:
        return TerCurve(errors, None, None)
    return TerCurve(errors, 100 * slope.first, slope.exponent)


# Measures that are ratios or means of counts


@lru_cache(maxsize=CACHED_RUNS)
def _estimates(total: AdaptationCounts, blocks: tuple[AdaptationCounts, ...]) -> Mapping[str, Estimate | None]:
    """Return the values over all rounds of a run, with intervals from its blocks."""
    resampled: Mapping[str, Sequence[float | None]] = {}
    covered = total
    if len(blocks) >= MIN_BLOCKS:
        columns = AdaptationCounts._fields, list(zip(*blocks, strict=True))
        bleu = resampled_bleu(tuple(block.bleu_statistics for block in blocks))
        resampled = {"bleu": bleu, **_resampled(dict(zip(*columns, strict=True)))}
        covered = AdaptationCounts(*map(sum, columns[1]))
    return {name: _estimate(name, total, covered, resampled.get(name)) for name in COUNTED}


def _estimate(
    name: str, total: AdaptationCounts, covered: AdaptationCounts, resampled: Sequence[float | None] | None
) -> Estimate | None:
    value = getattr(total, name)
    if value is None:
        return None
    interval = interval_where_measured(resampled) if resampled else None
    if interval is None:
        return Estimate(value, None)
    shift = value - getattr(covered, name)  # not zero only if an unfinished run has rounds after its last block
    return Estimate.over_sentences(value, (interval[0] + shift, interval[1] + shift))


Column = tuple[int, ...]  # one count of every block


def _resampled(columns: Mapping[str, Column]) -> dict[str, Sequence[float | None]]:
    """Return every ratio for every resample; None for a resample that has nothing to measure."""
    new, repeated = columns["found_new"], columns["found_repeated"]
    wanted_new, wanted_repeated = columns["wanted_new"], columns["wanted_repeated"]
    return {
        "sbleu": _ratios(columns["sentence_bleu_millionths"], columns["rounds"], 100 / MILLION),
        "ter": _ratios(columns["edits"], columns["edited_length"]),
        "r0": _ratios(new, wanted_new),
        "r1": _ratios(repeated, wanted_repeated),
        "r0_1": _ratios(tuple(map(add, new, repeated)), tuple(map(add, wanted_new, wanted_repeated))),
    }


def _ratios(parts: Column, wholes: Column, scale: float = 100) -> list[float | None]:
    sums = zip(resampled_sums(parts), resampled_sizes(wholes), strict=True)
    return [scale * part / whole if whole else None for part, whole in sums]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, CURVE_DECIMALS)
