"""Zeroth order on a network: what it plays, and what it learns from, is the noise of its seed and its round."""

import pytest

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.zeroth_order import ParameterNoise
from tests.learners import tiny
from tests.learners.bandit.test_learners import SGD, SOURCES, in_round, szo, vector

SEED, SCALE = 4, 0.3


def perturbed(k):
    """The model as it should be in a round."""
    twin = tiny.translator()
    ParameterNoise([twin.vector], SCALE).add((SEED, k))
    return twin


def test_in_every_round_it_plays_the_best_guess_of_another_neighbour():
    played = {}
    for k in (1, 2, 3):
        learner = in_round(szo(seed=SEED, scale=SCALE), k)
        played[k] = [learner.propose(source) for source in SOURCES]
        assert played[k] == [perturbed(k).greedy(source).text for source in SOURCES]
    unmoved = [tiny.translator().greedy(source).text for source in SOURCES]
    assert all(one != other for one, other in [(played[1], played[2]), (played[2], played[3]), (played[1], unmoved)])


@pytest.mark.parametrize("k", [1, 7])
def test_it_learns_from_the_neighbour_that_it_played(k):
    learner = in_round(szo(seed=SEED, scale=SCALE, optimiser=SGD), k)
    learner._variate = NoControlVariate()
    before = vector(learner)
    learner.update(SOURCES[0], learner.propose(SOURCES[0]), 0.6)
    noise = (perturbed(k).vector.detach().numpy() - before) / SCALE
    assert vector(learner) - before == pytest.approx(0.1 * 0.6 * noise / SCALE, abs=1e-5)
