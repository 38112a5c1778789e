"""The learners of log-linear weights: the literal numbers of cards B4, B5, B12 and B14, and exact resumes."""

import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from learners.bandit.control_variates import ControlVariate, RunningMean
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.value import SourceValue
from learners.contract import PLACEHOLDER
from learners.errors import RewardError, SnapshotError
from learners.smt.forest import Derivation
from learners.smt.limsi import LimsiConfig, LimsiLearner, LimsiVariant
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.static_log_linear import StaticLogLinear
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.snapshot import Snapshot
from tests.learners.smt.list_translator import CANDIDATE_WEIGHTS, CANDIDATES, ListTranslator, random_lists

SGD = OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None)
SOURCES = [f"s{number % 9}" for number in range(14)]


class Baseline(ControlVariate):
    """Compares with the same number for ever."""

    def __init__(self, number):
        self._number = number

    def advantage(self, source, reward):
        return reward - self._number

    def save(self):
        return Snapshot()

    def load(self, snapshot):
        pass


def translator():
    return ListTranslator(random_lists(SOURCES))


def expected_loss(variate=RunningMean, seed=1, **options):
    return LogLinearExpectedLossLearner(
        translator(), LogLinearExpectedLossConfig(**{"optimiser": SGD, **options}), variate(), seed=seed
    )


def szo(seed=1, **options):
    return LogLinearZerothOrderLearner(
        translator(), LogLinearZerothOrderConfig(**{"optimiser": SGD, **options}), RunningMean(), seed=seed
    )


def limsi(variant):
    return lambda seed=1: LimsiLearner(translator(), LimsiConfig(variant=variant), seed=seed)


ADAM, ADADELTA = OptimiserConfig(Method.ADAM, learning_rate=0.01), OptimiserConfig(Method.ADADELTA, learning_rate=1.0)
KINDS = {
    "EL-CV-Adam": lambda **options: expected_loss(optimiser=ADAM, **options),
    "EL-CV-Adadelta": lambda **options: expected_loss(optimiser=ADADELTA, **options),
    "EL in minibatches": lambda **options: expected_loss(batch=5, **options),
    "EL-VALUE": lambda **options: expected_loss(SourceValue, scale=4.0, **options),
    "annealed": lambda **options: expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.1), **options),
    "EL of words": lambda seed=1: TargetNgramLearner(
        translator(), TargetNgramConfig(buckets=256), SourceValue(), seed=seed
    ),
    "SZO-CV-Adam": lambda **options: szo(optimiser=ADAM, **options),
    **{f"LIMSI-{variant}": limsi(variant) for variant in LimsiVariant},
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def play(learner, sources=SOURCES):
    proposed = []
    for source in sources:
        proposed.append(learner.propose(source))
        learner.update(source, proposed[-1], zlib.crc32(f"{source} {proposed[-1]}".encode()) / 2**32)
    return proposed


def state(learner):
    snapshot = learner.save()
    return snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}


@kinds
def test_the_same_seed_plays_the_same_game_and_learns(make):
    first, second, fresh = make(seed=3), make(seed=3), make(seed=3)
    assert play(first) == play(second)
    assert state(first) == state(second)
    assert state(first)[1] != state(fresh)[1]


@kinds
@pytest.mark.parametrize("cut", [3, 8])
def test_it_goes_on_exactly_where_it_was_saved(make, cut, tmp_path):
    whole, first, second = make(seed=3), make(seed=3), make(seed=3)
    expected = play(whole)
    play(first, SOURCES[:cut])
    first.save().write(tmp_path / "snapshot")
    play(second, SOURCES[:2])  # whatever it lived through is replaced
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, SOURCES[cut:]) == expected[cut:]
    assert state(second) == state(whole)


@kinds
def test_the_tuned_weights_of_the_translator_are_never_touched(make):
    learner = make()
    play(learner)
    assert learner._translator.weights.tolist() == CANDIDATE_WEIGHTS.tolist()


@kinds
@pytest.mark.parametrize("reward", [float("nan"), -0.1, 1.1])
def test_a_reward_that_is_none_is_refused_and_teaches_nothing(make, reward):
    learner = make()
    translation = learner.propose(SOURCES[0])
    before = state(learner)
    with pytest.raises(RewardError, match="a reward is a number between 0 and 1"):
        learner.update(SOURCES[0], translation, reward)
    assert state(learner) == before


@kinds
def test_a_snapshot_of_another_learner_is_refused(make):
    other = szo() if isinstance(make(), LogLinearExpectedLossLearner) else expected_loss()
    with pytest.raises(SnapshotError, match="the snapshot is of"):
        make().load(other.save())


def test_variants_of_limsi_do_not_take_each_other_for_themselves():
    with pytest.raises(SnapshotError, match=r"of LIMSI 1 UCB1, not of LIMSI 1 UCB1-select"):
        limsi(LimsiVariant.SELECT)().load(limsi(LimsiVariant.UCB1)().save())


