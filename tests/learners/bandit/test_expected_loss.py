"""Expected loss: a step follows the gradient of the sample, weighted by advantage, schedule and safeguards."""

from dataclasses import replace
from itertools import product
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
from learners.bandit.value import SourceValue
from learners.contract import Proposal, Sentence
from learners.nmt import decoding, engine
from learners.nmt import translator as translator_module
from learners.nmt.vocabulary import EOS, UNK
from tests.learners import tiny
from tests.learners.bandit.tiny_learners import (
    SGD,
    SOURCES,
    FixedBaseline,
    expected_loss,
    in_round,
    play,
    reward_of,
    vector,
    with_baseline,
)
from tests.learners.nmt.toys import (
    ARCHITECTURES,
    TINY,
    constant_translator,
    log_probability,
    three_token_translator,
    tiny_translator,
)
from tests.learners.rounds import propose, sample_with_probability, update

ENTROPIC = SafeguardConfig(min_entropy=9.0, entropy_bonus=0.4)


def gradient(twin, *samples, entropy=0.0):
    """Return the summed gradient of samples with these weights, as the translator computes it."""
    for sample, weight in samples:
        twin.backward(sample, weight, entropy=entropy)
    return twin.vector.grad.numpy()


@pytest.mark.parametrize(("decay", "factor"), [(LearningRateDecay.CUMULATIVE, 0.125), (LearningRateDecay.DIRECT, 0.25)])
def test_in_the_second_round_of_annealing_rate_and_temperature_have_decayed_twice(decay, factor):
    learner = in_round(
        expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.5, learning_rate_decay=decay)), 5
    )
    before = vector(learner)
    play(learner, SOURCES[:1])
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 0.25, np.random.default_rng(1))
    expected = gradient(twin, (sample, reward_of(SOURCES[0], sample.text)))
    assert np.abs(expected).max() > 0.1
    assert vector(learner) - before == pytest.approx(-0.1 * factor * expected, abs=1e-6)


def test_a_long_gradient_is_clipped_over_all_parameters():
    learner = expected_loss(optimiser=OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=0.01))
    before = vector(learner)
    play(learner, SOURCES[:1])
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 1.0, np.random.default_rng(1))
    expected = gradient(twin, (sample, reward_of(SOURCES[0], sample.text)))
    assert np.linalg.norm(expected) > 0.01
    assert learner.measurements() == {"gradient_norm": pytest.approx(np.linalg.norm(expected), rel=1e-4)}  # before it
    assert vector(learner) - before == pytest.approx(-0.1 * 0.01 * expected / np.linalg.norm(expected), abs=1e-6)


def test_the_entropy_bonus_is_averaged_over_a_minibatch():
    learner = expected_loss(batch=2, safeguards=ENTROPIC)
    before = vector(learner)
    play(learner, SOURCES[:2])
    twin, rng = tiny.translator(), np.random.default_rng(1)
    samples = [twin.sample(source, 1.0, rng) for source in SOURCES[:2]]
    weighted = [(one, reward_of(source, one.text) / 2) for source, one in zip(SOURCES[:2], samples, strict=True)]
    with_bonus = gradient(twin, *weighted, entropy=0.2).copy()
    twin.zero_gradient()
    assert np.abs(with_bonus - gradient(twin, *weighted)).max() > 0.01
    assert vector(learner) - before == pytest.approx(-0.1 * with_bonus, abs=1e-6)


def test_a_negative_advantage_can_count_less():
    learner = expected_loss(FixedBaseline, safeguards=SafeguardConfig(negative_advantage_weight=0.3))
    before = vector(learner)
    update(learner, SOURCES[0], propose(learner, SOURCES[0]), 0.2)  # 0.2 less than expected
    twin = tiny.translator()
    sample = twin.sample(SOURCES[0], 1.0, np.random.default_rng(1))
    assert vector(learner) - before == pytest.approx(-0.1 * gradient(twin, (sample, -0.06)), abs=1e-6)


def test_the_replay_buffer_keeps_advantages_as_the_safeguards_limit_them(monkeypatch):
    learner = expected_loss(replay_batch=1)
    monkeypatch.setattr(learner._safeguards, "limit", lambda *_, **__: 0.05)
    play(learner, SOURCES[:1])
    assert [one["advantage"] for one in learner.save().values["memory"]["experiences"]] == [0.05]


def test_dropout_differs_from_round_to_round():
    learner = expected_loss(dropout=0.5, optimiser=replace(SGD, learning_rate=0.0))
    propose(learner, SOURCES[0])
    seen, optimiser = [], learner._optimiser._optimiser
    optimiser.step = lambda: seen.append(learner._vector.grad.clone())
    for _ in range(2):  # the same sample, with the same parameters
        update(learner, SOURCES[0], "", 1.0)
    assert seen[0].norm() > 0.1
    assert (seen[0] - seen[1]).norm() > 0.1


