"""Zeroth order on a network: what it plays, and what it learns from, is the noise of its seed and its round."""

import pytest
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.parameter_noise import ParameterNoise
from learners.errors import LearnerError
from learners.seed_models.catalogue import BNMT
from learners.systems.registry import find_system
from tests.learners import tiny
from tests.learners.bandit.test_learners import SGD, SOURCES, in_round, play, szo, vector

SEED, SCALE = 4, 0.3


def perturbed(k):
    """The model as it should be in a round."""
    twin = tiny.translator()
    ParameterNoise([twin.vector], SCALE).add((SEED, k))
    return twin


def test_in_every_round_it_plays_the_best_guess_of_another_neighbour():
    played = {}
    for k in (1, 2, 3):
        learner = in_round(szo(seed=SEED, noise_scale=SCALE), k)
        played[k] = [learner.propose(source) for source in SOURCES]
        assert played[k] == [perturbed(k).greedy(source).text for source in SOURCES]
    unmoved = [tiny.translator().greedy(source).text for source in SOURCES]
    assert all(one != other for one, other in [(played[1], played[2]), (played[2], played[3]), (played[1], unmoved)])


@pytest.mark.parametrize("k", [1, 7])
def test_it_learns_from_the_neighbour_that_it_played(k):
    learner = in_round(szo(seed=SEED, noise_scale=SCALE, optimiser=SGD), k)
    learner._control_variate = NoControlVariate()
    before = vector(learner)
    learner.update(SOURCES[0], learner.propose(SOURCES[0]), 0.6)
    noise = (perturbed(k).vector.detach().numpy() - before) / SCALE
    assert vector(learner) - before == pytest.approx(0.1 * 0.6 * noise / SCALE, abs=1e-5)


def test_zeroth_order_moves_only_what_was_chosen():
    learner = szo(parameter_prefix="output_bias", optimiser=SGD)
    before = {name: p.detach().clone() for name, p in learner._translator.model.named_parameters()}
    play(learner)
    moved = {n for n, p in learner._translator.model.named_parameters() if not torch.equal(p, before[n])}
    assert moved == {"output_bias"}


def test_zeroth_order_as_registered_goes_as_far_as_it_paid(tmp_path):
    """A clipped gradient would be as long as any other: only the sign of the advantage would be left."""
    store = tiny.model_store(tmp_path, BNMT)
    system = find_system("BNMT-SZO-CV")
    small, large = (_gradient(system.new_learner(store, 1), advantage) for advantage in (0.001, 0.5))
    assert torch.allclose(large, 500 * small, rtol=1e-4)
    assert small.norm() > 0


def _gradient(learner, advantage):
    """What the optimiser is given to step along."""
    seen = []
    learner._optimiser._optimiser.step = lambda: seen.append(learner._vector.grad.clone())
    learner._learn(SOURCES[0], advantage)
    return seen[0]


def test_zeroth_order_refuses_parameters_that_do_not_exist():
    with pytest.raises(LearnerError, match="no parameters whose names begin with 'nope'"):
        szo(parameter_prefix="nope")
