"""The search of the adapting system: whatever its limits, it ends with a translation."""

import numpy as np
import pytest

from learners.adaptation.statistical.search import Options, SearchWeights, search
from learners.adaptation.statistical.translator import AdaptingTranslator
from learners.smt.language_model import RESERVED_IDS
from tests.learners.adaptation.statistical.toy_background import background

N, MAX_LENGTH = 9, 3
WEIGHTS = SearchWeights(0.0, 0.0, 0.0, 0.0)


def random_options(seed):
    """Return an option of one word for each span, with a random score."""
    scores, lengths = list[float](), list[int]()
    span_start = np.zeros((N, MAX_LENGTH + 2), np.int64)
    random = np.random.default_rng(seed)
    for start in range(N):
        for length in range(1, MAX_LENGTH + 2):
            span_start[start, length] = len(scores)
            if length <= MAX_LENGTH and start + length <= N:
                scores.append(random.normal(scale=10))
                lengths.append(length)
    words = np.full(len(scores), RESERVED_IDS, np.int64)
    return Options(
        span_start,
        np.array(lengths),
        np.array(scores),
        np.array(scores),
        random.normal(scale=10, size=(len(scores), 6)),
        np.arange(len(scores) + 1),
        words,
    )


@pytest.mark.parametrize("distortion_limit", [0, 1, 2, 4])
def test_no_hypothesis_leaves_a_gap_that_it_may_not_jump_back_to(distortion_limit):
    translator = AdaptingTranslator(background())
    models = background().language_model, translator.foreground.language_model.counts
    for seed in range(50):
        found = search(random_options(seed), N, models, WEIGHTS, distortion_limit, 2)
        assert len(found.finished) > 0
