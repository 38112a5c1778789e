"""Cross-entropy differences: a worked example, and the Kneser-Ney models that are used."""

import math
from collections import Counter

import numpy as np
import pytest

from learners.selection.cross_entropy import SourceLanguageModel, cross_entropy_difference, shared_vocabulary

IN_DOMAIN = ["red cotton shirt", "blue cotton shirt", "cotton socks"]
OUT_OF_DOMAIN = ["the president said", "the parliament met", "the shirt"]


def add_one_unigrams(text):
    """Return the cross-entropy under unigrams with add-one smoothing; end and unknown are words, too."""
    counts = Counter(word for line in text for word in [*line.split(), "</s>"])
    words = {word for line in [*IN_DOMAIN, *OUT_OF_DOMAIN] for word in line.split()} | {"</s>", "<unk>"}

    def cross_entropy(sentences):
        found = []
        for sentence in sentences:
            tokens = [word if word in words else "<unk>" for word in [*sentence.split(), "</s>"]]
            bits = [-math.log2((counts[token] + 1) / (counts.total() + len(words))) for token in tokens]
            found.append(sum(bits) / len(bits))
        return np.array(found)

    assert len(words) == 12
    return cross_entropy


def test_a_worked_example():
    sentences = ["red shirt", "the cotton shirt", "the president met"]
    found = cross_entropy_difference(sentences, add_one_unigrams(IN_DOMAIN), add_one_unigrams(OUT_OF_DOMAIN))
    assert found.tolist() == pytest.approx([-0.5283, -0.1462, 1.0], abs=1e-4)


def test_kneser_ney_models_order_the_same_sentences_alike():
    vocabulary = shared_vocabulary(IN_DOMAIN, OUT_OF_DOMAIN)
    models = (SourceLanguageModel(text, vocabulary, 2) for text in (IN_DOMAIN, OUT_OF_DOMAIN))
    found = cross_entropy_difference(["red shirt", "the cotton shirt", "the president met"], *models).tolist()
    assert found == sorted(found)
    assert found[0] < 0 < found[2]


def test_the_cross_entropy_counts_the_end_and_conditions_on_the_beginning():
    # As in the tests of the language model: of <s> a b </s> and <s> a c </s>, with discounts 1/2, 1 and 3/2.
    model = SourceLanguageModel(["a b", "a c"], shared_vocabulary(["a b c"]), 2)
    (found,) = model(["a b"]).tolist()
    probability = (1 / 2 + 0.5 * 0.2) * (0.5 / 2 + 0.5 * 0.2) * (0.5 + 0.5 * 0.3)
    assert found == pytest.approx(-math.log2(probability) / 3, abs=1e-5)


def test_words_outside_the_vocabulary_and_empty_sentences_have_a_cross_entropy():
    vocabulary = shared_vocabulary(IN_DOMAIN, OUT_OF_DOMAIN)
    model = SourceLanguageModel(IN_DOMAIN, vocabulary, 3)
    found = model(["", "never seen", "cotton"])
    assert np.isfinite(found).all()
    assert found[1] > found[2]
    assert model([]).tolist() == []


def test_a_shared_vocabulary_gives_unseen_words_of_the_other_text_the_same_chance():
    vocabulary = shared_vocabulary(IN_DOMAIN, OUT_OF_DOMAIN)
    model = SourceLanguageModel(IN_DOMAIN, vocabulary, 1)
    president, parliament = model(["president", "parliament"]).tolist()
    assert president == parliament
