"""Full information for the statistical learner: the gradient, and what it learns from all candidates."""

import numpy as np
import pytest

from leaderboard.metrics.bleu import sentence_bleu
from learners.bandit.objective import log_linear_gradient
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.oracles.statistical import FullInformationReranker, expected_loss_gradient
from learners.smt.forest import Derivation
from learners.smt.target_ngrams import TargetNgramConfig, score_candidates
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.rounds import propose, update
from tests.learners.smt.list_translator import ListTranslator, random_lists

SOURCES = [f"s{number % 7}" for number in range(20)]
REWARDS = np.array([0.1, 0.9, 0.4, 0.4, 0.0, 0.7])
SGD = OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None)
# The tuned weights prefer cords, but the references are ropes.
CORDS = {
    adjective: [Derivation(f"{adjective} {noun}", np.array([score])) for noun, score in (("cord", 1.0), ("rope", 0.9))]
    for adjective in ("red", "long", "new")
}


def translator():
    return ListTranslator(random_lists(SOURCES))


def pairs():
    """Return rounds whose references are the second of their candidates."""
    lists = translator().lists
    return [(source, lists[source][1].translation) for source in SOURCES]


def learner(**options):
    config = TargetNgramConfig(**{"buckets": 256, "weight_scale": 1.0, **options})
    return FullInformationReranker(translator(), tiny.references(pairs()), config, seed=1)


def play(one, rounds):
    proposed = []
    for source, reference in rounds:
        proposed.append(propose(one, source))
        update(one, source, proposed[-1], sentence_bleu(proposed[-1], reference))
    return proposed


def test_the_gradient_is_that_of_the_expected_loss_by_finite_differences():
    config = TargetNgramConfig(buckets=256, weight_scale=2.0)
    weights = np.random.default_rng(2).normal(size=256)

    def loss(vector):
        scores = score_candidates(translator(), "s1", config, vector).scores
        return -(np.exp(scores) / np.exp(scores).sum()) @ REWARDS

    candidates = score_candidates(translator(), "s1", config, weights)
    gradient = np.zeros(256)
    np.add.at(gradient, candidates.indices, expected_loss_gradient(candidates, REWARDS))
    steps = 1e-5 * np.eye(256)[candidates.indices]
    slopes = [(loss(weights + step) - loss(weights - step)) / 2e-5 for step in steps]
    assert np.abs(slopes).max() > 0.01
    assert gradient[candidates.indices] == pytest.approx(slopes, abs=1e-7)


def test_the_gradient_is_the_mean_of_the_bandit_learners_gradients():
    candidates = score_candidates(translator(), "s1", TargetNgramConfig(buckets=256, weight_scale=1.0), np.zeros(256))
    probabilities, counts = candidates.probabilities(), candidates.counts
    sampled = [
        probability * log_linear_gradient(reward, features, probabilities @ counts)
        for probability, reward, features in zip(probabilities, REWARDS, counts, strict=True)
    ]
    assert expected_loss_gradient(candidates, REWARDS) == pytest.approx(np.sum(sampled, axis=0), abs=1e-12)


def test_rewards_that_are_all_the_same_teach_nothing():
    candidates = score_candidates(translator(), "s1", TargetNgramConfig(buckets=256), np.zeros(256))
    assert expected_loss_gradient(candidates, np.full(6, 0.3)) == pytest.approx(0, abs=1e-15)


def test_a_step_follows_the_rewards_of_all_candidates_and_not_the_feedback():
    one = learner(optimiser=SGD)
    source, reference = pairs()[0]
    update(one, source, propose(one, source), 0.123)
    candidates = score_candidates(translator(), source, one._config, np.zeros(256))
    rewards = np.array([sentence_bleu(each.translation, reference) for each in candidates.derivations])
    step = np.zeros(256)
    np.add.at(step, candidates.indices, -0.5 * expected_loss_gradient(candidates, rewards))
    assert np.abs(step).max() > 0.01
    assert one.save().arrays["vector"] == pytest.approx(step)


def test_the_first_proposals_are_those_of_the_static_system():
    one, seed_model = learner(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.0)), translator()
    best = [seed_model.forest(source, seed_model.weights).best(seed_model.weights).translation for source in SOURCES]
    assert play(one, pairs()) == best


def test_it_learns_words_and_applies_them_to_other_sources():
    rounds = [(adjective, f"{adjective} rope") for adjective in ("red", "long", "red", "new")]
    config = TargetNgramConfig(weight_scale=30.0)
    translator = ListTranslator(CORDS, weights=np.array([1.0]))
    one = FullInformationReranker(translator, tiny.references(rounds), config, seed=1)
    assert play(one, rounds) == ["red cord", "long rope", "red rope", "new rope"]


def test_it_earns_more_than_its_control_on_sources_that_come_again():
    rounds = [pair for _ in range(10) for pair in pairs()[:7]]
    one = FullInformationReranker(translator(), tiny.references(rounds), TargetNgramConfig(weight_scale=1.0), seed=1)
    played = play(one, rounds)
    earned = [sentence_bleu(text, reference) for text, (_, reference) in zip(played, rounds, strict=True)]
    assert np.mean(earned[-7:]) > np.mean(earned[:7]) + 0.3


@pytest.mark.parametrize("cut", [1, 8])
def test_a_loaded_snapshot_resumes_exactly(cut, tmp_path):
    whole, first, second = learner(), learner(), learner()
    expected = play(whole, pairs())
    play(first, pairs()[:cut])
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, pairs()[cut:]) == expected[cut:]
    assert second.save().arrays["vector"].tolist() == whole.save().arrays["vector"].tolist()
