"""Minimum error rate training: the weights whose best translations have the highest corpus BLEU on a tuning set.

Translate with k-best lists, search for better weights on all lists so far by exact line searches along coordinates and
random directions from several starting points, and again, until nothing improves. BLEU does not ask how large weights
are, so they are given back with absolute values that sum to 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.bleu import BleuStatistics, corpus_bleu, statistics, total
from learners.errors import TrainingError
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.line_search import CandidatePool, line_search, packed

Pair = tuple[str, str]  # source and target


@dataclass(frozen=True, kw_only=True)
class MertConfig:
    """How thoroughly to search."""

    candidates: int = 100  # per sentence and iteration
    iterations: int = 6  # of translating, at most
    restarts: int = 6  # starting points drawn at random, besides the weights so far
    directions: int = 10  # drawn at random for each step, besides the coordinates
    gain: float = 0.05  # BLEU that another step or iteration must promise
    seed: int = 0


@dataclass(frozen=True)
class TuningProgress:
    """How tuning stands after the tuning set was translated again."""

    step: int  # times that it was translated
    steps: int  # at most
    bleu: float  # with the weights of this step
    best_bleu: float

    @property
    def standing(self) -> str:
        """In words."""
        return f"tuned {self.step} of at most {self.steps} times, BLEU {self.best_bleu:.2f}"


Watch = Callable[[TuningProgress], None]


def normalised(weights: Vector) -> Vector:
    """The same translations from weights whose absolute values sum to 1."""
    size = float(np.abs(weights).sum())
    return weights / size if size else weights


def mert(
    translator: LogLinearTranslator,
    pairs: Sequence[Pair],
    config: MertConfig = MertConfig(),  # noqa: B008 (a config cannot be changed)
    *,
    watch: Watch = lambda _: None,
) -> Vector:
    """Tune from the translator's weights on; returns the weights that did best, and leaves the translator alone."""
    if not pairs:
        raise TrainingError("tuning needs at least one sentence pair")
    rng = np.random.default_rng(config.seed)
    lists = _Lists(pairs)
    weights = best = normalised(translator.weights)
    best_bleu = -1.0
    for step in range(1, config.iterations + 1):
        bleu, news = lists.translate(translator, weights, config.candidates)
        if bleu > best_bleu:
            best, best_bleu = weights, bleu
        watch(TuningProgress(step, config.iterations, bleu, best_bleu))
        if not news or step == config.iterations:
            break
        pool = lists.pool()
        climbed = [_climb(pool, start, config, rng) for start in _starts(best, config, rng)]
        promised, weights = max(climbed, key=lambda end: end[0])
        if promised < best_bleu + config.gain:
            break
    return best


def _starts(weights: Vector, config: MertConfig, rng: np.random.Generator) -> list[Vector]:
    """The weights so far, and others around them: the noise is as large as a weight usually is."""
    noise = rng.normal(scale=1 / len(weights), size=(config.restarts, len(weights)))
    return [weights, *(normalised(weights + each) for each in noise)]


def _climb(pool: CandidatePool, weights: Vector, config: MertConfig, rng: np.random.Generator) -> tuple[float, Vector]:
    """Step along whichever direction gains most, until none does."""
    bleu = pool.bleu(weights)
    while True:
        directions = [*np.eye(len(weights)), *rng.normal(size=(config.directions, len(weights)))]
        steps = [line_search(pool, weights, direction) for direction in directions]
        best = max(range(len(steps)), key=lambda number: steps[number].bleu)
        if steps[best].bleu < bleu + config.gain:
            return bleu, weights
        bleu = steps[best].bleu
        weights = normalised(weights + steps[best].step * directions[best])


class _Lists:
    """The k-best lists of all iterations, merged."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._features: list[dict[tuple[str, bytes], Vector]] = [{} for _ in pairs]
        self._statistics: list[dict[tuple[str, bytes], BleuStatistics]] = [{} for _ in pairs]

    def translate(self, translator: LogLinearTranslator, weights: Vector, k: int) -> tuple[float, bool]:
        """Corpus BLEU of the best translations, and whether there were candidates that are new."""
        chosen, news = [], False
        for (source, reference), features, counts in zip(self._pairs, self._features, self._statistics, strict=True):
            for place, derivation in enumerate(translator.forest(source, weights).k_best(weights, k)):
                key = (derivation.translation, derivation.features.tobytes())
                if key not in counts:
                    news = True
                    features[key] = derivation.features
                    counts[key] = statistics(derivation.translation, reference)
                if place == 0:
                    chosen.append(counts[key])
        return corpus_bleu(total(chosen)), news

    def pool(self) -> CandidatePool:
        sizes = [len(features) for features in self._features]
        return CandidatePool(
            np.array([row for features in self._features for row in features.values()]),
            packed([row for counts in self._statistics for row in counts.values()]),
            np.cumsum([0, *sizes]),
        )
