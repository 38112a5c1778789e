"""A context-aware translator learns from the reward of single sentences, and resumes exactly."""

from collections.abc import Sequence

import pytest
import torch

from learners.bandit.control_variates import RunningMean
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.context.examples import Example
from learners.context.expected_loss import ContextExpectedLossConfig, ContextExpectedLossLearner
from learners.context.translator import ContextTranslator
from learners.contract import Feedback, Sentence
from tests.learners.context import tiny

CONFIG = ContextExpectedLossConfig(
    optimiser=OptimiserConfig(Method.ADAM, learning_rate=1e-2), temperature=1.0, batch=2, negative_advantage_weight=0.3
)
SOURCES = ["how are you ?", "are you alone ?", "go home .", "it is late .", "well .", "how are you ?"]


def learner_of(translator: ContextTranslator, seed: int = 1) -> ContextExpectedLossLearner:
    return ContextExpectedLossLearner(translator, CONFIG, RunningMean(), seed=seed)


def play(learner: ContextExpectedLossLearner, rounds: Sequence[int], document: str | None = "a") -> list[str]:
    proposed = []
    for number in rounds:
        sentence = Sentence(SOURCES[number], document, number if document else None)
        proposed.append(learner.propose(sentence))
        learner.update(sentence, proposed[-1], Feedback((number % 3) / 2))
    return proposed


@pytest.mark.parametrize("kind", ["concat", "cadec"])
def test_a_resumed_learner_plays_and_learns_the_same(kind):
    whole, first, second = (learner_of(tiny.KINDS[kind]()) for _ in range(3))
    expected = play(whole, range(6))
    begun = play(first, range(3))  # a round into a minibatch and into a document
    second.load(first.save())
    assert begun + play(second, range(3, 6)) == expected
    assert torch.equal(second._vector, whole._vector)


def test_cadec_learns_and_its_base_model_does_not():
    translator = tiny.two_pass()
    base, own = (model.parameters.vector.detach().clone() for model in (translator.base, translator))
    play(learner_of(translator), range(6))
    assert torch.equal(translator.base.parameters.vector, base)
    assert not torch.equal(translator.parameters.vector, own)


def test_without_documents_cadec_is_its_base_model():
    translator = tiny.two_pass()
    before = translator.parameters.vector.detach().clone()
    found = play(learner_of(translator), range(4), document=None)
    assert found == translator.base.translate([Example(source) for source in SOURCES[:4]])
    assert torch.equal(translator.parameters.vector, before)


def test_what_earned_more_than_expected_becomes_more_likely():
    translator = tiny.concat()
    learner = learner_of(translator)
    sentence = Sentence("are you alone ?")
    sampled = []
    for reward in (0.0, 1.0):  # the running mean of both is 0.5; the first has no advantage
        text = learner.propose(sentence)
        assert learner._sampled is not None
        sampled.append(learner._sampled)
        if reward:
            before = translator.output_losses(*([each] for each in sampled[1]), temperature=1.0).item()
        learner.update(sentence, text, Feedback(reward))
    assert translator.output_losses(*([each] for each in sampled[1]), temperature=1.0).item() < before
