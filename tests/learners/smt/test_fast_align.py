import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thot.alignment import FastAlignModel

from corpora.synth import CorpusGenerator
from learners.errors import TrainingError
from learners.smt.fast_align import (
    NULL_PROBABILITY,
    TENSION,
    Direction,
    FastAlign,
    PairText,
    expected_counts,
    find_word_pairs,
    normalise,
)
from tests.learners.smt.toy_language import PAIRS

TOY = [(source.split(), target.split()) for source, target in PAIRS]


def text_of(*pairs):
    """Return a text of pairs of word ids."""
    sources, targets = ([np.array(side, np.int32) for side in sides] for sides in zip(*pairs, strict=True))
    starts = [np.cumsum([0, *map(len, sides)]) for sides in (sources, targets)]
    return PairText(np.concatenate(sources), starts[0], np.concatenate(targets), starts[1])


def enumerated_counts(pairs, probability, null_probability):
    """Return expected counts, straight from the formulas of the paper."""
    counts: dict[tuple[int, int], float] = {}
    null_counts: dict[int, float] = {}
    for source, target in pairs:
        for i, word in enumerate(target, 1):
            away = [abs(i / len(target) - j / len(source)) for j in range(1, len(source) + 1)]
            weights = [math.exp(-TENSION * each) for each in away]
            joint = [
                (1 - NULL_PROBABILITY) * weight / sum(weights) * probability(other, word)
                for weight, other in zip(weights, source, strict=True)
            ]
            null = NULL_PROBABILITY * null_probability(word)
            total = null + sum(joint)
            null_counts[word] = null_counts.get(word, 0.0) + null / total
            for other, share in zip(source, joint, strict=True):
                counts[other, word] = counts.get((other, word), 0.0) + share / total
    return counts, null_counts


sentences = st.lists(st.integers(0, 4), min_size=1, max_size=6)


@settings(max_examples=50)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4), st.booleans())
def test_expected_counts_follow_the_model(pairs, reverse):
    text = text_of(*pairs)
    word_pairs = find_word_pairs(text)
    rng = np.random.default_rng(1)
    table = rng.random((5, 5))  # probabilities of outcomes given words
    null = rng.random(5)
    given_words, outcome_words = word_pairs.source, word_pairs.target
    if reverse:
        given_words, outcome_words = outcome_words, given_words
    parameters = Direction(table[given_words, outcome_words], null)
    counts, null_counts = np.zeros(len(given_words)), np.zeros(5)
    expected_counts(text, word_pairs, parameters, counts, null_counts, reverse)
    turned = [pair[::-1] for pair in pairs] if reverse else pairs
    expected, expected_null = enumerated_counts(turned, lambda other, word: table[other, word], lambda word: null[word])
    found = {
        (int(given), int(word)): count for given, word, count in zip(given_words, outcome_words, counts, strict=True)
    }
    assert found == pytest.approx(expected)
    assert {word: null_counts[word] for word in expected_null} == pytest.approx(expected_null)


def test_word_pairs_are_numbered_as_they_occur():
    pairs = find_word_pairs(text_of(([0, 1], [0]), ([1], [0, 2])))
    assert (pairs.source.tolist(), pairs.target.tolist()) == ([0, 1, 1], [0, 0, 2])
    assert (pairs.cell_start.tolist(), pairs.cells.tolist()) == ([0, 2, 4], [0, 1, 1, 2])


def test_the_table_of_word_pairs_grows():
    """300 x 300 word pairs are more than the first table holds."""
    pairs = find_word_pairs(text_of((list(range(300)), list(range(300)))))
    assert len(pairs.source) == 90_000
    assert pairs.cells.tolist() == list(range(90_000))
    assert (pairs.source * 300 + pairs.target).tolist() == list(range(90_000))


def test_probabilities_are_the_mean_field_estimate():
    """exp(digamma(2.01) - digamma(3.02)) and exp(digamma(1.01) - digamma(3.02)); digamma(1) is -0.5772."""
    counts = np.array([2.0, 1.0, 1.0])
    normalise(counts, np.array([0, 0, 1], np.int32), 2)
    assert counts == pytest.approx([0.605659, 0.225026, 1.0], abs=1e-6)


def test_words_are_aligned_across_reordering():
    assert TOY[0] == (["ich", "habe", "den", "hund", "gesehen"], ["i", "have", "seen", "the", "dog"])
    assert {(3, 4), (4, 2)} <= {tuple(link) for link in FastAlign(TOY).links()[0].tolist()}


def test_translations_have_their_probabilities():
    translations = FastAlign(TOY).translations(0.5)
    assert translations["hund"] == {"dog": pytest.approx(0.935, abs=1e-3)}
    assert translations["gesehen"] == {"seen": pytest.approx(0.994, abs=1e-3)}


def test_improbable_translations_are_left_out():
    assert FastAlign(TOY).translations(1.1) == {}


def test_training_is_deterministic():
    first, second = FastAlign(TOY).links(), FastAlign(TOY).links()
    assert [links.tolist() for links in first] == [links.tolist() for links in second]


def test_an_empty_text_is_an_error():
    with pytest.raises(TrainingError, match="empty text"):
        FastAlign([])


def test_an_independent_implementation_learns_the_same_probabilities():
    """In two iterations: after them, thot adapts how strongly it prefers the diagonal."""
    pairs = [(source.split(), target.split()) for source, target in CorpusGenerator(1).out_of_domain(200)]
    theirs = FastAlignModel()
    for source, target in pairs:
        theirs.add_sentence_pair(source, target)
    theirs.start_training()
    for _ in range(2):
        theirs.train()
    theirs.end_training()
    ours = FastAlign(pairs, iterations=2).translations(0.01)
    for word, options in ours.items():
        expected = theirs.get_translations(theirs.get_src_word_index(word), 0.0099)
        probabilities = {theirs.get_trg_word(target): probability for target, probability in expected}
        assert options == pytest.approx({target: probabilities[target] for target in options}, rel=1e-3)
