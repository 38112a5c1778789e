"""Self-imitation: a step follows the likelihood of new and replayed successes."""

import numpy as np
import pytest
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.contract import PLACEHOLDER
from tests.learners import tiny
from tests.learners.bandit.tiny_learners import SGD, SOURCES, play, reward_of, self_imitation, vector, with_baseline
from tests.learners.nmt.toys import log_probability, three_token_translator
from tests.learners.rounds import propose, update


@pytest.fixture
def learner():
    config = SelfImitationConfig(optimiser=SGD, batch=2, replay_batch=2, dropout=0.0)
    return SelfImitationLearner(tiny.translator(), config, NoControlVariate(), seed=1)


def step(vector, sources, origin):
    """Return a step along the mean of reward times log-likelihood of greedy translations.

    ``vector`` are the parameters before the step; ``origin`` has for each source those that translated it.
    """
    proposer, learned = tiny.translator(), tiny.translator()
    objective = torch.tensor(0.0)
    for source, weights in zip(sources, origin, strict=True):
        proposer.vector.data.copy_(torch.from_numpy(weights))
        learned.vector.data.copy_(torch.from_numpy(vector))
        best = proposer.greedy(source)
        likelihood = log_probability(learned, best.source_ids, best.ids)
        objective = objective + reward_of(source, best.text) * likelihood
    (objective / len(sources)).backward()
    return 0.1 * learned.vector.grad.numpy()


def test_a_step_follows_the_mean_over_new_and_replayed_experiences(learner):
    first = vector(learner)
    play(learner, SOURCES[:2])
    second = vector(learner)
    assert second - first == pytest.approx(step(first, SOURCES[:2], [first] * 2), abs=1e-6)
    play(learner, SOURCES[2:4])  # with the first two, which are all in the replay buffer
    expected = step(second, SOURCES[:4], [first, first, second, second])
    assert np.abs(expected).max() > 0.01
    assert vector(learner) - second == pytest.approx(expected, abs=1e-6)


def test_a_fallback_is_not_imitated():
    config = SelfImitationConfig(optimiser=SGD, batch=1)
    learner = SelfImitationLearner(three_token_translator(), config, with_baseline(SourceValue(), 0.2), seed=1)
    before = vector(learner)
    assert propose(learner, "") == PLACEHOLDER
    update(learner, "", PLACEHOLDER, 0.8)
    assert np.array_equal(vector(learner), before)


def test_only_positive_advantages_teach():
    learner = self_imitation(batch=2, dropout=0.0, optimiser=SGD)
    before = vector(learner)
    for reward in (0.5, 0.2):  # the first has an advantage of 0, the second a negative one
        update(learner, SOURCES[0], propose(learner, SOURCES[0]), reward)
    assert np.array_equal(vector(learner), before)


def test_a_success_becomes_more_probable():
    learner = self_imitation(batch=1, dropout=0.0, optimiser=SGD)
    translator = learner._translator
    update(learner, SOURCES[0], propose(learner, SOURCES[0]), 0.1)
    good = translator.greedy(SOURCES[0])
    propose(learner, SOURCES[0])
    update(learner, SOURCES[0], good.text, 0.9)
    after = log_probability(translator, good.source_ids, good.ids)
    assert float(after.detach()) > good.log_probability
