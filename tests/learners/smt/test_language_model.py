import numpy as np
import pytest

from learners.errors import TrainingError
from learners.smt.language_model import END, START, UNKNOWN, discounts, predict, train_language_model

A, B, C = 3, 4, 5


def probability(model, context, word):
    """Return the probability of a word after a context, which is in the order of the text."""
    words = np.array([*reversed(context), 0], np.int32)
    return 10 ** predict(model, words, len(context), word)[0]


@pytest.fixture(scope="module")
def two_sentences():
    """Return a model of <s> a b </s> and <s> a c </s>: too small to estimate discounts, so they are 1/2, 1 and 3/2."""
    return train_language_model(iter([np.array([A, B]), np.array([A, C])]), order=2, vocabulary_size=6)


@pytest.mark.parametrize(
    ("context", "word", "expected"),
    [
        # the four unigrams follow 1, 1, 1 and 2 distinct words; half of the five is discounted, spread over five words
        ((), A, 0.2),
        ((), END, 0.3),
        ((), UNKNOWN, 0.1),
        ((A,), B, 0.5 / 2 + 0.5 * 0.2),
        ((START,), A, 1 / 2 + 0.5 * 0.2),
        ((B,), END, 0.5 + 0.5 * 0.3),
        ((B,), C, 0.5 * 0.2),  # never seen: only the discounted mass
        ((A,), 77, 0.5 * 0.1),  # beyond the vocabulary
        ((77,), A, 0.2),  # an unknown context backs off to unigrams
    ],
)
def test_probabilities_are_interpolated_kneser_ney(two_sentences, context, word, expected):
    assert probability(two_sentences, context, word) == pytest.approx(expected)


def test_discounts_are_estimated_from_counts_of_counts():
    assert discounts(np.array([0, 1, 1, 1, 1, 2, 2, 3, 4])).tolist() == [0.0, 0.5, 1.25, 1.0]


def test_discounts_fall_back_if_counts_of_counts_are_missing():
    assert discounts(np.array([1, 1, 5])).tolist() == [0.0, 0.5, 1.0, 1.5]


@pytest.fixture(scope="module")
def trigrams():
    rng = np.random.default_rng(1)
    return train_language_model(
        (rng.zipf(1.5, rng.integers(1, 9)).clip(max=17) + 2 for _ in range(300)), order=3, vocabulary_size=20
    )


def test_probabilities_sum_to_one(trigrams):
    rng = np.random.default_rng(2)
    contexts = [(), (START,), (UNKNOWN,), (3,), (19,), (START, 3), (3, 19)]
    contexts += [tuple(rng.integers(3, 20, 2)) for _ in range(50)]
    for context in contexts:
        total = sum(probability(trigrams, context, word) for word in range(20) if word != START)
        assert total == pytest.approx(1.0, abs=1e-5)


def test_remembered_words_determine_later_probabilities(trigrams):
    rng = np.random.default_rng(3)
    for _ in range(200):
        context = rng.integers(3, 20, 2).astype(np.int32)
        word, following = rng.integers(3, 20, 2)
        _, remembered = predict(trigrams, context, 2, word)
        full = (context[0], word)
        kept = full[2 - remembered :]
        assert probability(trigrams, kept, following) == pytest.approx(probability(trigrams, full, following))


def test_an_empty_text_is_an_error():
    with pytest.raises(TrainingError, match="empty text"):
        train_language_model(iter(()), order=3, vocabulary_size=3)
