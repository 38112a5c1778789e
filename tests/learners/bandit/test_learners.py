"""The learners with a network: proposals, steps, snapshots, divergence."""

import zlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import Method, Optimiser, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule, LearningRateDecay
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.bandit.zeroth_order import ZerothOrderConfig, ZerothOrderLearner
from learners.errors import DivergedError, RewardError, SnapshotError
from learners.nmt.vocabulary import EOS
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.nmt.toys import (
    ARCHITECTURES,
    TINY,
    constant_translator,
    log_probability,
    three_token_translator,
    tiny_translator,
)

SGD = OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None)
SOURCES = [source for source, _ in tiny.sentences(12, seed=5)]

REPLAY = {"batch": 2, "replay_batch": 3, "replay_capacity": 5}
GUARDED = SafeguardConfig(max_length_ratio=1.1, anchor_rounds=3, min_entropy=9.0, entropy_bonus=0.01)


def expected_loss(control_variate=NoControlVariate, seed=1, **options):
    config = ExpectedLossConfig(**{"optimiser": SGD, **options})
    return ExpectedLossLearner(tiny.translator(), config, control_variate(), seed=seed)


def zeroth_order(seed=1, **options):
    return ZerothOrderLearner(tiny.translator(), ZerothOrderConfig(**options), RunningMean(), seed=seed)


def self_imitation(seed=1, **options):
    config = SelfImitationConfig(**{"batch": 4, "replay_batch": 3, "replay_capacity": 5, **options})
    return SelfImitationLearner(tiny.translator(), config, SourceValue(), seed=seed)


KINDS = {
    "EL": expected_loss,
    "EL-CV with dropout": lambda **options: expected_loss(RunningMean, dropout=0.5, **options),
    "EL in minibatches": lambda **options: expected_loss(RunningMean, batch=5, optimiser=OptimiserConfig(), **options),
    "EL-VALUE": lambda **options: expected_loss(SourceValue, safeguards=GUARDED, **REPLAY, **options),
    "annealed": lambda **options: expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.1), **options),
    "SZO": zeroth_order,
    "SZO of the output bias": lambda **options: zeroth_order(parameter_prefix="output_bias", **options),
    "self-imitation": self_imitation,
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def reward_of(source, translation):
    """Return a reward that depends on both texts."""
    return zlib.crc32(f"{source} {translation}".encode()) / 2**32


def play(learner, sources=SOURCES):
    proposed = []
    for source in sources:
        proposed.append(learner.propose(source))
        learner.update(source, proposed[-1], reward_of(source, proposed[-1]))
    return proposed


def vector(learner):
    return learner.save().arrays["vector"]


@kinds
def test_the_same_seed_gives_the_same_run_and_learns(make):
    first, second = make(seed=3), make(seed=3)
    before = vector(first)
    assert play(first) == play(second)
    assert np.array_equal(vector(first), vector(second))
    assert not np.array_equal(vector(first), before)


@kinds
@pytest.mark.parametrize("cut", [3, 8])
def test_a_loaded_learner_continues_exactly(make, cut, tmp_path):
    whole = make(seed=3)
    expected = play(whole)
    first, second = make(seed=3), make(seed=99 if cut == 3 and make is expected_loss else 3)
    play(first, SOURCES[:cut])
    first.save().write(tmp_path / "snapshot")
    play(second, SOURCES[:2])  # its own past is replaced
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, SOURCES[cut:]) == expected[cut:]
    assert np.array_equal(vector(second), vector(whole))


@kinds
@pytest.mark.parametrize("rounds", [3, 8])
def test_loading_replaces_all_state(make, rounds):
    first, second = make(seed=3), make(seed=3)
    play(first, SOURCES[:rounds])
    play(second, SOURCES[:7])  # in the middle of a minibatch
    saved = first.save()
    second.load(saved)
    again = second.save()
    assert again.values == saved.values
    assert again.arrays.keys() == saved.arrays.keys()
    assert all(np.array_equal(again.arrays[name], saved.arrays[name]) for name in saved.arrays)
    play(second, SOURCES[:7])  # must not change what was loaded
    third = make(seed=3)
    third.load(saved)
    assert third.save().values == again.values
    assert all(np.array_equal(array, again.arrays[name]) for name, array in third.save().arrays.items())


@kinds
def test_a_proposal_alone_changes_nothing(make):
    learner = make()
    before = vector(learner)
    learner.propose(SOURCES[0])
    assert np.array_equal(vector(learner), before)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (lambda: expected_loss(optimiser=replace(SGD, learning_rate=0.2)), "the snapshot is of the configuration"),
        (lambda: expected_loss(batch=2), "the snapshot is of the configuration"),
        (lambda: expected_loss(RunningMean), "the snapshot is of the control variate {'kind': 'RunningMean'"),
        (lambda: expected_loss(SourceValue), "the snapshot is of the control variate {'kind': 'SourceValue'"),
    ],
)
def test_a_snapshot_of_another_configuration_is_refused(other, difference):
    with pytest.raises(SnapshotError, match=difference):
        expected_loss().load(other().save())


