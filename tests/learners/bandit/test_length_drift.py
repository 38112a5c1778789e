"""Learners whose rewards pay for longer outputs of long sources, for shorter ones of short sources, or for loops."""

from dataclasses import replace

import numpy as np
import pytest

from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from tests.learners.bandit.length_policy import LengthPolicy
from tests.learners.rounds import propose, update

SHORT, LONG = (" ".join(f"{word}{number}" for number in range(length)) for word, length in (("kurz", 8), ("lang", 24)))
SGD = OptimiserConfig(Method.SGD, learning_rate=0.2, clip_norm=None)
BY_BANDS = SafeguardConfig(
    max_length_ratio=1.1,
    min_length_ratio=0.9,
    anchor_rounds=100,
    length_bands=2,
    negative_advantage_weight=0.3,
    running_mean_decay=0.95,
)
OVER_ALL = replace(BY_BANDS, length_bands=1)


def expected_loss(policy, safeguards):
    config = ExpectedLossConfig(optimiser=SGD, safeguards=safeguards, batch=4, replay_batch=8)
    return ExpectedLossLearner(policy, config, SourceValue(), seed=1)


def self_imitation(policy, safeguards):
    config = SelfImitationConfig(optimiser=SGD, safeguards=safeguards, batch=4, replay_batch=8, dropout=0.0)
    return SelfImitationLearner(policy, config, SourceValue(), seed=1)


learners = pytest.mark.parametrize("make", [expected_loss, self_imitation])


def change_in_length(make, safeguards):
    """Return by which factor the outputs of short and of long sources have changed after 1,200 rounds."""
    learner = make(LengthPolicy([8, 24]), safeguards)
    logs: dict[str, list[float]] = {SHORT: [], LONG: []}
    for source in (SHORT, LONG) * 600:
        translation = propose(learner, source)
        length = len(translation.split())  # 8 to 24
        update(learner, source, translation, (24 - length) / 16 if source == SHORT else (length - 8) / 16)
        logs[source].append(np.log(length))
    return [np.exp(np.mean(log[-150:]) - np.mean(log[:50])) for log in logs.values()]


@learners
def test_rewards_for_length_make_outputs_shrink_and_grow_unseen_by_a_mean_over_all_sources(make):
    short, long = change_in_length(make, OVER_ALL)
    assert short < 0.7
    assert long > 1.3
    assert 0.8 < short * long < 1.1


@learners
def test_by_sources_of_like_length_outputs_stay_near_the_limits(make):
    short, long = change_in_length(make, BY_BANDS)
    assert 0.8 < short < 0.92
    assert 1.08 < long < 1.2


@learners
@pytest.mark.parametrize("loops", [True, False])
def test_a_learner_that_loops_is_stopped_from_imitating_loops(make, loops):
    policy = LengthPolicy([24], loops=loops)
    learner = make(policy, SafeguardConfig(exclude_loops=True, negative_advantage_weight=0.0))
    for _ in range(80):
        translation = propose(learner, LONG)
        update(learner, LONG, translation, (len(translation.split()) - 8) / 16)
    if loops:  # nothing else is proposed
        assert policy.probability(24) == 0.5
        assert len(learner._replay) == 0
    else:
        assert policy.probability(24) > 0.6
        assert len(learner._replay) > 20
