"""Witten-Bell smoothing, on counts that can be worked out by hand."""

import math

import numpy as np
import pytest

from learners.adaptation.statistical.witten_bell import WittenBell, log_probability
from learners.smt.language_model import END, START

A, B = 3, 4
VOCABULARY = 5


def model(*sentences):
    language_model = WittenBell(VOCABULARY)
    language_model.add(sentences, VOCABULARY)
    return language_model


def probability(language_model, word, *context):
    """Return the probability of a word after a context, which is most recent word first."""
    return 10 ** log_probability(language_model.counts, np.array([*context, 0], np.int64), len(context), word)


def test_without_text_every_word_is_equally_probable():
    assert probability(model(), A) == pytest.approx(1 / VOCABULARY)
    assert probability(model(), A, B, A) == pytest.approx(1 / VOCABULARY)


def test_probabilities_are_those_worked_out_by_hand():
    """The text "a b a": unigrams a 2, b 1, end 1; three types after the empty context, among four words."""
    text = model([A, B, A])
    unigram = {A: (2 + 3 / 5) / 7, B: (1 + 3 / 5) / 7, END: (1 + 3 / 5) / 7}
    assert probability(text, A) == pytest.approx(unigram[A])
    after_a = (1 + 2 * unigram[B]) / (2 + 2)  # "a b" once; a is followed twice, by two types
    assert probability(text, B, A) == pytest.approx(after_a)
    assert probability(text, B, A, START) == pytest.approx((1 + after_a) / 2)
    assert probability(text, B, A, B) == pytest.approx((0 + after_a) / 2)  # "b a" is followed by the end only
    assert probability(text, A, 0) == pytest.approx(unigram[A])  # an unseen context changes nothing


def test_the_probabilities_after_a_context_sum_to_one():
    text = model([A, B, A], [B, B])
    for context in ((), (A,), (B, A), (B, B)):
        assert sum(probability(text, word, *context) for word in range(VOCABULARY)) == pytest.approx(1)


def test_text_that_is_added_in_parts_gives_the_same_model_as_all_at_once():
    rng = np.random.default_rng(1)
    sentences = [rng.integers(3, 40, size=12).tolist() for _ in range(300)]  # the table grows several times
    whole, parts = WittenBell(40), WittenBell(40)
    whole.add(sentences, 40)
    for start in range(0, 300, 7):
        parts.add(sentences[start : start + 7], 40)
    for sentence in sentences[::20]:
        context = np.array(sentence[1::-1], np.int64)
        assert log_probability(whole.counts, context, 2, sentence[2]) == pytest.approx(
            log_probability(parts.counts, context, 2, sentence[2])
        )
        assert math.isfinite(log_probability(whole.counts, context, 2, 39))
