"""Imitation: one step, held to the likelihood of what went well just now and before."""

import numpy as np
import pytest
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.contract import PLACEHOLDER
from tests.learners import tiny
from tests.learners.bandit.test_learners import SGD, SOURCES, imitation, play, reward_of, told, vector
from tests.learners.nmt.toys import log_probability, three_token_translator


@pytest.fixture
def learner():
    config = SelfImitationConfig(optimiser=SGD, batch=2, replay_batch=2, dropout=0.0)
    return SelfImitationLearner(tiny.translator(), config, NoControlVariate(), seed=1)


def step(vector, sources, origin):
    """Along the mean over these sources of advantage times log-likelihood, of the best guesses of an earlier vector."""
    proposer, learned = tiny.translator(), tiny.translator()
    gained = torch.tensor(0.0)
    for source, weights in zip(sources, origin, strict=True):
        proposer.vector.data.copy_(torch.from_numpy(weights))
        learned.vector.data.copy_(torch.from_numpy(vector))
        best = proposer.greedy(source)
        gained = gained + reward_of(source, best.text) * log_probability(learned, best.source_ids, best.ids)
    (gained / len(sources)).backward()
    return 0.1 * learned.vector.grad.numpy()


def test_a_step_is_along_the_mean_of_what_is_fresh_and_what_is_replayed(learner):
    first = vector(learner)
    play(learner, SOURCES[:2])
    second = vector(learner)
    assert second - first == pytest.approx(step(first, SOURCES[:2], [first] * 2), abs=1e-6)
    play(learner, SOURCES[2:4])  # and the two before, which are all that it remembers
    expected = step(second, SOURCES[:4], [first, first, second, second])
    assert np.abs(expected).max() > 0.01
    assert vector(learner) - second == pytest.approx(expected, abs=1e-6)


def test_nothing_is_imitated_that_was_not_said():
    config = SelfImitationConfig(optimiser=SGD, batch=1)
    learner = SelfImitationLearner(three_token_translator(), config, told(SourceValue(), 0.2), seed=1)
    before = vector(learner)
    assert learner.propose("") == PLACEHOLDER
    learner.update("", PLACEHOLDER, 0.8)
    assert np.array_equal(vector(learner), before)


def test_imitation_learns_only_from_what_was_better_than_expected():
    learner = imitation(batch=2, dropout=0.0, optimiser=SGD)
    before = vector(learner)
    for reward in (0.5, 0.2):  # the first is compared with nothing, the second is worse
        learner.update(SOURCES[0], learner.propose(SOURCES[0]), reward)
    assert np.array_equal(vector(learner), before)


def test_imitation_makes_what_went_well_more_probable():
    learner = imitation(batch=1, dropout=0.0, optimiser=SGD)
    translator = learner._translator
    learner.update(SOURCES[0], learner.propose(SOURCES[0]), 0.1)
    good = translator.greedy(SOURCES[0])
    learner.propose(SOURCES[0])
    learner.update(SOURCES[0], good.text, 0.9)
    after = log_probability(translator, good.source_ids, good.ids)
    assert float(after.detach()) > good.log_probability
