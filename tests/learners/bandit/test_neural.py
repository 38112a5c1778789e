"""What all learners with a network have in common: reproducible runs, exact snapshots, checks for divergence."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from learners.bandit.control_variates import RunningMean
from learners.bandit.expected_loss import ExpectedLossLearner
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.value import SourceValue
from learners.errors import DivergedError, RewardError, SnapshotError
from learners.snapshot import Snapshot
from tests.learners.bandit.tiny_learners import (
    SGD,
    SOURCES,
    expected_loss,
    play,
    self_imitation,
    vector,
    zeroth_order,
)
from tests.learners.rounds import propose, update

REPLAY = {"batch": 2, "replay_batch": 3, "replay_capacity": 5}
LENGTHS = SafeguardConfig(
    max_length_ratio=1.1, min_length_ratio=0.9, anchor_rounds=5, length_bands=2, exclude_loops=True
)
GUARDED = replace(LENGTHS, min_entropy=9.0, entropy_bonus=0.01)
KINDS = {
    "EL": expected_loss,
    "EL-CV with dropout": lambda **options: expected_loss(RunningMean, dropout=0.5, **options),
    "EL in minibatches": lambda **options: expected_loss(RunningMean, batch=5, optimiser=OptimiserConfig(), **options),
    "EL-VALUE": lambda **options: expected_loss(SourceValue, safeguards=GUARDED, **REPLAY, **options),
    "annealed": lambda **options: expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.1), **options),
    "SZO": zeroth_order,
    "SZO of the output bias": lambda **options: zeroth_order(parameter_prefix="output_bias", **options),
    "self-imitation": self_imitation,
    "REPLAY": lambda **options: self_imitation(safeguards=LENGTHS, **options),
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


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
    propose(learner, SOURCES[0])
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
    translation = propose(learner, SOURCES[0])
    before = vector(learner)
    with pytest.raises(RewardError, match="a reward is a number between 0 and 1"):
        update(learner, SOURCES[0], translation, reward)
    assert np.array_equal(vector(learner), before)


@kinds
def test_a_snapshot_of_another_learner_is_refused(make):
    other = zeroth_order() if isinstance(make(), ExpectedLossLearner) else expected_loss()
    with pytest.raises(SnapshotError, match="the snapshot is of"):
        make().load(other.save())


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (expected_loss, "the snapshot is of ExpectedLossLearner 3, not of ExpectedLossLearner 4"),
        (self_imitation, "the snapshot is of ImitationLearner 3, not of ImitationLearner 4"),
    ],
)
def test_a_snapshot_from_before_the_safeguards_by_length_of_source_is_refused(make, expected):
    saved = make().save()
    saved.values["kind"] = saved.values["kind"].replace("4", "3")
    with pytest.raises(SnapshotError, match=f"^{expected}$"):
        make().load(saved)


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
        propose(learner, SOURCES[0])
