"""Actor-critic: the actor follows the advantages of tokens, the critic the reward, and a run resumes exactly."""

import numpy as np
import pytest
import torch

from learners.bandit.actor_critic import (
    ActorCriticConfig,
    ActorCriticLearner,
    MixedActorCriticConfig,
    MixedActorCriticLearner,
)
from learners.bandit.critic import Critic
from learners.bandit.mixer import MixerSchedule
from learners.bandit.optimiser import OptimiserConfig
from learners.nmt.batches import pad
from tests.learners import tiny
from tests.learners.bandit.tiny_learners import SGD, SOURCES, play, vector
from tests.learners.rounds import propose, update


def actor_critic(seed=1, **options):
    config = ActorCriticConfig(**{"optimiser": SGD, **options})
    return ActorCriticLearner(tiny.translator(), Critic.like(tiny.translator()), config, seed=seed)


def mixed(seed=1, **options):
    config = MixedActorCriticConfig(optimiser=SGD, mixer=MixerSchedule(**options))
    critic = Critic.like(tiny.translator())
    return MixedActorCriticLearner(tiny.translator(), critic, tiny.TEXTS.out_of_domain, config, seed=seed)


def parameters_of_critic(learner):
    return [tensor.tolist() for tensor in learner._critic.parameters()]


def test_the_actor_steps_along_the_gradient_of_the_token_advantages():
    learner, reference = actor_critic(), tiny.translator()
    propose(learner, SOURCES[0])
    sample, critic = learner._sample, Critic.like(tiny.translator())
    assert sample is not None
    with torch.no_grad():
        values = critic(pad([sample.source_ids], torch.device("cpu")), pad([sample.ids], torch.device("cpu")))[0]
    before = vector(learner)
    update(learner, SOURCES[0], sample.text, 0.8)
    reference.loss(sample, 0.8 - values.numpy()).backward()
    step = 0.1 * reference.parameters.gradient.numpy()
    np.testing.assert_allclose(vector(learner), before - step, atol=1e-5)


def test_the_critic_moves_towards_the_reward():
    learner = actor_critic(critic=OptimiserConfig(learning_rate=0.01))
    for _ in range(20):
        update(learner, SOURCES[0], propose(learner, SOURCES[0]), 0.9)
    sample = learner._sample
    assert sample is not None
    values = learner._critic(pad([sample.source_ids], torch.device("cpu")), pad([sample.ids], torch.device("cpu")))
    assert values.mean().item() > 0.6  # it began with 0.5


def test_a_reward_that_the_critic_expects_changes_nothing():
    learner = actor_critic()
    before = vector(learner).tolist()
    update(learner, SOURCES[0], propose(learner, SOURCES[0]), 0.5)  # what an untrained critic expects
    assert np.abs(vector(learner) - before).max() < 1e-3


@pytest.mark.parametrize("make", [actor_critic, mixed])
@pytest.mark.parametrize("rounds", [0, 5])
def test_a_resumed_run_continues_exactly(make, rounds):
    whole, first, second = make(), make(), make()
    expected = play(whole)
    assert play(first, SOURCES[:rounds]) == expected[:rounds]
    second.load(first.save())
    assert play(second, SOURCES[rounds:]) == expected[rounds:]
    assert vector(second).tolist() == vector(whole).tolist()
    assert parameters_of_critic(second) == parameters_of_critic(whole)


def test_in_the_first_epoch_only_out_of_domain_text_teaches_the_actor():
    one, other = mixed(max_tokens=500), mixed(max_tokens=500)
    for learner, reward in ((one, 0.0), (other, 1.0)):
        before = vector(learner).tolist()
        update(learner, SOURCES[0], propose(learner, SOURCES[0]), reward)
        assert vector(learner).tolist() != before
    assert vector(one).tolist() == vector(other).tolist()  # the reward says nothing to the actor
    assert parameters_of_critic(one) != parameters_of_critic(other)  # but to the critic


def test_once_cross_entropy_has_given_way_it_is_actor_critic():
    plain, late = actor_critic(), mixed(max_tokens=0)
    assert play(plain) == play(late)
    assert vector(plain).tolist() == vector(late).tolist()


def test_a_translation_that_replaces_an_empty_sample_teaches_nothing():
    learner = actor_critic()
    propose(learner, SOURCES[0])
    assert learner._sample is not None
    object.__setattr__(learner._sample, "is_fallback", True)
    before = vector(learner).tolist()
    update(learner, SOURCES[0], learner._sample.text, 1.0)
    assert vector(learner).tolist() == before