# Card B4: candidate 2 was sampled and earned 0.3.


def after_candidate_two(config, variate, reward=0.3):
    for seed in range(50):
        learner = LogLinearExpectedLossLearner(ListTranslator(), config, variate, seed=seed)
        if learner.propose("x") == CANDIDATES[1].translation:
            learner.update("x", CANDIDATES[1].translation, reward)
            return learner.save().arrays["vector"]
    raise AssertionError("the second candidate has a probability of a quarter")


@pytest.mark.parametrize(("baseline", "weights"), [(1.0, [0.552428, 0.173786, 0.1]), (0.5, [0.514979, 0.192510, 0.1])])
def test_a_step_of_expected_loss(baseline, weights):
    moved = after_candidate_two(LogLinearExpectedLossConfig(optimiser=SGD), Baseline(baseline))
    assert moved == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize(("optimiser", "step"), [(ADADELTA, 0.004472), (OptimiserConfig(learning_rate=1e-3), 0.001)])
def test_the_first_adaptive_step_has_a_size_of_its_own(optimiser, step):
    moved = after_candidate_two(LogLinearExpectedLossConfig(optimiser=optimiser), Baseline(1.0))
    assert moved - CANDIDATE_WEIGHTS == pytest.approx([step, -step, 0], abs=1e-6)


def test_the_first_round_teaches_nothing_with_the_published_control_variate():
    assert (
        after_candidate_two(LogLinearExpectedLossConfig(optimiser=SGD), RunningMean()).tolist()
        == CANDIDATE_WEIGHTS.tolist()
    )


def test_samples_follow_the_scaled_weights():
    learner = LogLinearExpectedLossLearner(
        ListTranslator(), LogLinearExpectedLossConfig(scale=10.0), RunningMean(), seed=1
    )
    drawn = [learner.propose("x") for _ in range(4_000)]
    odds = np.exp(10 * np.array([0.7, 0.3, 0.7]))
    shares = [drawn.count(one.translation) / len(drawn) for one in CANDIDATES]
    assert shares == pytest.approx((odds / odds.sum()).tolist(), abs=0.03)


def test_a_temperature_divides_scores_and_gradient():
    cold = LogLinearExpectedLossConfig(optimiser=SGD, schedule=AnnealingSchedule(temperature=0.5, start=None))
    moved = after_candidate_two(cold, Baseline(0.5))
    odds = np.exp(2 * np.array([0.7, 0.3, 0.7]))
    expected = odds / odds.sum() @ np.array([one.features for one in CANDIDATES])
    assert moved == pytest.approx(CANDIDATE_WEIGHTS + 0.1 * -0.2 * 2 * (CANDIDATES[1].features - expected))


def test_a_minibatch_is_one_step_along_the_mean_gradient():
    one, two = expected_loss(lambda: Baseline(0.4), batch=2), expected_loss(lambda: Baseline(0.4))
    start = one.save().arrays["vector"]
    play(one, SOURCES[:1])
    assert one.save().arrays["vector"].tolist() == start.tolist()
    play(one, SOURCES[1:2])
    play(two, SOURCES[:1])
    first = two.save().arrays["vector"] - start
    two._weights[:] = start  # play the second round with the same weights, too
    play(two, SOURCES[1:2])
    second = two.save().arrays["vector"] - start
    assert one.save().arrays["vector"] - start == pytest.approx((first + second) / 2)


def test_a_minibatch_of_card_b14(monkeypatch):
    slopes, rewards = {"s1": 1.0, "s2": -2.0, "s3": 0.5}, {"s1": 0.2, "s2": 0.6, "s3": 0.4}
    lists = {
        one: [Derivation("x", np.array([slope])), Derivation("y", -np.array([slope]))] for one, slope in slopes.items()
    }
    config = LogLinearExpectedLossConfig(optimiser=SGD, batch=3)
    learner = LogLinearExpectedLossLearner(ListTranslator(lists, weights=np.zeros(1)), config, Baseline(0.4), seed=1)
    first = SimpleNamespace(choice=lambda count, p: 0)  # of both, which are equally probable
    monkeypatch.setattr(learner, "_rng", first)
    for source, reward in rewards.items():
        assert learner._weights.tolist() == [0]
        learner.update(source, learner.propose(source), reward)
    assert learner._weights == pytest.approx([-0.1 * 0.2])


def test_once_cold_it_plays_the_best_and_learns_no_more():
    learner = expected_loss(schedule=AnnealingSchedule(start=2, temperature_decay=1e-4))
    play(learner, SOURCES[:2])
    weights = learner.save().arrays["vector"]
    best = [translator().forest(source, weights).best(weights).translation for source in SOURCES[2:5]]
    assert play(learner, SOURCES[2:5]) == best
    assert learner.save().arrays["vector"].tolist() == weights.tolist()


