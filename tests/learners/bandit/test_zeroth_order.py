"""Zeroth-order learning of a network: the noise of a round depends on the seed and on the round."""

import pytest
import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.parameter_noise import ParameterNoise
from learners.errors import LearnerError
from learners.seed_models.catalogue import BNMT
from learners.systems.registry import find_system
from tests.learners import tiny
from tests.learners.bandit.tiny_learners import SGD, SOURCES, in_round, play, vector, zeroth_order
from tests.learners.rounds import propose, update

SEED, SCALE = 4, 0.3


def perturbed(k):
    """Return the model with the noise of round ``k``."""
    twin = tiny.translator()
    ParameterNoise([twin.vector], SCALE).add((SEED, k))
    return twin


def test_every_round_translates_greedily_with_other_noise():
    proposed = {}
    for k in (1, 2, 3):
        learner = in_round(zeroth_order(seed=SEED, noise_scale=SCALE), k)
        proposed[k] = [propose(learner, source) for source in SOURCES]
        assert proposed[k] == [perturbed(k).greedy(source).text for source in SOURCES]
    unperturbed = [tiny.translator().greedy(source).text for source in SOURCES]
    assert all(
        one != other
        for one, other in [(proposed[1], proposed[2]), (proposed[2], proposed[3]), (proposed[1], unperturbed)]
    )


@pytest.mark.parametrize("k", [1, 7])
def test_a_step_follows_the_noise_of_its_own_round(k):
    learner = in_round(zeroth_order(seed=SEED, noise_scale=SCALE, optimiser=SGD), k)
    learner._control_variate = NoControlVariate()
    before = vector(learner)
    update(learner, SOURCES[0], propose(learner, SOURCES[0]), 0.6)
    noise = (perturbed(k).vector.detach().numpy() - before) / SCALE
    assert vector(learner) - before == pytest.approx(0.1 * 0.6 * noise / SCALE, abs=1e-5)


def test_only_parameters_with_the_prefix_are_changed():
    learner = zeroth_order(parameter_prefix="output_bias", optimiser=SGD)
    before = {name: p.detach().clone() for name, p in learner._translator.model.named_parameters()}
    play(learner)
    changed = {n for n, p in learner._translator.model.named_parameters() if not torch.equal(p, before[n])}
    assert changed == {"output_bias"}


def test_the_gradient_of_the_registered_system_is_proportional_to_the_advantage(tmp_path):
    """Clipped gradients would all have the same norm: only the sign of the advantage would remain."""
    store = tiny.model_store(tmp_path, BNMT)
    system = find_system("BNMT-SZO-CV")
    small, large = (_gradient(system.new_learner(store, 1), advantage) for advantage in (0.001, 0.5))
    assert torch.allclose(large, 500 * small, rtol=1e-4)
    assert small.norm() > 0


def _gradient(learner, advantage):
    """Return the gradient that the optimiser follows."""
    seen = []

    def scaled_step(scale):
        seen.append(scale * learner._vector.grad)
        return 0.0  # the norm of the parameters

    learner._optimiser._optimiser.scaled_step = scaled_step
    learner._learn(SOURCES[0], advantage)
    return seen[0]


def test_an_unknown_parameter_prefix_is_refused():
    with pytest.raises(LearnerError, match="no parameters whose names start with 'nope'"):
        zeroth_order(parameter_prefix="nope")
