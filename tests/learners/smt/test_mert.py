"""MERT finds the best weights of problems that are small enough for an exhaustive search."""

import numpy as np
import pytest

from leaderboard.metrics.bleu import corpus_bleu, count_ngram_matches, sum_statistics
from learners.errors import TrainingError
from learners.smt.mert import MertConfig, TuningProgress, mert, normalise
from tests.learners.smt.list_translator import ListTranslator, random_lists

SOURCES = [f"s{number}" for number in range(8)]
THOROUGH = MertConfig(restarts=20)


def random_problem(seed, dimension=2):
    """Return a translator with random candidates, and sentence pairs with random references."""
    lists = random_lists(SOURCES, seed, dimension=dimension)
    rng = np.random.default_rng(seed)
    pairs = [(source, " ".join(rng.choice(list("abcdefg"), size=6))) for source in SOURCES]
    return ListTranslator(lists, weights=np.full(dimension, 0.5)), pairs


def bleu_of(translator, pairs, weights):
    best = (translator.forest(source, weights).best(weights).translation for source, _ in pairs)
    return corpus_bleu(sum_statistics(map(count_ngram_matches, best, (reference for _, reference in pairs))))


def exhaustive_bleu(translator, pairs):
    """Return the best BLEU over all directions in the plane; one between neighbouring breakpoints is enough."""
    breakpoints = set()
    for source in SOURCES:
        features = np.array([one.features for one in translator.lists[source]])
        gaps = (features[:, None] - features[None]).reshape(-1, 2)
        gaps = gaps[gaps.any(1)]
        breakpoints |= set(np.mod(np.arctan2(gaps[:, 1], gaps[:, 0]) + np.pi / 2, 2 * np.pi))
    angles = np.array(sorted(breakpoints))
    middles = (angles + np.append(angles[1:], angles[0] + 2 * np.pi)) / 2
    return max(bleu_of(translator, pairs, np.array([np.cos(angle), np.sin(angle)])) for angle in middles)


@pytest.mark.parametrize("seed", range(5))
def test_mert_finds_the_bleu_of_an_exhaustive_search(seed):
    translator, pairs = random_problem(seed)
    weights = mert(translator, pairs, THOROUGH)
    assert bleu_of(translator, pairs, weights) == pytest.approx(exhaustive_bleu(translator, pairs))


def test_short_k_best_lists_are_merged_over_iterations():
    translator, pairs = random_problem(0)
    seen: list[TuningProgress] = []
    weights = mert(translator, pairs, MertConfig(candidates=2, restarts=20), watch=seen.append)
    assert len(seen) > 1
    assert [progress.step for progress in seen] == list(range(1, len(seen) + 1))
    assert bleu_of(translator, pairs, weights) == pytest.approx(seen[-1].best_bleu)
    assert seen[-1].best_bleu > seen[0].bleu
    assert seen[0].status == f"tuned 1 of at most 6 times, BLEU {seen[0].bleu:.2f}"


def test_same_seed_gives_same_weights_and_the_translator_keeps_its_own():
    translator, pairs = random_problem(1, dimension=5)
    first, second = (mert(translator, pairs) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert translator.weights.tolist() == [0.5] * 5
    assert np.abs(first).sum() == pytest.approx(1)


def test_optimal_weights_are_returned_normalised():
    translator, pairs = random_problem(2)
    tuned = mert(translator, pairs, THOROUGH)
    translator.weights = 7 * tuned
    assert mert(translator, pairs, THOROUGH) == pytest.approx(tuned)


def test_normalised_weights_have_absolute_sum_one():
    assert normalise(np.array([2.0, -6])).tolist() == [0.25, -0.75]
    assert normalise(np.zeros(2)).tolist() == [0, 0]


def test_an_empty_tuning_set_is_an_error():
    with pytest.raises(TrainingError, match="at least one sentence pair"):
        mert(ListTranslator(), [])