def test_means_with_and_without_the_current_reward_have_different_identities():
    published, other = (RunningMean(include_current=current) for current in (True, False))
    assert published.identity() != other.identity()


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -0.1, 1.1])
def test_an_invalid_reward_is_refused(reward):
    learner = expected_loss()
    translation = learner.propose(SOURCES[0])
    before = vector(learner)
    with pytest.raises(RewardError, match="a reward is a number between 0 and 1"):
        learner.update(SOURCES[0], translation, reward)
    assert np.array_equal(vector(learner), before)


@kinds
def test_a_snapshot_of_another_learner_is_refused(make):
    other = zeroth_order() if isinstance(make(), ExpectedLossLearner) else expected_loss()
    with pytest.raises(SnapshotError, match="the snapshot is of"):
        make().load(other.save())


def test_a_snapshot_of_another_model_is_refused():
    saved = expected_loss().save()
    saved.arrays["vector"] = saved.arrays["vector"][:-1]
    with pytest.raises(SnapshotError, match=r"the snapshot has [\d,]+ parameters, the model has [\d,]+"):
        expected_loss().load(saved)


@pytest.mark.parametrize("rate", [1e30, 1.0])  # at 1, no parameter is large by itself: Adam moves each by the rate
def test_a_step_that_is_too_large_raises(rate):
    learner = expected_loss(RunningMean, optimiser=OptimiserConfig(Method.ADAM, learning_rate=rate))
    with pytest.raises(DivergedError, match="has grown to"):
        play(learner)


def test_the_norm_of_the_parameters_may_grow_tenfold():
    learner = expected_loss(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.0))
    play(learner, SOURCES[:1])
    learner._vector.data *= 9.9
    play(learner, SOURCES[:1])
    learner._vector.data *= 1.02
    with pytest.raises(DivergedError, match="the norm of the parameters has grown to"):
        play(learner, SOURCES[:1])


def test_a_diverged_model_raises():
    learner = zeroth_order()
    with torch.no_grad():
        learner._translator.vector.fill_(float("nan"))
    with pytest.raises(DivergedError, match="it has diverged"):
        learner.propose(SOURCES[0])


@pytest.mark.parametrize(("temperature", "reward"), [(1.0, 0.8), (0.5, 0.3)])
def test_expected_loss_follows_the_gradient_of_its_sample(temperature, reward):
    learner = expected_loss(schedule=AnnealingSchedule(temperature=temperature))
    before = vector(learner)
    translation = learner.propose(SOURCES[0])
    learner.update(SOURCES[0], translation, reward)
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], temperature, np.random.default_rng(1))
    (reward * log_probability(twin, sample.source_ids, sample.ids, temperature)).backward()
    assert sample.text == translation
    assert vector(learner) - before == pytest.approx(0.1 * twin.vector.grad.numpy(), abs=1e-6)


def test_with_the_published_control_variate_the_first_round_teaches_nothing():
    learner = expected_loss(RunningMean)
    before = vector(learner)
    play(learner, SOURCES[:1])
    assert np.array_equal(vector(learner), before)


def test_a_minibatch_is_one_step_along_the_mean_gradient():
    batch = expected_loss(batch=2)
    before = vector(batch)
    play(batch, SOURCES[:1])
    assert np.array_equal(vector(batch), before)
    play(batch, SOURCES[1:2])
    twin, rng = tiny.translator(), np.random.default_rng(1)
    for source in SOURCES[:2]:
        sample = twin.sample(source, 1.0, rng)
        (reward_of(source, sample.text) / 2 * log_probability(twin, sample.source_ids, sample.ids)).backward()
    assert vector(batch) - before == pytest.approx(0.1 * twin.vector.grad.numpy(), abs=1e-6)


def scripted(*lines: list[float]) -> Any:
    """Return a random generator that returns these numbers, a line for each sample."""
    remaining = iter(lines)
    return SimpleNamespace(random=lambda count: np.resize(next(remaining), count), choice=lambda *_, **__: [])


class FixedBaseline(NoControlVariate):
    """Compares every reward with 0.4."""

    def advantage(self, source, reward):
        return reward - 0.4


