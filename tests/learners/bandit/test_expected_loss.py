"""Expected loss: a step follows the gradient of the sample, weighted by advantage, schedule and safeguards."""

from dataclasses import replace

import numpy as np
import pytest

from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule, LearningRateDecay
from tests.learners import tiny
from tests.learners.bandit.test_learners import (
    SGD,
    SOURCES,
    FixedBaseline,
    expected_loss,
    in_round,
    play,
    reward_of,
    vector,
)

ENTROPIC = SafeguardConfig(min_entropy=9.0, entropy_bonus=0.4)


def gradient(twin, *samples, entropy=0.0):
    """Return the summed gradient of samples with these weights, as the translator computes it."""
    for sample, weight in samples:
        twin.backward(sample, weight, entropy=entropy)
    return twin.vector.grad.numpy()


@pytest.mark.parametrize(("decay", "factor"), [(LearningRateDecay.CUMULATIVE, 0.125), (LearningRateDecay.DIRECT, 0.25)])
def test_in_the_second_round_of_annealing_rate_and_temperature_have_decayed_twice(decay, factor):
    learner = in_round(
        expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.5, learning_rate_decay=decay)), 5
    )
    before = vector(learner)
    play(learner, SOURCES[:1])
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 0.25, np.random.default_rng(1))
    expected = gradient(twin, (sample, reward_of(SOURCES[0], sample.text)))
    assert np.abs(expected).max() > 0.1
    assert vector(learner) - before == pytest.approx(-0.1 * factor * expected, abs=1e-6)


def test_a_long_gradient_is_clipped_over_all_parameters():
    learner = expected_loss(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=0.01))
    before = vector(learner)
    play(learner, SOURCES[:1])
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 1.0, np.random.default_rng(1))
    expected = gradient(twin, (sample, reward_of(SOURCES[0], sample.text)))
    assert np.linalg.norm(expected) > 0.01
    assert vector(learner) - before == pytest.approx(-0.1 * 0.01 * expected / np.linalg.norm(expected), abs=1e-6)


def test_the_entropy_bonus_is_averaged_over_a_minibatch():
    learner = expected_loss(batch=2, safeguards=ENTROPIC)
    before = vector(learner)
    play(learner, SOURCES[:2])
    twin, rng = tiny.translator(), np.random.default_rng(1)
    samples = [twin.sample(source, 1.0, rng) for source in SOURCES[:2]]
    weighted = [(one, reward_of(source, one.text) / 2) for source, one in zip(SOURCES[:2], samples, strict=True)]
    with_bonus = gradient(twin, *weighted, entropy=0.2).copy()
    twin.zero_gradient()
    assert np.abs(with_bonus - gradient(twin, *weighted)).max() > 0.01
    assert vector(learner) - before == pytest.approx(-0.1 * with_bonus, abs=1e-6)


def test_a_negative_advantage_can_count_less():
    learner = expected_loss(FixedBaseline, safeguards=SafeguardConfig(negative_advantage_weight=0.3))
    before = vector(learner)
    learner.update(SOURCES[0], learner.propose(SOURCES[0]), 0.2)  # 0.2 less than expected
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 1.0, np.random.default_rng(1))
    assert vector(learner) - before == pytest.approx(-0.1 * gradient(twin, (sample, -0.06)), abs=1e-6)


def test_the_replay_buffer_keeps_advantages_as_the_safeguards_limit_them(monkeypatch):
    learner = expected_loss(replay_batch=1)
    monkeypatch.setattr(learner._safeguards, "limit", lambda *_, **__: 0.05)
    play(learner, SOURCES[:1])
    assert [one["advantage"] for one in learner.save().values["memory"]["experiences"]] == [0.05]


def test_dropout_differs_from_round_to_round():
    learner = expected_loss(dropout=0.5, optimiser=replace(SGD, learning_rate=0.0))
    learner.propose(SOURCES[0])
    seen, optimiser = [], learner._optimiser._optimiser
    optimiser.step = lambda: seen.append(learner._vector.grad.clone())
    for _ in range(2):  # the same sample, with the same parameters
        learner.update(SOURCES[0], "", 1.0)
    assert seen[0].norm() > 0.1
    assert (seen[0] - seen[1]).norm() > 0.1