# Card B5.

B5 = [Derivation(text, np.array(features)) for text, features in (("a", [1.0, 0]), ("b", [0, 1.0]), ("c", [1.0, 1.0]))]


def test_a_step_of_zeroth_order(monkeypatch):
    two = ListTranslator(usual=B5, weights=np.array([0.3, 0.1]))
    learner = LogLinearZerothOrderLearner(two, LogLinearZerothOrderConfig(optimiser=SGD), Baseline(0.5), seed=1)
    noise = learner._vector.new_tensor([1.2, -0.7])
    monkeypatch.setattr(learner._noise, "_draw", lambda seed: iter([noise]))
    assert learner.propose("x") == "a"
    learner.update("x", "a", 0.2)
    assert learner.save().arrays["vector"] == pytest.approx([0.264, 0.121])


def test_zeroth_order_plays_the_best_under_noise_of_its_scale():
    wild, tame = szo(noise=1e3), szo(noise=1e-9)
    best = translator().forest("s1", CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS).translation
    assert len({wild.propose("s1") for wild in (szo(noise=1e3, seed=seed) for seed in range(20))}) > 1
    assert tame.propose("s1") == best
    assert wild._weights.tolist() == CANDIDATE_WEIGHTS.tolist()


def test_expected_loss_finds_the_weights_that_pay():
    learner = LogLinearExpectedLossLearner(
        ListTranslator(),
        LogLinearExpectedLossConfig(optimiser=OptimiserConfig(learning_rate=0.05)),
        RunningMean(),
        seed=1,
    )
    rewards = []
    for _ in range(300):
        rewards.append(float(learner.propose("x") == CANDIDATES[1].translation))
        learner.update("x", "", rewards[-1])
    assert np.mean(rewards[:30]) < 0.5
    assert np.mean(rewards[-30:]) > 0.9


# Card B12.


def test_the_first_two_rounds_of_ucb1_play_either_system():
    learner = limsi(LimsiVariant.UCB1)()
    seed = translator().forest("s0", CANDIDATE_WEIGHTS)
    assert learner.propose("s0") == seed.best(CANDIDATE_WEIGHTS).translation
    learner.update("s0", "", 0.5)
    predicting = learner._regression.weights[:-1]
    assert learner.propose("s0") == seed.best(predicting).translation


def test_the_adapted_system_is_the_seed_while_there_is_nothing_to_predict_from():
    learner = limsi(LimsiVariant.UCB1)()
    learner.propose("s0")
    learner.update("s0", "", 0.0)
    assert learner.propose("s1") == translator().forest("s1", CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS).translation


def test_select_teaches_either_the_regression_or_the_choice():
    learner = limsi(LimsiVariant.SELECT)()
    before = state(learner)[1]
    changed = []
    for source in SOURCES[:4]:
        play(learner, [source])
        after = state(learner)[1]
        changed.append({name.partition("/")[0] for name in after if after[name] != before[name]})
        before = after
    assert changed == [{"regression"}, {"choice"}, {"regression"}, {"choice"}]


def test_limsi_finds_what_pays_where_the_seed_system_does_not():
    known = ListTranslator(random_lists([f"s{number}" for number in range(40)]))
    paying = np.array([-1.0, 0.5, 0.0])  # the seed's weights say nearly the opposite
    features = {one.translation: one.features for each in known.lists.values() for one in each}
    rewards: dict[str, list[float]] = {"seed": [], "learner": []}
    systems = {"seed": StaticLogLinear(known), "learner": LimsiLearner(known, LimsiConfig(), seed=1)}
    for number in range(400):
        source = f"s{number % 40}"
        for name, system in systems.items():
            translation = system.propose(source)
            rewards[name].append(float(np.clip(0.5 + 0.2 * paying @ features[translation], 0, 1)))
            system.update(source, translation, rewards[name][-1])
    assert np.mean(rewards["seed"]) < 0.5
    assert np.mean(rewards["learner"]) > 0.6


# The static systems.


def test_a_static_system_plays_the_best_translation_and_never_changes():
    known = translator()
    static = StaticLogLinear(known)
    expected = [known.forest(source, CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS).translation for source in SOURCES]
    assert play(static) == play(static) == expected
    assert known.weights.tolist() == CANDIDATE_WEIGHTS.tolist()


def test_an_empty_translation_is_not_proposed():
    silent = ListTranslator(usual=[Derivation("", np.ones(3))])
    assert StaticLogLinear(silent).propose("") == PLACEHOLDER


def test_a_translation_that_is_too_long_is_cut():
    talkative = ListTranslator(usual=[Derivation("rope " * 1_000, np.ones(3))])
    assert StaticLogLinear(talkative).propose("seil") == " ".join(["rope"] * 800)
