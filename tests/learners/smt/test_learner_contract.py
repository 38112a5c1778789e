"""What all statistical learners have in common: determinism, exact resumption, and refusal of invalid input."""

import pytest

from learners.errors import RewardError, SnapshotError
from learners.smt.log_linear_learners import LogLinearExpectedLossLearner
from learners.snapshot import Snapshot
from tests.learners.rounds import propose, update
from tests.learners.smt.learner_fixtures import LEARNERS, SOURCES, expected_loss, play, state, zeroth_order
from tests.learners.smt.list_translator import CANDIDATE_WEIGHTS

all_learners = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS.keys())


@all_learners
def test_the_same_seed_gives_the_same_game_and_the_same_state(make):
    first, second, fresh = make(seed=3), make(seed=3), make(seed=3)
    assert play(first) == play(second)
    assert state(first) == state(second)
    assert state(first)[1] != state(fresh)[1]


@all_learners
@pytest.mark.parametrize("cut", [3, 8])
def test_a_loaded_snapshot_resumes_exactly(make, cut, tmp_path):
    uninterrupted, first, second = make(seed=3), make(seed=3), make(seed=3)
    expected = play(uninterrupted)
    play(first, SOURCES[:cut])
    first.save().write(tmp_path / "snapshot")
    play(second, SOURCES[:2])  # loading replaces this state
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, SOURCES[cut:]) == expected[cut:]
    assert state(second) == state(uninterrupted)


@all_learners
def test_the_tuned_weights_of_the_translator_never_change(make):
    learner = make()
    play(learner)
    assert learner._translator.weights.tolist() == CANDIDATE_WEIGHTS.tolist()


@all_learners
@pytest.mark.parametrize("reward", [float("nan"), -0.1, 1.1])
def test_an_invalid_reward_is_an_error_and_changes_nothing(make, reward):
    learner = make()
    translation = propose(learner, SOURCES[0])
    before = state(learner)
    with pytest.raises(RewardError, match="a reward is a number between 0 and 1"):
        update(learner, SOURCES[0], translation, reward)
    assert state(learner) == before


@all_learners
def test_a_snapshot_of_another_learner_is_an_error(make):
    other = zeroth_order() if isinstance(make(), LogLinearExpectedLossLearner) else expected_loss()
    with pytest.raises(SnapshotError, match="the snapshot is of"):
        make().load(other.save())