@pytest.mark.parametrize(("temperature", "reward"), [(1.0, 0.8), (0.5, 0.3)])
def test_expected_loss_follows_the_gradient_of_its_sample(temperature, reward):
    learner = expected_loss(schedule=AnnealingSchedule(temperature=temperature))
    before = vector(learner)
    translation = propose(learner, SOURCES[0])
    update(learner, SOURCES[0], translation, reward)
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
        proposed = propose(learner, "a b")
        assert learner._sample is not None
        assert learner._sample.ids == ids
        update(learner, "a b", proposed, reward)
    found = (before - translator.model.output_bias.detach()) / SGD.learning_rate
    assert found[2:] @ torch.tensor([0.0, 0.5, 1.0, -2.0]) == pytest.approx(gradient, abs=1e-6)


def all_outputs(max_length):
    """Yield the tokens of every output of a model with two words: ended, or as long as the limit."""
    for length in range(max_length + 1):
        for words in product((UNK, 4, 5), repeat=length):
            yield [*words, EOS] if length < max_length else list(words)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("accelerated", [True, False])
def test_every_proposal_has_its_probability_among_all_outputs(temperature, accelerated, monkeypatch):
    for module in (decoding, engine, translator_module):
        monkeypatch.setattr(module, "max_output_length", lambda _length: 3)
    translator = constant_translator(["a", "b"], np.log([0.4, 0.1, 0.2, 0.3]).tolist())
    translator.accelerated = accelerated
    config = ExpectedLossConfig(schedule=AnnealingSchedule(temperature=temperature, start=None))
    learner = ExpectedLossLearner(translator, config, NoControlVariate(), seed=1)
    tempered = np.array([0.4, 0.1, 0.2, 0.3]) ** (1 / temperature)
    probabilities = dict(zip((EOS, UNK, 4, 5), tempered / tempered.sum(), strict=True))
    quantiles = dict(zip(probabilities, np.cumsum([*probabilities.values()]) - 1e-3, strict=True))
    total: float = probabilities[EOS]  # an output without a word: its fallback has no probability
    texts = set()
    for ids in all_outputs(3):
        learner._rng = scripted([quantiles[token] for token in ids])
        if ids == [EOS]:
            assert learner.propose(Sentence("c")) == Proposal("b", None)  # the greedy translation
            continue
        text, probability = sample_with_probability(learner, "c")  # an unknown word, which unknown tokens copy
        assert text == " ".join({UNK: "c", 4: "a", 5: "b"}[token] for token in ids if token != EOS)
        assert probability == pytest.approx(np.prod([probabilities[token] for token in ids]), rel=1e-5)
        total += probability
        texts.add(text)
    assert len(texts) == 3 + 9 + 27
    assert total == pytest.approx(1.0, abs=1e-5)


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
        update(learner, SOURCES[0], propose(learner, SOURCES[0]), reward)
    assert len(learner._replay) == 0


def test_nothing_is_learned_from_a_sample_whose_text_is_a_fallback():
    config = ExpectedLossConfig(optimiser=SGD, safeguards=ENTROPIC, replay_batch=1)
    learner = ExpectedLossLearner(three_token_translator(), config, with_baseline(RunningMean(), 0.2), seed=1)
    before = vector(learner)
    assert propose(learner, "a") == "a"  # the greedy translation
    assert learner._sample is not None
    assert learner._sample.ids == [EOS]
    update(learner, "a", "a", 0.8)
    assert np.array_equal(vector(learner), before)
    assert len(learner._replay) == 0
    assert learner.save().values["variate"] == {"sum": 1.0, "count": 2}  # which does not depend on translations


def test_a_frozen_learner_translates_greedily_and_does_not_learn():
    learner = expected_loss(schedule=AnnealingSchedule(start=2, temperature_decay=1e-4))
    play(learner, SOURCES[:2])
    before = vector(learner)
    assert play(learner, SOURCES[2:5]) == [learner._translator.greedy(source).text for source in SOURCES[2:5]]
    assert np.array_equal(vector(learner), before)
    assert isinstance(learner.propose(Sentence(SOURCES[0])), str)


def test_an_annealed_learner_samples_as_long_as_the_temperature_is_above_a_thousandth():
    learner = in_round(expected_loss(), 700_687)
    propose(learner, SOURCES[0])
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
        propose(learner, SOURCES[0])
    assert plain._sample.ids == dropped._sample.ids
    other._sample = dropped._sample
    for learner in (plain, dropped, again, other):
        update(learner, SOURCES[0], "", 1.0)
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
        propose(one, "rot hemd")
        update(one, "rot hemd", "", 0.7)
    assert np.array_equal(vector(first), vector(second))
    assert not np.array_equal(vector(first), vector(without))
    assert (dropouts(first), dropouts(second)) == ({0.0}, {0.9})  # restored


def test_a_learner_finds_the_rewarded_output():
    learner = expected_loss(
        RunningMean,
        optimiser=OptimiserConfig(Method.ADAM, learning_rate=1e-2),
        schedule=AnnealingSchedule(temperature=1.0),
    )
    before = [float("blanket" in propose(learner, "rot seil")) for _ in range(30)]
    rewards = []
    for _ in range(150):
        translation = propose(learner, "rot seil")
        rewards.append(float("blanket" in translation))
        update(learner, "rot seil", translation, rewards[-1])
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
