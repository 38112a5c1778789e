"""Controls: they sample exactly as learners that learn nothing."""

import numpy as np
import pytest

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.neural_sampling import NeuralSampling
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.contract import Sentence, as_proposal
from learners.errors import SnapshotError
from learners.smt.log_linear_learners import LogLinearExpectedLossConfig, LogLinearExpectedLossLearner
from learners.smt.sampling_controls import ForestSampling, KBestSampling
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.rounds import propose, update
from tests.learners.smt.learner_fixtures import random_translator

NO_STEPS = OptimiserConfig(Method.SGD, learning_rate=0.0, clip_norm=None)
ANNEALED = AnnealingSchedule(temperature=2.0, start=3, temperature_decay=0.1)  # frozen from round 7 on
EXPECTED_LOSS = ExpectedLossConfig(optimiser=NO_STEPS, schedule=ANNEALED)
FOREST = LogLinearExpectedLossConfig(optimiser=NO_STEPS, schedule=ANNEALED, weight_scale=2.0)
K_BEST = TargetNgramConfig(optimiser=NO_STEPS, weight_scale=2.0, candidates=4, buckets=64)
TEXT_SOURCES = [source for source, _ in tiny.sentences(10, seed=5)]
LIST_SOURCES = [f"s{number % 9}" for number in range(14)]

# By name: the control, the learner whose control it is at learning rate 0, and sources for both.
CASES = {
    "network": (
        lambda seed: NeuralSampling(tiny.translator(), ANNEALED, seed=seed),
        lambda seed: ExpectedLossLearner(tiny.translator(), EXPECTED_LOSS, NoControlVariate(), seed=seed),
        TEXT_SOURCES,
    ),
    "forest": (
        lambda seed: ForestSampling(random_translator(), FOREST, seed=seed),
        lambda seed: LogLinearExpectedLossLearner(random_translator(), FOREST, NoControlVariate(), seed=seed),
        LIST_SOURCES,
    ),
    "k-best list": (
        lambda seed: KBestSampling(random_translator(), K_BEST, seed=seed),
        lambda seed: TargetNgramLearner(random_translator(), K_BEST, NoControlVariate(), seed=seed),
        LIST_SOURCES,
    ),
}
all_controls = pytest.mark.parametrize(("control", "learner", "sources"), CASES.values(), ids=CASES.keys())


def play(system, sources):
    """Return what a system proposes, log-probabilities included."""
    proposed = []
    for source in sources:
        proposed.append(system.propose(Sentence(source)))
        update(system, source, "", 0.5)
    return proposed


@all_controls
def test_a_control_samples_as_the_learner_would_that_learns_nothing(control, learner, sources):
    expected = play(learner(4), sources)
    assert play(control(4), sources) == expected
    assert play(control(5), sources) != expected


@all_controls
def test_a_control_is_resumed_exactly(control, learner, sources, tmp_path):
    expected, first, second = play(control(4), sources), control(4), control(9)
    play(first, sources[:5])
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, sources[5:]) == expected[5:]


@all_controls
def test_a_control_ignores_rewards(control, learner, sources):
    rewarded, unrewarded = control(4), control(4)
    for source in sources:
        assert propose(rewarded, source) == propose(unrewarded, source)
        update(rewarded, source, "", 1.0)
        update(unrewarded, source, "", 0.0)


def test_the_snapshot_of_another_control_is_refused():
    control = KBestSampling(random_translator(), K_BEST, seed=1)
    with pytest.raises(SnapshotError, match="the snapshot is of ForestSampling, not of KBestSampling"):
        control.load(ForestSampling(random_translator(), FOREST, seed=1).save())


def test_a_sample_of_the_k_best_list_has_its_probability_in_the_list():
    control = KBestSampling(random_translator(), K_BEST, seed=1)
    translator = random_translator()
    best = translator.forest("s1", translator.weights).k_best(translator.weights, 4)
    scores = np.array([2 * one.features @ translator.weights for one in best])
    expected = dict(zip((one.translation for one in best), np.log(np.exp(scores) / np.exp(scores).sum()), strict=True))
    drawn = [as_proposal(control.propose(Sentence("s1"))) for _ in range(100)]
    assert {one.translation: one.log_probability for one in drawn} == pytest.approx(expected)
