"""Full information for networks: the gradient, and what it learns from all candidates."""

import numpy as np
import pytest
import torch

from leaderboard.metrics.bleu import sentence_bleu
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.oracles.neural import MinimumRiskConfig, MinimumRiskLearner, list_probabilities
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.bandit.tiny_learners import SGD, vector
from tests.learners.nmt.toys import log_probability
from tests.learners.rounds import propose, update

ROUNDS = tiny.sentences(12, seed=5)
PLAIN = {"optimiser": SGD, "dropout": 0.0, "batch": 1, "replay_batch": 0, "candidates": 4}


def learner(rounds=ROUNDS, **options):
    config = MinimumRiskConfig(**{**PLAIN, **options})
    return MinimumRiskLearner(tiny.translator(), tiny.references(rounds), config, seed=1)


def play(one, rounds=ROUNDS):
    proposed = []
    for source, reference in rounds:
        proposed.append(propose(one, source))
        update(one, source, proposed[-1], sentence_bleu(proposed[-1], reference))
    return proposed


def test_the_distribution_over_a_list_follows_the_probabilities_of_the_model():
    assert list_probabilities(np.log([0.4, 0.1])) == pytest.approx([0.8, 0.2])
    assert list_probabilities(np.array([-2_000.0, -2_000.0])) == pytest.approx([0.5, 0.5])
    assert list_probabilities(np.array([])).tolist() == []


def test_a_step_follows_the_gradient_of_the_expected_reward_over_the_candidates():
    one = learner()
    before, twin, (source, reference) = vector(one), tiny.translator(), ROUNDS[0]
    update(one, source, propose(one, source), 0.123)  # the feedback does not matter
    found = {each.text: each for each in (*twin.k_best(source, 4), twin.greedy(source))}
    scores = torch.stack([log_probability(twin, each.source_ids, each.ids) for each in found.values()])
    rewards = torch.tensor([sentence_bleu(text, reference) for text in found])
    (scores.softmax(0) @ rewards).backward()
    gradient = twin.vector.grad.numpy()
    assert np.abs(gradient).max() > 1e-3
    assert vector(one) - before == pytest.approx(0.1 * gradient, abs=1e-6)


def test_it_plays_greedily():
    one, twin = learner(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.0)), tiny.translator()
    assert play(one) == [twin.greedy(source).text for source, _ in ROUNDS]


def test_the_best_candidate_is_remembered_with_what_it_earns_above_the_expected_reward():
    one = learner(replay_batch=1)
    twin, (source, reference) = tiny.translator(), ROUNDS[0]
    play(one, ROUNDS[:1])
    found = {each.text: each for each in (*twin.k_best(source, 4), twin.greedy(source))}
    rewards = np.array([sentence_bleu(text, reference) for text in found])
    probabilities = list_probabilities(np.array([each.log_probability for each in found.values()]))
    best = list(found.values())[int(rewards.argmax())]
    (kept,) = one.save().values["replay"]["experiences"]
    assert (kept["source"], kept["target"]) == (best.source_ids, best.ids)
    assert kept["advantage"] == pytest.approx(rewards.max() - probabilities @ rewards, abs=1e-5)


def test_it_earns_more_than_its_control():
    rounds = tiny.sentences(5, seed=5) * 20
    adam = OptimiserConfig(Method.ADAM, learning_rate=1e-2)
    played = play(learner(rounds, optimiser=adam, batch=2, replay_batch=6, candidates=8), rounds)
    earned = [sentence_bleu(text, reference) for text, (_, reference) in zip(played, rounds, strict=True)]
    static = [sentence_bleu(tiny.translator().greedy(source).text, reference) for source, reference in rounds[:5]]
    assert np.mean(earned[-5:]) > np.mean(static) + 0.2


@pytest.mark.parametrize("cut", [3, 8])
def test_a_loaded_snapshot_resumes_exactly(cut, tmp_path):
    options = {"batch": 2, "replay_batch": 2, "dropout": 0.1}
    whole, first, second = (learner(**options) for _ in range(3))
    expected = play(whole)
    play(first, ROUNDS[:cut])
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, ROUNDS[cut:]) == expected[cut:]
    assert np.array_equal(vector(second), vector(whole))


def test_nothing_is_learned_where_no_candidate_is_a_text_of_the_model(monkeypatch):
    one = learner()
    before = vector(one)
    monkeypatch.setattr(one, "_candidates", lambda _source: [])
    play(one, ROUNDS[:1])
    assert np.array_equal(vector(one), before)
