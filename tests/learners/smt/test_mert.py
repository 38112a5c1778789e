"""MERT finds the best weights that there are, whatever it starts from."""

import numpy as np
import pytest

from leaderboard.metrics.bleu import corpus_bleu, statistics, total
from learners.errors import TrainingError
from learners.smt.mert import MertConfig, TuningProgress, mert, normalised
from tests.learners.smt.list_translator import ListTranslator, random_lists

SOURCES = [f"s{number}" for number in range(8)]
THOROUGH = MertConfig(restarts=20)


def game(seed, dimension=2):
    """Sources with random candidates, and a random reference for each."""
    lists = random_lists(SOURCES, seed, dimension=dimension)
    rng = np.random.default_rng(seed)
    pairs = [(source, " ".join(rng.choice(list("abcdefg"), size=6))) for source in SOURCES]
    return ListTranslator(lists, weights=np.full(dimension, 0.5)), pairs


def bleu_of(translator, pairs, weights):
    best = (translator.forest(source, weights).best(weights).translation for source, _ in pairs)
    return corpus_bleu(total(map(statistics, best, (reference for _, reference in pairs))))


def exhaustive(translator, pairs):
    """The best BLEU over all directions in the plane, of which only the breakpoints between candidates tell apart."""
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
def test_it_finds_what_an_exhaustive_search_finds(seed):
    translator, pairs = game(seed)
    weights = mert(translator, pairs, THOROUGH)
    assert bleu_of(translator, pairs, weights) == pytest.approx(exhaustive(translator, pairs))


def test_lists_grow_until_they_hold_what_is_needed():
    translator, pairs = game(0)
    seen: list[TuningProgress] = []
    weights = mert(translator, pairs, MertConfig(candidates=2, restarts=20), watch=seen.append)
    assert len(seen) > 1
    assert [tuned.step for tuned in seen] == list(range(1, len(seen) + 1))
    assert bleu_of(translator, pairs, weights) == pytest.approx(seen[-1].best_bleu)
    assert seen[-1].best_bleu > seen[0].bleu
    assert seen[0].standing == f"tuned 1 of at most 6 times, BLEU {seen[0].bleu:.2f}"


def test_the_same_seed_tunes_the_same_weights_and_leaves_the_translator_alone():
    translator, pairs = game(1, dimension=5)
    first, second = (mert(translator, pairs) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert translator.weights.tolist() == [0.5] * 5
    assert np.abs(first).sum() == pytest.approx(1)


def test_weights_that_cannot_be_improved_stay():
    translator, pairs = game(2)
    tuned = mert(translator, pairs, THOROUGH)
    translator.weights = 7 * tuned
    assert mert(translator, pairs, THOROUGH) == pytest.approx(tuned)


def test_the_size_of_weights_does_not_matter():
    assert normalised(np.array([2.0, -6])).tolist() == [0.25, -0.75]
    assert normalised(np.zeros(2)).tolist() == [0, 0]


def test_nothing_to_tune_on_is_refused():
    with pytest.raises(TrainingError, match="at least one sentence pair"):
        mert(ListTranslator(), [])
