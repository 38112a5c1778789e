"""Viterbi, inside-outside and sampling agree with enumerating all derivations."""

from collections import Counter

import numpy as np
import pytest

from learners.smt.configs import DecoderKind
from learners.smt.inference import posteriors
from tests.learners.smt.toy_language import derivations, random_forest, random_weights, sentences, translator


def forests(count):
    """Yield random forests with random weights."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        yield random_forest(rng), rng.normal(size=3)


def text_of(words):
    return " ".join("---abc"[word] for word in words)


def test_the_best_derivation_is_the_one_with_the_highest_score():
    for forest, weights in forests(30):
        words, features, _ = max(derivations(forest.graph), key=lambda one: one[1] @ weights)
        best = forest.best(weights)
        assert best.translation == text_of(words)
        assert best.features == pytest.approx(features)


def test_k_best_lists_equal_brute_force_without_duplicates():
    for forest, weights in forests(30):
        scores: dict = {}
        for words, features, _ in derivations(forest.graph):
            score = features @ weights
            if words not in scores or score > scores[words][0]:
                scores[words] = score, features
        expected = sorted(
            ((score, words, features) for words, (score, features) in scores.items()), key=lambda x: -x[0]
        )
        for k in (1, 5, 10_000):
            found = forest.k_best(weights, k)
            assert [one.translation for one in found] == [text_of(words) for _, words, _ in expected[:k]]
            for one, (_, _, features) in zip(found, expected, strict=False):
                assert one.features == pytest.approx(features)


def test_log_partition_sums_over_all_derivations():
    for forest, weights in forests(30):
        total = sum(np.exp(features @ weights) for _, features, _ in derivations(forest.graph))
        assert forest.log_partition(weights) == pytest.approx(np.log(total))


def test_expectation_is_the_mean_over_all_derivations():
    for forest, weights in forests(30):
        everything = derivations(forest.graph)
        probabilities = np.exp([features @ weights for _, features, _ in everything])
        mean = np.average([features for _, features, _ in everything], axis=0, weights=probabilities)
        assert forest.expectation(weights) == pytest.approx(mean)


def test_the_probability_of_a_translation_sums_over_its_derivations():
    ambiguous = 0
    for forest, weights in forests(30):
        total: Counter = Counter()
        everything = derivations(forest.graph)
        for words, features, _ in everything:
            total[text_of(words)] += np.exp(features @ weights - forest.log_partition(weights))
        for text, probability in total.items():
            assert forest.log_probability(text, weights) == pytest.approx(np.log(probability))
        ambiguous += len(total) < len(everything)
    assert ambiguous > 20


@pytest.mark.parametrize("kind", DecoderKind)
def test_the_probabilities_of_all_translations_of_a_decoder_sum_to_one(kind):
    decoder = translator(kind)
    for source in ("", "xyz", "den hund habe ich gesehen", "der löwe ist verloren"):
        forest = decoder.forest(source, decoder.weights)
        weights = 0.3 * decoder.weights
        found = [one.translation for one in forest.k_best(weights, 10_000)]
        assert len(found) < 10_000
        assert sum(np.exp(forest.log_probability(text, weights)) for text in found) == pytest.approx(1.0, abs=1e-9)


def test_the_probability_of_a_long_repetitive_translation_is_its_frequency():
    """Every word stands in many places, so that nodes can write hundreds of parts of the translation."""
    decoder, rng, draws = translator(), np.random.default_rng(8), 500
    weights = 4 * decoder.weights
    forest = decoder.forest("hund " * 18, weights)
    drawn = Counter(forest.sample(weights, rng).translation for _ in range(draws))
    text, count = drawn.most_common(1)[0]
    probability = np.exp(forest.log_probability(text, weights))
    assert 0.05 < probability < 1
    assert count / draws == pytest.approx(probability, abs=4 * np.sqrt(probability * (1 - probability) / draws))


def test_a_translation_without_a_derivation_has_no_probability():
    decoder = translator()
    forest = decoder.forest("der hund ist gesehen", decoder.weights)
    best = forest.best(decoder.weights).translation
    for text in ("", "never seen", f"{best} {best}", best.rpartition(" ")[0], f"</s> {best}"):
        assert forest.log_probability(text, decoder.weights) == -np.inf
    assert forest.log_probability(best, decoder.weights) > -np.inf


@pytest.mark.parametrize("kind", DecoderKind)
def test_expectation_is_the_gradient_of_the_log_partition(kind):
    step = 1e-5
    decoder = translator(kind)
    for number, source in enumerate(sentences(25)):
        weights = random_weights(np.random.default_rng(number))
        forest = decoder.forest(source, weights)
        expected = forest.expectation(weights)
        for k, change in enumerate(np.eye(14) * step):
            slope = (forest.log_partition(weights + change) - forest.log_partition(weights - change)) / (2 * step)
            assert slope == pytest.approx(expected[k], abs=1e-6)


def test_expectation_stays_finite_for_huge_scores():
    forest = translator().forest("den hund habe ich gesehen", translator().weights)
    weights = 1e4 * random_weights(np.random.default_rng(1))
    assert forest.expectation(weights) == pytest.approx(forest.best(weights).features)
    assert forest.log_partition(weights) == pytest.approx(forest.best(weights).features @ weights)


def test_sample_frequencies_equal_probabilities():
    rng = np.random.default_rng(4)
    forest, weights = random_forest(rng), np.array([0.5, -0.3, 0.2])
    everything = derivations(forest.graph)
    probabilities = np.exp([features @ weights for _, features, _ in everything])
    expected: Counter = Counter()
    for (words, _, _), share in zip(everything, probabilities / probabilities.sum(), strict=True):
        expected[text_of(words)] += share
    draws = 20_000
    drawn = Counter(forest.sample(weights, rng).translation for _ in range(draws))
    assert set(drawn) <= set(expected)
    for text, share in expected.items():
        assert drawn[text] / draws == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / draws) + 1e-4)


@pytest.mark.parametrize("kind", DecoderKind)
def test_sample_mean_equals_the_expectation(kind):
    rng = np.random.default_rng(5)
    decoder = translator(kind)
    weights = 0.2 * decoder.weights
    forest = decoder.forest("den hund habe ich xyz", weights)
    drawn = np.array([forest.sample(weights, rng).features for _ in range(4_000)])
    error = drawn.std(0) / np.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(0) - forest.expectation(weights)) <= 4 * error + 1e-9)


def test_posteriors_of_the_edges_into_the_goal_sum_to_one():
    for forest, weights in forests(10):
        graph = forest.graph
        scores, inside = forest._inside(weights)
        probabilities = posteriors(graph.starts, graph.tails, scores, inside)
        assert probabilities[graph.starts[-2] :].sum() == pytest.approx(1.0)


def test_the_same_random_state_gives_the_same_sample():
    forest = random_forest(np.random.default_rng(6))
    weights = np.ones(3)
    first, second = (forest.sample(weights, np.random.default_rng(7)) for _ in range(2))
    assert first.translation == second.translation
