"""Weights of target n-grams learn which words are rewarded, where the tuned weights cannot."""

import numpy as np
import pytest

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.contract import Proposal, Sentence
from learners.smt.forest import Derivation
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner, differing_ngrams
from tests.learners.rounds import propose, sample_with_probability, update
from tests.learners.smt.list_translator import ListTranslator

BUCKETS = 1 << 16
ROPES = [Derivation("red cord", np.array([1.0])), Derivation("red rope", np.array([0.9]))]
LONG = [Derivation("a long cord", np.array([1.0])), Derivation("a long rope", np.array([0.9]))]


def rope_translator():
    return ListTranslator({"x": ROPES, "y": LONG}, weights=np.array([1.0]))


def learner(**options):
    return TargetNgramLearner(
        rope_translator(), TargetNgramConfig(weight_scale=1.0, **options), NoControlVariate(), seed=1
    )


def test_only_ngrams_in_which_candidates_differ_are_features():
    indices, counts = differing_ngrams(["red cord", "red rope"], BUCKETS)
    assert counts.tolist() == [
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]  # cord, red cord, cord at the end; the same for rope
    assert len(set(indices.tolist())) == 6


def test_a_repeated_word_counts_twice():
    _, counts = differing_ngrams(["no no", "no"], BUCKETS)
    assert counts[:, 0].tolist() == [2, 1]


def test_a_single_candidate_has_no_features():
    indices, counts = differing_ngrams(["red cord"], BUCKETS)
    assert indices.shape == (0,)
    assert counts.shape == (1, 0)


def test_a_new_learner_samples_from_the_scaled_tuned_weights():
    one = learner()
    share = np.mean([propose(one, "x") == "red cord" for _ in range(4_000)])
    assert share == pytest.approx(1 / (1 + np.exp(-0.1)), abs=0.03)


def test_a_sample_has_its_probability_among_the_candidates():
    one = learner(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None))
    update(one, "x", propose(one, "x"), 0.8)
    indices, counts = differing_ngrams([each.translation for each in ROPES], BUCKETS)
    unnormalised = np.exp(np.array([1.0, 0.9]) + counts @ one.save().arrays["vector"][indices])
    expected = dict(zip((each.translation for each in ROPES), unnormalised / unnormalised.sum(), strict=True))
    assert dict(sample_with_probability(one, "x") for _ in range(50)) == pytest.approx(expected)


def test_a_candidate_that_is_sampled_by_rounding_has_a_finite_log_probability(monkeypatch):
    apart = [Derivation("a", np.array([1_000.0])), Derivation("b", np.array([0.0]))]
    one = TargetNgramLearner(
        ListTranslator(default=apart, weights=np.array([1.0])),
        TargetNgramConfig(weight_scale=1.0),
        NoControlVariate(),
        seed=1,
    )
    monkeypatch.setattr(np, "searchsorted", lambda *_, **__: 1)
    assert one.propose(Sentence("x")) == Proposal("b", -1_000.0)


def test_a_step_follows_the_gradient_of_the_sample():
    one = learner(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None))
    translation = propose(one, "x")
    update(one, "x", translation, 0.8)
    indices, counts = differing_ngrams([each.translation for each in ROPES], BUCKETS)
    probabilities = np.exp([1.0, 0.9]) / np.exp([1.0, 0.9]).sum()
    drawn = [each.translation for each in ROPES].index(translation)
    expected = 0.5 * 0.8 * (counts[drawn] - probabilities @ counts)
    assert one.save().arrays["vector"][indices] == pytest.approx(expected)


def test_what_one_sentence_teaches_helps_with_the_next():
    one = learner()
    for _ in range(150):
        translation = propose(one, "x")
        update(one, "x", translation, float("rope" in translation))
    assert np.mean(["rope" in propose(one, "y") for _ in range(100)]) > 0.7