@pytest.mark.parametrize(("control_variate", "gradient"), [(FixedBaseline, 0.2), (RunningMean, 0.133333)])
@pytest.mark.parametrize("accelerated", [True, False])
def test_the_gradient_of_a_minibatch_of_three_rounds(control_variate, gradient, accelerated):
    """Rewards of 0.2, 0.6 and 0.4 for translations whose d log p are 1, -2 and 0.5.

    The derivatives are those along a direction of the output bias. Its mean is 0, so that every token contributes its
    own number: 0 for the end, 0.5 for an unknown, 1 for "a" and -2 for "b". The running mean is 0.2, 0.4 and 0.4.
    """
    translator = constant_translator(["a", "b"], np.log([0.3, 0.2, 0.3, 0.2]).tolist())
    translator.accelerated = accelerated
    learner = ExpectedLossLearner(translator, ExpectedLossConfig(optimiser=SGD, batch=3), control_variate(), seed=1)
    learner._rng = scripted([0.6, 0.1], [0.9, 0.1], [0.4, 0.1])
    before = translator.model.output_bias.detach().clone()
    for ids, reward in (([4, EOS], 0.2), ([5, EOS], 0.6), ([3, EOS], 0.4)):
        assert torch.equal(translator.model.output_bias, before)
        proposed = learner.propose("a b")
        assert learner._sample is not None
        assert learner._sample.ids == ids
        learner.update("a b", proposed, reward)
    found = (before - translator.model.output_bias.detach()) / SGD.learning_rate
    assert found[2:] @ torch.tensor([0.0, 0.5, 1.0, -2.0]) == pytest.approx(gradient, abs=1e-6)


def test_a_minibatch_of_one_round_is_one_step_a_round():
    learner = expected_loss(RunningMean, batch=1, optimiser=OptimiserConfig(learning_rate=1e-2))
    play(learner)
    twin, control_variate, rng = tiny.translator(), RunningMean(), np.random.default_rng(1)
    optimiser = Optimiser([twin.vector], OptimiserConfig(learning_rate=1e-2))
    for source in SOURCES:
        sample = twin.sample(source, 1.0, rng)
        twin.backward(sample, control_variate.advantage(source, reward_of(source, sample.text)))
        optimiser.step()
    assert np.array_equal(vector(learner), twin.vector.detach().numpy())


def test_with_replay_a_step_also_imitates_an_earlier_success():
    learner = expected_loss(batch=1, replay_batch=1)
    play(learner, SOURCES[:1])
    good, before = learner._sample, vector(learner)
    twin = tiny.translator()
    twin.vector.data.copy_(torch.from_numpy(before))
    rng = np.random.default_rng(1)
    rng.bit_generator.state = learner.save().values["rng"]
    sample = twin.sample(SOURCES[1], 1.0, rng)
    play(learner, SOURCES[1:2])
    objective = sum(
        reward_of(source, one.text) * log_probability(twin, one.source_ids, one.ids)
        for source, one in zip(SOURCES[:2], (good, sample), strict=True)
    )
    (objective / 2).backward()  # one new experience and one replayed
    assert vector(learner) - before == pytest.approx(0.1 * twin.vector.grad.numpy(), abs=1e-6)


def test_experiences_with_a_negative_advantage_are_not_replayed():
    learner = expected_loss(SourceValue, batch=1, replay_batch=1)
    for reward in (0.5, 0.2):  # the first has an advantage of 0, the second a negative one
        learner.update(SOURCES[0], learner.propose(SOURCES[0]), reward)
    assert len(learner._replay) == 0


def with_baseline(control_variate, reward):
    """Return the control variate after its first reward, which is its baseline."""
    control_variate.advantage("", reward)
    return control_variate


def test_nothing_is_learned_from_a_sample_whose_text_is_a_fallback():
    config = ExpectedLossConfig(optimiser=SGD, safeguards=GUARDED, replay_batch=1)
    learner = ExpectedLossLearner(three_token_translator(), config, with_baseline(RunningMean(), 0.2), seed=1)
    before = vector(learner)
    assert learner.propose("a") == "a"  # the greedy translation
    assert learner._sample is not None
    assert learner._sample.ids == [EOS]
    learner.update("a", "a", 0.8)
    assert np.array_equal(vector(learner), before)
    assert len(learner._replay) == 0
    assert learner.save().values["variate"] == {"sum": 1.0, "count": 2}  # which does not depend on translations


def test_a_frozen_learner_translates_greedily_and_does_not_learn():
    learner = expected_loss(schedule=AnnealingSchedule(start=2, temperature_decay=1e-4))
    play(learner, SOURCES[:2])
    before = vector(learner)
    assert play(learner, SOURCES[2:5]) == [learner._translator.greedy(source).text for source in SOURCES[2:5]]
    assert np.array_equal(vector(learner), before)


def in_round(learner, k):
    """Return the learner as if it had completed all rounds before."""
    saved = learner.save()
    saved.values["rounds"] = k - 1
    learner.load(saved)
    return learner


