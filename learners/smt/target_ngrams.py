"""Lexicalised features: a learned weight for each target word and each target bigram, on top of the tuned weights.

The fourteen dense weights balance fluency and adequacy, but they cannot say that this shop calls it a rope and never a
cord. Rewards can: the candidates of one source differ in a few words, and the same words occur again in the next
sentences. The dense weights stay as tuned, so a learner that has learned nothing plays nearly like the static system.
Moses calls such sparse features target n-gram features.
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
from learners.contract import Proposal, Sentence
from learners.settings import check_bounds
from learners.smt.forest import Derivation, LogLinearTranslator, Vector
from learners.smt.proposals import sampled_proposal


@dataclass(frozen=True, kw_only=True)
class TargetNgramConfig(GradientConfig):
    """Exploration and step size."""

    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(Method.ADAGRAD, learning_rate=1.0, clip_norm=None)
    )
    weight_scale: float = 80.0  # on the tuned weights: samples cost little reward, and vary once n-grams have weights
    candidates: int = 40  # k of the k-best list; a longer list hardly raises the best reward in it
    buckets: int = 1 << 16  # n-grams are hashed into this many weights

    def __post_init__(self) -> None:
        check_bounds(self, candidates=(1, None), buckets=(1, 1 << 30))


@dataclass(frozen=True, slots=True)
class CandidateList:
    """The k best translations of a source, and their scores under tuned and learned weights."""

    derivations: list[Derivation]
    indices: npt.NDArray[np.intp]  # of the learned weights, for the n-grams in which candidates differ
    counts: Vector  # [candidate, n-gram]
    scores: Vector

    def probabilities(self) -> Vector:
        unnormalised = np.exp(self.scores - self.scores.max())
        probabilities: Vector = unnormalised / unnormalised.sum()
        return probabilities


def score_candidates(
    translator: LogLinearTranslator, source: str, config: TargetNgramConfig, ngram_weights: Vector
) -> CandidateList:
    """Return the k best translations of a source under the tuned weights, scored with those of n-grams, too."""
    tuned = translator.weights
    derivations = translator.forest(source, tuned).k_best(tuned, config.candidates)
    indices, counts = differing_ngrams([one.translation for one in derivations], config.buckets)
    dense_scores = np.array([one.features @ tuned for one in derivations])
    scores = config.weight_scale * dense_scores + counts @ ngram_weights[indices]
    return CandidateList(derivations, indices, counts, scores)


def sample_candidate(candidates: CandidateList, rng: np.random.Generator) -> tuple[int, Proposal]:
    """Return the place of a sampled candidate in its list, and its proposal."""
    probabilities, scores = candidates.probabilities(), candidates.scores
    chosen = int(np.searchsorted(np.cumsum(probabilities)[:-1], rng.random(), side="right"))
    relative = scores - scores.max()
    log_probability = relative[chosen] - np.log(np.exp(relative).sum())  # finite, unlike log 0
    return chosen, sampled_proposal(candidates.derivations[chosen], float(log_probability))


@dataclass(frozen=True, slots=True)
class _SampledCandidate:
    """The n-gram counts of a sampled candidate, and their expectation over all candidates."""

    indices: npt.NDArray[np.intp]  # of the weights, for the n-grams in which candidates differ
    counts: Vector
    expected: Vector


class TargetNgramLearner(GradientLearner):
    """SMT-EL-WORDS: expected loss over k-best lists, learning the weights of target n-grams."""

    def __init__(
        self, translator: LogLinearTranslator, config: TargetNgramConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        vector = torch.zeros(config.buckets, dtype=torch.float64)
        vector.grad = torch.zeros_like(vector)
        super().__init__(vector, config, variate, seed=seed)
        self._translator = translator
        self._config = config
        self._sample: _SampledCandidate | None = None

    def propose(self, sentence: Sentence) -> Proposal:
        candidates = score_candidates(self._translator, sentence.source, self._config, self._vector.numpy())
        chosen, proposal = sample_candidate(candidates, self._rng)
        counts = candidates.counts
        self._sample = _SampledCandidate(candidates.indices, counts[chosen], candidates.probabilities() @ counts)
        return proposal

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the sample is the source's)
        sample = self._sample
        assert sample is not None, "a reward follows a proposal"
        assert self._vector.grad is not None, "the constructor allocates the gradient"
        gradient = torch.from_numpy(log_linear_gradient(advantage, sample.counts, sample.expected))
        self._vector.grad.index_add_(0, torch.from_numpy(sample.indices), gradient)
        self._optimiser.step()


def differing_ngrams(translations: Sequence[str], buckets: int) -> tuple[npt.NDArray[np.intp], Vector]:
    """Return the weight indices of the words and bigrams in which translations differ, and their counts by row."""
    rows = [_count_ngrams(translation) for translation in translations]
    ngrams = [ngram for ngram in dict.fromkeys(ngram for row in rows for ngram in row) if _differs(ngram, rows)]
    counts = np.array([[row[ngram] for ngram in ngrams] for row in rows], np.float64).reshape(len(rows), len(ngrams))
    return np.array([bucket(ngram, buckets) for ngram in ngrams], np.intp), counts


def _count_ngrams(translation: str) -> Counter[str]:
    """Return the counts of all words and bigrams, with empty strings as sentence boundaries."""
    words = translation.split()
    return Counter([*words, *(f"{first} {second}" for first, second in pairwise(["", *words, ""]))])


def _differs(ngram: str, rows: Sequence[Counter[str]]) -> bool:
    first = rows[0][ngram]
    return any(row[ngram] != first for row in rows)
