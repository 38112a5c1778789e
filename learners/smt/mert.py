"""Minimum error rate training (Och 2003): weights that maximise corpus BLEU on a tuning set.

Each iteration translates the tuning set into k-best lists, merges them with those of earlier iterations, and searches
for better weights on the merged lists. The search is coordinate ascent with exact line searches, along all coordinates
and some random directions, from several starting points. It ends when nothing improves. The scale of the weights does
not change the best translations, so the result is normalised: its absolute values sum to 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu, count_ngram_matches, sum_statistics
from learners.errors import TrainingError
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.line_search import CandidatePool, line_search, statistics_rows

Pair = tuple[str, str]  # source and target


@dataclass(frozen=True, kw_only=True)
class MertConfig:
    """How thoroughly to search."""

    candidates: int = 100  # the k of the k-best lists
    iterations: int = 6  # times that the tuning set is translated, at most
    restarts: int = 6  # random starting points, besides the best weights so far
    directions: int = 10  # random directions per step, besides the coordinates
    min_gain: float = 0.05  # BLEU that another step or iteration must promise
    seed: int = 0


@dataclass(frozen=True)
class TuningProgress:
    """The state of tuning after the tuning set was translated once more."""

    step: int  # times that it was translated
    steps: int  # at most
    bleu: float  # with the weights of this step
    best_bleu: float

    @property
    def status(self) -> str:
        """Return the progress as a line of text."""
        return f"tuned {self.step} of at most {self.steps} times, BLEU {self.best_bleu:.2f}"


Watch = Callable[[TuningProgress], None]


def normalise(weights: Vector) -> Vector:
    """Return the weights scaled so that their absolute values sum to 1; the best translations stay the same."""
    size = float(np.abs(weights).sum())
    return weights / size if size else weights


def mert(
    translator: LogLinearTranslator,
    pairs: Sequence[Pair],
    config: MertConfig = MertConfig(),  # noqa: B008 (it is immutable)
    *,
    watch: Watch = lambda _: None,
) -> Vector:
    """Return the weights with the highest BLEU that a search from the translator's weights finds.

    The translator keeps its weights.
    """
    if not pairs:
        raise TrainingError("tuning needs at least one sentence pair")
    rng = np.random.default_rng(config.seed)
    lists = _KBestLists(pairs)
    weights = best = normalise(translator.weights)
    best_bleu = -1.0
    for step in range(1, config.iterations + 1):
        bleu, has_new = lists.translate(translator, weights, config.candidates)
        if bleu > best_bleu:
            best, best_bleu = weights, bleu
        watch(TuningProgress(step, config.iterations, bleu, best_bleu))
        if not has_new or step == config.iterations:
            break
        pool = lists.pool()
        optima = [_ascend(pool, start, config, rng) for start in _starting_points(best, config, rng)]
        promised, weights = max(optima, key=lambda optimum: optimum[0])
        if promised < best_bleu + config.min_gain:
            break
    return best


def _starting_points(weights: Vector, config: MertConfig, rng: np.random.Generator) -> list[Vector]:
    """Return the weights and random points around them; the noise is as large as an average weight."""
    noise = rng.normal(scale=1 / len(weights), size=(config.restarts, len(weights)))
    return [weights, *(normalise(weights + each) for each in noise)]


def _ascend(pool: CandidatePool, weights: Vector, config: MertConfig, rng: np.random.Generator) -> tuple[float, Vector]:
    """Step along the direction that gains most until none gains enough; return the BLEU and the weights."""
    bleu = pool.bleu(weights)
    while True:
        directions = [*np.eye(len(weights)), *rng.normal(size=(config.directions, len(weights)))]
        results = [line_search(pool, weights, direction) for direction in directions]
        best = max(range(len(results)), key=lambda number: results[number].bleu)
        if results[best].bleu < bleu + config.min_gain:
            return bleu, weights
        bleu = results[best].bleu
        weights = normalise(weights + results[best].step * directions[best])


class _KBestLists:
    """The k-best lists of all iterations, merged by sentence."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._features: list[dict[tuple[str, bytes], Vector]] = [{} for _ in pairs]
        self._statistics: list[dict[tuple[str, bytes], BleuStatistics]] = [{} for _ in pairs]

    def translate(self, translator: LogLinearTranslator, weights: Vector, k: int) -> tuple[float, bool]:
        """Add the k-best lists under these weights.

        Returns:
            The corpus BLEU of the best translations, and whether any candidate is new.
        """
        chosen, has_new = [], False
        for (source, reference), features, counts in zip(self._pairs, self._features, self._statistics, strict=True):
            for rank, derivation in enumerate(translator.forest(source, weights).k_best(weights, k)):
                key = (derivation.translation, derivation.features.tobytes())
                if key not in counts:
                    has_new = True
                    features[key] = derivation.features
                    counts[key] = count_ngram_matches(derivation.translation, reference)
                if rank == 0:
                    chosen.append(counts[key])
        return corpus_bleu(sum_statistics(chosen)), has_new

    def pool(self) -> CandidatePool:
        sizes = [len(features) for features in self._features]
        return CandidatePool(
            np.array([row for features in self._features for row in features.values()]),
            statistics_rows([row for counts in self._statistics for row in counts.values()]),
            np.cumsum([0, *sizes]),
        )
