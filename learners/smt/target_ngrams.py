"""Learning which words pay: a weight for each word and each pair of neighbours, on top of tuned weights.

A dozen weights say how much fluency and fidelity count, but not that this shop calls it a rope and never a cord.
Rewards do: candidates of one source differ in a few words, and the same few words come back in the next sentences. The
dense weights stay as tuned, so where nothing has been learned yet, it plays nearly like the static system.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.objective import log_linear_gradient
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.value import bucket
from learners.smt.forest import LogLinearTranslator, Vector
from learners.smt.static_log_linear import proposal_text


@dataclass(frozen=True, kw_only=True)
class TargetNgramConfig(GradientConfig):
    """How far it strays from the tuned translation, and how fast it learns."""

    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(Method.ADAGRAD, learning_rate=1.0, clip_norm=None)
    )
    scale: float = 80.0  # times the tuned weights: samples cost next to nothing, and once words count they differ
    candidates: int = 40  # of each sentence; with more, the room above the best one hardly grows
    buckets: int = 1 << 16  # words and pairs are hashed into so many weights


@dataclass(frozen=True, slots=True)
class _Draw:
    """The candidate that was drawn, as what it has and what all candidates have on average."""

    places: npt.NDArray[np.intp]  # of the weights by which candidates differ
    drawn: Vector  # its counts there
    expected: Vector


class TargetNgramLearner(GradientLearner):
    """SMT-EL-WORDS: expected loss over k-best lists."""

    def __init__(
        self, translator: LogLinearTranslator, config: TargetNgramConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        vector = torch.zeros(config.buckets, dtype=torch.float64)
        vector.grad = torch.zeros_like(vector)
        super().__init__(vector, config, variate, seed=seed)
        self._translator = translator
        self._config = config
        self._draw: _Draw | None = None

    def propose(self, source: str) -> str:
        tuned = self._translator.weights
        candidates = self._translator.forest(source, tuned).k_best(tuned, self._config.candidates)
        places, counts = differences([one.translation for one in candidates], self._config.buckets)
        fixed = np.array([one.features @ tuned for one in candidates])
        scores = self._config.scale * fixed + counts @ self._vector.numpy()[places]
        odds = np.exp(scores - scores.max())
        odds /= odds.sum()
        chosen = int(np.searchsorted(np.cumsum(odds)[:-1], self._rng.random(), side="right"))
        self._draw = _Draw(places, counts[chosen], odds @ counts)
        return proposal_text(candidates[chosen])

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the draw knows its candidates)
        draw = self._draw
        assert draw is not None, "a reward follows a proposal"
        assert self._vector.grad is not None, "it was made with the weights"
        gradient = torch.from_numpy(log_linear_gradient(advantage, draw.drawn, draw.expected))
        self._vector.grad.index_add_(0, torch.from_numpy(draw.places), gradient)
        self._optimiser.step()


def differences(translations: Sequence[str], buckets: int) -> tuple[npt.NDArray[np.intp], Vector]:
    """In which words and pairs of neighbours translations differ: their places among the weights, and counts by row."""
    rows = [_counted(translation) for translation in translations]
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if _differs(name, rows)]
    counts = np.array([[row[name] for name in names] for row in rows], np.float64).reshape(len(rows), len(names))
    return np.array([bucket(name, buckets) for name in names], np.intp), counts


def _counted(translation: str) -> Counter[str]:
    words = translation.split()
    return Counter([*words, *(f"{one} {other}" for one, other in pairwise(["", *words, ""]))])


def _differs(name: str, rows: Sequence[Counter[str]]) -> bool:
    first = rows[0][name]
    return any(row[name] != first for row in rows)
