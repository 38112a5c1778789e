"""Learning curves of systems on the same references: errors by block of text, and the percentage slope of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.evaluation.comparison import check_aligned
from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.metrics.bootstrap import CONFIDENCE, MIN_BLOCKS, Difference
from leaderboard.metrics.learning_curve import (
    Block,
    CurveModel,
    ErrorRate,
    LearningCurveError,
    Slope,
    fit_blocks,
    resampled_slopes,
    series,
)
from leaderboard.metrics.sentence_bleu import smoothed_bleu
from leaderboard.metrics.ter import ter_statistics

BLOCK_WORDS = 1_000  # of the reference, as in Bertoldi et al. 2012


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The blocks of a system, and the curve that was fitted to them."""

    blocks: tuple[Block, ...]
    slope: Slope
    difference: Difference | None = None  # of the percentage slope to that of the first system

    def points(self, model: CurveModel) -> Iterator[tuple[int, float, float]]:
        """Yield number, error and fitted error of each block, in percent."""
        for number, error in enumerate(series(self.blocks, model), start=1):
            yield number, 100 * error, 100 * self.slope.fitted(number)

    @property
    def missing_interval(self) -> str | None:
        """Why the slope has no interval; None if it has one."""
        if self.slope.interval is not None:
            return None
        if len(self.blocks) < MIN_BLOCKS:
            return f"an interval needs at least {MIN_BLOCKS} blocks, and there are {len(self.blocks)}"
        without_errors = sum(not block.errors for block in self.blocks)
        return f"{without_errors} of {len(self.blocks)} blocks have no errors, whose logarithm would be needed"


def learning_curves(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    *,
    error: ErrorRate = ErrorRate.TER,
    model: CurveModel = CurveModel.UNIT,
    block_words: int = BLOCK_WORDS,
) -> dict[str, LearningCurve]:
    """Fit a learning curve to each system, and compare its slope with that of the first.

    Raises:
        EvaluationError: A system has another number of sentences than the references.
        LearningCurveError: A system has fewer than two blocks with errors; the message names it.
    """
    check_aligned(systems, references)
    blocks = {name: cut_blocks(texts, references, error, block_words) for name, texts in systems.items()}
    slopes = {name: _fit(name, mine, model) for name, mine in blocks.items()}
    first = next(iter(systems))
    return {
        name: LearningCurve(
            tuple(mine), slopes[name], None if name == first else _difference(blocks, slopes, name, first, model)
        )
        for name, mine in blocks.items()
    }


def _fit(name: str, blocks: Sequence[Block], model: CurveModel) -> Slope:
    """Fit the curve of a system; an error names it."""
    try:
        return fit_blocks(blocks, model)
    except LearningCurveError as wrong:
        raise LearningCurveError(f"{name}: {wrong}") from None


def cut_blocks(
    hypotheses: Sequence[str], references: Sequence[str], error: ErrorRate, block_words: int = BLOCK_WORDS
) -> list[Block]:
    """Cut a text into blocks of at least ``block_words`` reference words; an incomplete last block is left out.

    A text that is shorter than a block is one block.
    """
    blocks: list[Block] = []
    errors = size = words = 0.0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        if error is ErrorRate.TER:
            edits, length = ter_statistics(hypothesis, reference)
            errors, size, words = errors + edits, size + length, words + length
        else:
            counts = count_ngram_matches(hypothesis, reference)
            errors, size = errors + 1 - smoothed_bleu(counts), size + 1
            words += counts.reference_length
        if words >= block_words:
            blocks.append(Block(errors, size))
            errors = size = words = 0.0
    return blocks or [Block(errors, size)]


def _difference(
    blocks: Mapping[str, Sequence[Block]], slopes: Mapping[str, Slope], name: str, first: str, model: CurveModel
) -> Difference | None:
    """Return the difference of two percentage slopes; None where a slope has no interval."""
    if slopes[name].interval is None or slopes[first].interval is None:
        return None
    drawn = zip(resampled_slopes(blocks[name], model), resampled_slopes(blocks[first], model), strict=True)
    observed = slopes[name].percentage - slopes[first].percentage
    differences = [mine - theirs for mine, theirs in drawn]
    return Difference.from_resamples(observed, differences, confidence=CONFIDENCE, blocks=len(blocks[name]))
