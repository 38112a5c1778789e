"""Learning which words pay, where the tuned weights cannot tell."""

import numpy as np
import pytest

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.smt.forest import Derivation
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner, differences
from tests.learners.smt.list_translator import ListTranslator

BUCKETS = 1 << 16
ROPES = [Derivation("red cord", np.array([1.0])), Derivation("red rope", np.array([0.9]))]
LONG = [Derivation("a long cord", np.array([1.0])), Derivation("a long rope", np.array([0.9]))]


def ropes():
    return ListTranslator({"x": ROPES, "y": LONG}, weights=np.array([1.0]))


def learner(**options):
    return TargetNgramLearner(ropes(), TargetNgramConfig(scale=1.0, **options), NoControlVariate(), seed=1)


def test_only_words_and_pairs_that_differ_are_looked_at():
    places, counts = differences(["red cord", "red rope"], BUCKETS)
    assert counts.tolist() == [
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]  # cord, red cord, cord at the end; the same of rope
    assert len(set(places.tolist())) == 6


def test_a_repeated_word_counts_twice():
    _, counts = differences(["no no", "no"], BUCKETS)
    assert counts[:, 0].tolist() == [2, 1]


def test_one_candidate_teaches_nothing():
    places, counts = differences(["red cord"], BUCKETS)
    assert places.shape == (0,)
    assert counts.shape == (1, 0)


def test_before_it_has_learned_it_samples_from_the_scaled_weights():
    one = learner()
    share = np.mean([one.propose("x") == "red cord" for _ in range(4_000)])
    assert share == pytest.approx(1 / (1 + np.exp(-0.1)), abs=0.03)


def test_a_step_goes_along_the_gradient_of_what_was_drawn():
    one = learner(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None))
    translation = one.propose("x")
    one.update("x", translation, 0.8)
    places, counts = differences([each.translation for each in ROPES], BUCKETS)
    odds = np.exp([1.0, 0.9]) / np.exp([1.0, 0.9]).sum()
    drawn = [each.translation for each in ROPES].index(translation)
    expected = 0.5 * 0.8 * (counts[drawn] - odds @ counts)
    assert one.save().arrays["vector"][places] == pytest.approx(expected)


def test_what_was_learned_of_one_sentence_helps_with_the_next():
    one = learner()
    for _ in range(150):
        translation = one.propose("x")
        one.update("x", translation, float("rope" in translation))
    assert np.mean(["rope" in one.propose("y") for _ in range(100)]) > 0.7
