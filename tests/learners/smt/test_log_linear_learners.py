"""Expected loss and zeroth order on log-linear weights, with steps worked out by hand."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from learners.bandit.control_variates import RunningMean
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.contract import Proposal, Sentence
from learners.smt.configs import DecoderKind
from learners.smt.forest import Derivation
from learners.smt.hypergraph import text_of
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.proposals import sampled_proposal
from tests.learners.rounds import propose, sample_with_probability, update
from tests.learners.smt import toy_language
from tests.learners.smt.learner_fixtures import (
    ADADELTA,
    SGD,
    SOURCES,
    ConstantBaseline,
    expected_loss,
    play,
    random_translator,
    zeroth_order,
)
from tests.learners.smt.list_translator import CANDIDATE_WEIGHTS, CANDIDATES, ListTranslator

SECOND = CANDIDATES[1].translation


def after_sampling_the_second(config, variate, reward=0.3):
    """Return the weights after the second candidate was sampled and earned a reward."""
    for seed in range(50):
        learner = LogLinearExpectedLossLearner(ListTranslator(), config, variate, seed=seed)
        if propose(learner, "x") == SECOND:
            update(learner, "x", SECOND, reward)
            return learner.save().arrays["vector"]
    raise AssertionError("the second candidate has a probability of a quarter")


@pytest.mark.parametrize(("baseline", "weights"), [(1.0, [0.552428, 0.173786, 0.1]), (0.5, [0.514979, 0.192510, 0.1])])
def test_a_step_of_expected_loss(baseline, weights):
    moved = after_sampling_the_second(LogLinearExpectedLossConfig(optimiser=SGD), ConstantBaseline(baseline))
    assert moved == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize(("optimiser", "step"), [(ADADELTA, 0.004472), (OptimiserConfig(learning_rate=1e-3), 0.001)])
def test_the_first_step_of_an_adaptive_optimiser_ignores_the_size_of_the_gradient(optimiser, step):
    moved = after_sampling_the_second(LogLinearExpectedLossConfig(optimiser=optimiser), ConstantBaseline(1.0))
    assert moved - CANDIDATE_WEIGHTS == pytest.approx([step, -step, 0], abs=1e-6)


def test_the_first_round_changes_nothing_with_the_running_mean():
    """The published control variate includes the current reward, so the first advantage is 0."""
    moved = after_sampling_the_second(LogLinearExpectedLossConfig(optimiser=SGD), RunningMean())
    assert moved.tolist() == CANDIDATE_WEIGHTS.tolist()


def test_samples_follow_the_scaled_weights():
    config = LogLinearExpectedLossConfig(weight_scale=10.0)
    learner = LogLinearExpectedLossLearner(ListTranslator(), config, RunningMean(), seed=1)
    sampled = [propose(learner, "x") for _ in range(4_000)]
    unnormalised = np.exp(10 * np.array([0.7, 0.3, 0.7]))
    frequencies = [sampled.count(one.translation) / len(sampled) for one in CANDIDATES]
    assert frequencies == pytest.approx((unnormalised / unnormalised.sum()).tolist(), abs=0.03)


TWO_WAYS = [*CANDIDATES, Derivation(SECOND, np.array([1.0, 0, 1]))]  # the second translation has two derivations


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_sample_has_the_probability_of_its_translation_at_the_temperature(temperature):
    schedule = AnnealingSchedule(temperature=temperature, start=None)
    config = LogLinearExpectedLossConfig(weight_scale=2.0, schedule=schedule)
    learner = LogLinearExpectedLossLearner(ListTranslator(default=TWO_WAYS), config, RunningMean(), seed=1)
    unnormalised = np.exp(2.0 / temperature * np.array([0.7, 0.3, 0.7, 0.6]))
    first, second, third, other = unnormalised / unnormalised.sum()
    expected = {"a c c": first, SECOND: second + other, "a b": third}
    sampled = dict(sample_with_probability(learner, "x") for _ in range(100))
    assert sampled == pytest.approx(expected)


@pytest.mark.parametrize("kind", DecoderKind)
def test_the_probability_of_a_sample_is_that_among_all_derivations_of_the_decoder(kind):
    decoder = toy_language.translator(kind)
    config = LogLinearExpectedLossConfig(weight_scale=0.5, schedule=AnnealingSchedule(temperature=0.7, start=None))
    learner = LogLinearExpectedLossLearner(decoder, config, RunningMean(), seed=1)
    source = "den hund habe ich gesehen"
    weights = 0.5 * decoder.weights
    graph = decoder.forest(source, weights).graph
    total: Counter = Counter()
    for words, features, _ in toy_language.derivations(graph):
        total[text_of(words, str)] += np.exp(features @ weights / 0.7)
    for _ in range(20):
        text, probability = sample_with_probability(learner, source)
        ids = " ".join(str(decoder.model.target_words.id_of(word)) for word in text.split())
        assert probability == pytest.approx(total[ids] / sum(total.values()))


def test_a_certain_translation_has_a_log_probability_of_zero():
    """Where rounding leaves a number above 0, which no probability has."""
    only = [Derivation("a", np.array([0.1, 0.2, 0.3]))]
    learner = LogLinearExpectedLossLearner(
        ListTranslator(default=only), LogLinearExpectedLossConfig(), RunningMean(), seed=1
    )
    assert learner.propose(Sentence("x")) == Proposal("a", 0.0)
    assert sampled_proposal(only[0], 1e-16) == Proposal("a", 0.0)


@pytest.mark.parametrize(("translation", "text"), [("", "-"), ("rope " * 800 + "x", ("rope " * 800).strip())])
def test_a_text_that_is_not_as_sampled_has_no_probability(translation, text):
    derivations = [Derivation(translation, np.array([0.0, 0, 0]))]
    learner = LogLinearExpectedLossLearner(
        ListTranslator(default=derivations), LogLinearExpectedLossConfig(), RunningMean(), seed=1
    )
    assert learner.propose(Sentence("x")) == Proposal(text, None)


def test_zeroth_order_and_frozen_learners_propose_plain_texts():
    """The probability of a translation under random weights is not known, and the best translation is not sampled."""
    frozen = expected_loss(schedule=AnnealingSchedule(start=0, temperature_decay=1e-4))
    for learner in (zeroth_order(), frozen):
        assert isinstance(learner.propose(Sentence("s1")), str)


def test_a_temperature_divides_scores_and_gradient():
    config = LogLinearExpectedLossConfig(optimiser=SGD, schedule=AnnealingSchedule(temperature=0.5, start=None))
    moved = after_sampling_the_second(config, ConstantBaseline(0.5))
    unnormalised = np.exp(2 * np.array([0.7, 0.3, 0.7]))
    expected = unnormalised / unnormalised.sum() @ np.array([one.features for one in CANDIDATES])
    assert moved == pytest.approx(CANDIDATE_WEIGHTS + 0.1 * -0.2 * 2 * (CANDIDATES[1].features - expected))


def test_a_minibatch_is_one_step_along_the_mean_gradient():
    batched = expected_loss(lambda: ConstantBaseline(0.4), batch=2)
    single = expected_loss(lambda: ConstantBaseline(0.4))
    start = batched.save().arrays["vector"]
    play(batched, SOURCES[:1])
    assert batched.save().arrays["vector"].tolist() == start.tolist()
    play(batched, SOURCES[1:2])
    play(single, SOURCES[:1])
    first = single.save().arrays["vector"] - start
    single._weights[:] = start  # play the second round with the same weights, too
    play(single, SOURCES[1:2])
    second = single.save().arrays["vector"] - start
    assert batched.save().arrays["vector"] - start == pytest.approx((first + second) / 2)


def test_a_minibatch_worked_out_by_hand(monkeypatch):
    """Rewards 0.2, 0.6 and 0.4, baseline 0.4, gradients of log p 1, -2 and 0.5: the step is -0.2 times the rate."""
    slopes, rewards = {"s1": 1.0, "s2": -2.0, "s3": 0.5}, {"s1": 0.2, "s2": 0.6, "s3": 0.4}
    lists = {
        one: [Derivation("x", np.array([slope])), Derivation("y", -np.array([slope]))] for one, slope in slopes.items()
    }
    config = LogLinearExpectedLossConfig(optimiser=SGD, batch=3)
    translator = ListTranslator(lists, weights=np.zeros(1))
    learner = LogLinearExpectedLossLearner(translator, config, ConstantBaseline(0.4), seed=1)
    always_first = SimpleNamespace(choice=lambda count, p: 0)  # of two candidates with equal probability
    monkeypatch.setattr(learner, "_rng", always_first)
    for source, reward in rewards.items():
        assert learner._weights.tolist() == [0]
        update(learner, source, propose(learner, source), reward)
    assert learner._weights == pytest.approx([-0.1 * 0.2])


def test_below_the_minimum_temperature_it_plays_the_best_translation_and_stops_learning():
    learner = expected_loss(schedule=AnnealingSchedule(start=2, temperature_decay=1e-4))
    play(learner, SOURCES[:2])
    weights = learner.save().arrays["vector"]
    best = [random_translator().forest(source, weights).best(weights).translation for source in SOURCES[2:5]]
    assert play(learner, SOURCES[2:5]) == best
    assert learner.save().arrays["vector"].tolist() == weights.tolist()


def test_expected_loss_finds_the_rewarded_translation():
    config = LogLinearExpectedLossConfig(optimiser=OptimiserConfig(learning_rate=0.05))
    learner = LogLinearExpectedLossLearner(ListTranslator(), config, RunningMean(), seed=1)
    rewards = []
    for _ in range(300):
        rewards.append(float(propose(learner, "x") == SECOND))
        update(learner, "x", "", rewards[-1])
    assert np.mean(rewards[:30]) < 0.5
    assert np.mean(rewards[-30:]) > 0.9


TWO_FEATURES = [
    Derivation(text, np.array(features)) for text, features in (("a", [1.0, 0]), ("b", [0, 1.0]), ("c", [1.0, 1.0]))
]


def test_a_step_of_zeroth_order(monkeypatch):
    translator = ListTranslator(default=TWO_FEATURES, weights=np.array([0.3, 0.1]))
    config = LogLinearZerothOrderConfig(optimiser=SGD)
    learner = LogLinearZerothOrderLearner(translator, config, ConstantBaseline(0.5), seed=1)
    noise = learner._vector.new_tensor([1.2, -0.7])
    monkeypatch.setattr(learner._noise, "_draw", lambda seed: iter([noise]))
    assert propose(learner, "x") == "a"
    update(learner, "x", "a", 0.2)
    assert learner.save().arrays["vector"] == pytest.approx([0.264, 0.121])


def test_zeroth_order_plays_the_best_translation_under_noise_of_its_scale():
    large, small = zeroth_order(noise_scale=1e3), zeroth_order(noise_scale=1e-9)
    best = random_translator().forest("s1", CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS).translation
    assert len({propose(zeroth_order(noise_scale=1e3, seed=seed), "s1") for seed in range(20)}) > 1
    assert propose(small, "s1") == best
    propose(large, "s1")
    assert large._weights.tolist() == CANDIDATE_WEIGHTS.tolist()