def test_an_annealed_learner_samples_as_long_as_the_temperature_is_above_a_thousandth():
    learner = in_round(expected_loss(), 700_687)
    learner.propose(SOURCES[0])
    assert learner._sample is not None
    assert learner._sample.temperature == pytest.approx(0.001003, abs=1e-6)


@pytest.mark.parametrize("n", [688, 10_346, 74_141])  # below a thousandth, and 0 in single and in double precision
def test_an_annealed_learner_is_frozen_long_before_the_temperature_is_0(n):
    learner = in_round(
        expected_loss(schedule=AnnealingSchedule(learning_rate_decay=LearningRateDecay.DIRECT)), 700_000 + n
    )
    before = vector(learner)
    assert play(learner, SOURCES[:3]) == [learner._translator.greedy(source).text for source in SOURCES[:3]]
    assert np.array_equal(vector(learner), before)


def test_dropout_applies_to_learning_only_and_depends_on_the_seed():
    plain, dropped, again, other = (expected_loss(dropout=p, seed=s) for p, s in ((0, 1), (0.5, 1), (0.5, 1), (0.5, 2)))
    state = torch.random.get_rng_state()
    for learner in (plain, dropped, again, other):
        learner.propose(SOURCES[0])
    assert plain._sample.ids == dropped._sample.ids
    other._sample = dropped._sample
    for learner in (plain, dropped, again, other):
        learner.update(SOURCES[0], "", 1.0)
    assert np.array_equal(vector(dropped), vector(again))
    assert not np.array_equal(vector(dropped), vector(plain))
    assert not np.array_equal(vector(dropped), vector(other))
    assert not dropped._translator.model.training
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_learning_uses_the_learners_dropout_and_not_that_of_pretraining(architecture):
    def learner(pretraining, dropout):
        translator = tiny_translator(replace(TINY, architecture=architecture, dropout=pretraining))
        config = ExpectedLossConfig(optimiser=SGD, dropout=dropout)
        return ExpectedLossLearner(translator, config, NoControlVariate(), seed=1)

    def dropouts(learner):
        return {module.p for module in learner._translator.model.modules() if isinstance(module, torch.nn.Dropout)}

    first, second, without = learner(0.0, 0.5), learner(0.9, 0.5), learner(0.9, 0.0)
    for one in (first, second, without):
        one.propose("rot hemd")
        one.update("rot hemd", "", 0.7)
    assert np.array_equal(vector(first), vector(second))
    assert not np.array_equal(vector(first), vector(without))
    assert (dropouts(first), dropouts(second)) == ({0.0}, {0.9})  # restored


def test_a_learner_finds_the_rewarded_output():
    learner = expected_loss(
        RunningMean,
        optimiser=OptimiserConfig(Method.ADAM, learning_rate=1e-2),
        schedule=AnnealingSchedule(temperature=1.0),
    )
    before = [float("blanket" in learner.propose("rot seil")) for _ in range(30)]
    rewards = []
    for _ in range(150):
        translation = learner.propose("rot seil")
        rewards.append(float("blanket" in translation))
        learner.update("rot seil", translation, rewards[-1])
    assert np.mean(before) < 0.7
    assert np.mean(rewards[-30:]) > 0.9


@pytest.mark.parametrize("kind", [NoControlVariate, RunningMean])
def test_a_network_finds_the_rewarded_first_token(kind):
    translator, control_variate, rng = three_token_translator(), kind(), np.random.default_rng(0)
    optimiser = Optimiser([translator.vector], OptimiserConfig(Method.SGD, learning_rate=0.5, clip_norm=None))

    def probability():
        return translator.model.output_bias[2:].softmax(0)[2].item()

    assert probability() == pytest.approx(0.090031, abs=1e-6)
    for _ in range(200):
        sample = translator.sample("a", 1.0, rng)
        advantage = control_variate.advantage("a", float(sample.ids[0] == 4))
        translator.backward(sample, [advantage, *[0.0] * (len(sample.ids) - 1)])
        optimiser.step()
    assert probability() > 0.99


def test_new_and_replayed_experiences_have_different_dropout_masks(monkeypatch):
    learner = expected_loss(dropout=0.5, replay_batch=1)
    play(learner, SOURCES[:4])
    drawn, draw = [], learner._translator._engine._dropout_masks

    def recorded(*lengths):
        drawn.append(draw(*lengths))
        return drawn[-1]

    monkeypatch.setattr(learner._translator._engine, "_dropout_masks", recorded)
    play(learner, SOURCES[4:5])
    new, replayed = (masks.source[:3] for masks in drawn)
    assert not np.array_equal(new, replayed)
