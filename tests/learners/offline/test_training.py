"""Offline training: it follows the estimator, keeps what held-out rounds prefer, and resumes exactly."""

import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from learners.bandit.optimiser import Method as OptimiserMethod
from learners.bandit.optimiser import OptimiserConfig
from learners.errors import SnapshotError
from learners.offline.estimators import Method
from learners.offline.logged_round import LogError, LoggedRound, split_by_source
from learners.offline.policies import LogLinearPolicy, NeuralPolicy, PolicyConfig
from learners.offline.reward_model import RewardModel
from learners.offline.training import OfflineConfig, train_offline
from tests.learners import tiny
from tests.learners.smt.list_translator import ListTranslator

ADAM = OptimiserConfig(OptimiserMethod.ADAM, learning_rate=0.05, clip_norm=None)
CONFIG = OfflineConfig(
    policy=PolicyConfig(weight_scale=1.0, samples=2), optimiser=ADAM, batch=20, epochs=6, validate_every=4, held_out=0.3
)
REWARDS = {"a c c": 0.2, "b c": 0.9, "a b": 0.4}
P = dict(zip(REWARDS, (0.374487, 0.251026, 0.374487), strict=True))


def log(count=240, *, probabilities=True):
    """Return rounds that were sampled from the policy before training."""
    rng = np.random.default_rng(5)
    drawn = rng.choice(list(P), size=count, p=np.array(list(P.values())) / sum(P.values()))
    return [
        LoggedRound(f"s{number % 60}", str(text), REWARDS[text], math.log(P[text]) if probabilities else None)
        for number, text in enumerate(drawn)
    ]


def policy():
    return LogLinearPolicy(ListTranslator(), CONFIG.policy)


def probability_of_best(trained):
    (log_probability,) = trained.log_probabilities([trained.prepare(LoggedRound("s", "b c", 0.5))])
    return math.exp(log_probability.item())


@pytest.mark.parametrize("method", [Method.SNIPS, Method.DPM_R, Method.OSL, Method.DC, Method.C_DC, Method.DR])
def test_the_translation_with_the_highest_reward_becomes_more_probable(method):
    trained = policy()
    result = train_offline(trained, method, log(), CONFIG)
    assert probability_of_best(trained) > 2 * P["b c"]
    assert result.value > result.seed_value
    assert 0 < result.best_step <= result.steps
    assert result.rounds + result.held_out == 240
    assert (result.explained is not None) == method.needs_reward_model


def test_the_estimate_of_the_reweighted_estimators_is_what_the_policy_earns():
    trained = policy()
    result = train_offline(trained, Method.SNIPS, log(480), CONFIG)
    truth = Mock(RewardModel, predict=lambda _, texts: torch.tensor([REWARDS[text] for text in texts]).double())
    (earned,) = trained.expected_rewards([trained.prepare(log()[0])], truth, np.random.default_rng(0)).tolist()
    assert result.value == pytest.approx(earned, abs=0.05)


def test_what_held_out_rounds_do_not_prefer_is_not_kept():
    trained = policy()
    before = trained.vector.tolist()
    # The training part says that one translation is good, the held-out part that it is bad.
    rounds = log()
    held_out = {each.source for each in split_by_source(rounds, CONFIG.held_out, seed=0)[1]}
    turned = [replace(each, reward=1 - each.reward) if each.source in held_out else each for each in rounds]
    result = train_offline(trained, Method.DPM_R, turned, CONFIG)
    assert (result.best_step, result.value) == (0, result.seed_value)
    assert trained.vector.tolist() == before
    assert result.steps == 16  # five validations: after 4 and 8 steps, an epoch of 10, 12 and 16


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("method", [Method.OSL, Method.DR])
@pytest.mark.parametrize("stop_after", [1, 3])
def test_an_interrupted_training_ends_with_the_same_parameters(method, stop_after, tmp_path):
    whole, config, seen = policy(), replace(CONFIG, epochs=2), []
    expected = train_offline(whole, method, log(), config)

    def stop(validation):
        seen.append(validation)
        if len(seen) == stop_after:
            raise StoppedError

    with pytest.raises(StoppedError):
        train_offline(policy(), method, log(), config, folder=tmp_path, watch=stop)
    resumed = policy()
    assert train_offline(resumed, method, log(), config, folder=tmp_path) == expected
    assert resumed.vector.tolist() == whole.vector.tolist()


@pytest.mark.parametrize("change", ["seed", "log", "method", "config"])
def test_a_snapshot_of_another_training_is_refused(change, tmp_path):
    rounds, method, config, seed = log(), Method.DPM_R, replace(CONFIG, epochs=1), 0
    train_offline(policy(), method, rounds, config, folder=tmp_path)
    match change:
        case "seed":
            seed = 1
        case "log":
            rounds = rounds[1:]
        case "method":
            method = Method.OSL
        case "config":
            config = replace(config, batch=30)
    with pytest.raises(SnapshotError, match="is a snapshot of another training: remove it, or train with its argument"):
        train_offline(policy(), method, rounds, config, seed=seed, folder=tmp_path)


def test_a_deterministic_log_cannot_be_reweighted_by_propensities():
    complaint = "ips needs log_probability, which no row of the log has: a deterministic log fits dpm, dpm-r, osl"
    with pytest.raises(LogError, match=complaint):
        train_offline(policy(), Method.IPS, log(probabilities=False), CONFIG)
    assert train_offline(policy(), Method.DPM_R, log(probabilities=False), CONFIG).value > 0.5


def test_rounds_without_a_probability_are_left_out_and_counted():
    mixed = [*log(200), *log(probabilities=False)[:40]]
    once = replace(CONFIG, epochs=1)
    assert train_offline(policy(), Method.SNIPS, mixed, once).without_probability == 40
    assert train_offline(policy(), Method.DPM_R, mixed, once).without_probability == 0


def test_rounds_that_the_model_cannot_produce_are_left_out_and_counted():
    strange = [LoggedRound(f"s{number}", "never seen", 0.5, -1.0) for number in range(60)]
    result = train_offline(policy(), Method.DPM_R, [*log(), *strange], replace(CONFIG, epochs=1))
    assert result.rounds + result.held_out == 240
    assert 0 < result.unreachable < 60  # those of held-out sources are not counted


@pytest.mark.parametrize("rounds", [[], log(1), [LoggedRound("s", "b c", 0.5, -1.0)] * 9])
def test_a_log_that_is_too_small_is_refused(rounds):
    with pytest.raises(LogError, match=r"the log has no rounds to learn from|it needs at least two of each"):
        train_offline(policy(), Method.DPM_R, rounds, CONFIG)


@pytest.mark.parametrize("method", list(Method))
def test_every_estimator_trains_a_network(method):
    network = NeuralPolicy(tiny.translator(), PolicyConfig(length_normalised=not method.needs_propensities, samples=2))
    rounds = [
        LoggedRound(source, target if number % 2 else target.split()[0], 0.9 if number % 2 else 0.1, -2.0)
        for number, (source, target) in enumerate(tiny.sentences(60, seed=4))
    ]
    config = OfflineConfig(policy=network._config, batch=16, epochs=1, validate_every=2, held_out=0.3)
    before = network.vector.detach().clone()
    result = train_offline(network, method, rounds, config)
    assert result.steps == 3
    assert (result.best_step == 0) == bool((network.vector == before).all())
