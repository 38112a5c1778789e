"""Learners assume no device: teacher-forced steps on torch's meta device, where a tensor of another device is an error.

The meta device computes shapes, not values. So it finds mix-ups without a GPU, but it cannot sample or search.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from learners.bandit.critic import Critic
from learners.context.cadec import CadecDecoder
from learners.context.concatenation import SentenceTranslator
from learners.context.two_pass import TwoPassTranslator
from learners.nmt.batches import pad, shift_right
from learners.nmt.hypothesis import Sample
from learners.nmt.model import with_dropout
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import EOS
from learners.offline.logged_round import LoggedRound
from learners.offline.policies import NeuralPolicy, PolicyConfig
from tests.learners.context import tiny
from tests.learners.nmt.toys import ARCHITECTURES, TINY, tiny_translator

META = torch.device("meta")
SOURCE, TARGET = [5, 6, 7, EOS], [7, 6, EOS]  # one pair, as in a round: torch packs several only from the CPU


def on_meta(config, vocabulary):
    """Return a translator whose parameters have no values."""
    model = new_model(config, vocabulary.size, vocabulary.size)
    return Translator(config, model, vocabulary, vocabulary, device=META)


def device_of_gradient(parameter):
    assert parameter.grad is not None
    return parameter.grad.device


@pytest.fixture(params=ARCHITECTURES)
def translator(request):
    config = replace(TINY, architecture=request.param)
    return on_meta(config, tiny_translator(config).source_vocabulary)


def test_a_step_of_expected_loss(translator):
    sample = Sample(SOURCE, TARGET, "red shirt", -1.0, 0.5)
    with with_dropout(translator.model, 0.5):
        translator.backward(sample, 0.3, entropy=0.01)
    translator.backward_likelihood([SOURCE], [TARGET], [np.ones(3)])
    assert device_of_gradient(translator.vector) == META


def test_a_step_of_a_critic(translator):
    size = translator.source_vocabulary.size
    critic = Critic(translator.config, size, size).to(META)
    critic.loss([SOURCE], [TARGET], [0.2]).backward()
    assert device_of_gradient(critic.head.weight) == META


def test_a_step_on_logged_translations(translator):
    policy = NeuralPolicy(translator, PolicyConfig(length_normalised=True))
    logged = LoggedRound("rot hemd", "red shirt", 0.5, None)
    policy.log_probabilities([policy.prepare(logged)]).sum().backward()
    assert device_of_gradient(policy.vector) == META


def test_a_step_in_context():
    vocabulary = tiny.vocabulary()
    base = SentenceTranslator(on_meta(tiny.CONFIG, vocabulary))
    translator = TwoPassTranslator(base, CadecDecoder(tiny.CONFIG, base.translator.model.target_embedding.weight))
    examples, drafts = tiny.examples(2), [[5, 6, EOS], [7, EOS]]
    sources, targets, _ = translator.memories(examples, drafts)
    wanted = pad([translator.target_ids(example)[0] for example in examples], META)
    logits = translator.decoder.decode(translator.decoder.attend_to(sources, targets), shift_right(wanted))
    logits.sum().backward()
    assert device_of_gradient(translator.parameters.vector) == META


def test_a_tensor_of_another_device_is_found(translator):
    translator.model.output_mask = torch.zeros(translator.model.output_mask.shape)
    with pytest.raises(RuntimeError, match=r"device|meta"):
        translator.loss(Sample(SOURCE, TARGET, "red shirt", -1.0, 0.5), 0.3)
