"""The compiled engine computes the same as torch, which is the reference in double precision."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch

from learners.nmt.translator import Translator
from tests.learners.nmt.toys import TINY, finite_differences, tiny_translator

SOURCE = "rot x hemd mit tasche"
CONFIGS = {
    "tied": TINY,
    "untied": replace(TINY, tied=False),
    "words": replace(TINY, vocabulary="word"),
    "odd sizes": replace(TINY, embedding=7, encoder=5, decoder=9),
    "lexical": replace(TINY, lexical=True),
    "lexical words": replace(TINY, lexical=True, vocabulary="word"),
}


@pytest.fixture(autouse=True)
def fixed_dropout_masks():
    """Seed torch's generator, which draws the masks: single precision is good for most of them, but not for all."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        yield


@pytest.fixture(params=CONFIGS.values(), ids=list(CONFIGS))
def both(request) -> tuple[Translator, Translator]:
    """Return the same model twice: in single precision with the engine, in double precision with torch."""
    fast, exact = tiny_translator(request.param), tiny_translator(request.param, dtype=torch.float64)
    exact.vector.data.copy_(fast.vector.data)
    exact.accelerated = False
    return fast, exact


@pytest.mark.parametrize("temperature", [1.0, 0.3, 0.0])
def test_the_same_random_numbers_give_the_same_translations(both, temperature):
    for seed in range(10):
        fast, exact = (translator.sample(SOURCE, temperature, np.random.default_rng(seed)) for translator in both)
        assert fast.trace is not None
        assert exact.trace is None
        assert (fast.ids, fast.text) == (exact.ids, exact.text)
        assert fast.log_probability == pytest.approx(exact.log_probability, abs=1e-4)


def test_greedy_translations_are_the_same(both):
    fast, exact = (translator.greedy(SOURCE) for translator in both)
    assert (fast.ids, fast.text) == (exact.ids, exact.text)


@pytest.mark.parametrize("entropy", [0.0, 0.3])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_gradients_are_the_same(both, temperature, entropy):
    gradients = []
    for translator in both:
        sample = translator.sample(SOURCE, temperature, np.random.default_rng(3))
        weights = np.linspace(-0.5, 1, len(sample.ids))
        translator.backward(sample, weights, entropy=entropy)
        gradients.append(translator.vector.grad.double())
    assert gradients[1].abs().max() > 0.1
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-5, atol=1e-5)


def test_gradients_of_the_likelihood_are_the_same(both):
    gradients = []
    for translator in both:
        samples = [translator.sample(SOURCE[start:], 1.0, np.random.default_rng(start)) for start in range(3)]
        translator.backward_likelihood(
            [one.source_ids for one in samples], [one.ids for one in samples], [0.5, 0.0, 1.5]
        )
        gradients.append(translator.vector.grad.double())
    assert gradients[1].abs().max() > 0.1
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-5, atol=1e-5)


def test_gradients_of_several_samples_add_up():
    together, alone = tiny_translator(), tiny_translator()
    total = torch.zeros_like(together.vector)
    samples = [together.sample(SOURCE, 1.0, np.random.default_rng(seed)) for seed in range(3)]
    for sample in samples:  # all were sampled before the first gradient, as in a minibatch
        together.backward(sample, 0.5)
        alone.zero_gradient()
        alone.backward(sample, 0.5)
        total += alone.parameters.gradient
    torch.testing.assert_close(together.vector.grad, total)


def test_twenty_steps_of_adam_lead_to_the_same_place():
    fast, exact = tiny_translator(), tiny_translator(dtype=torch.float64)
    exact.vector.data.copy_(fast.vector.data)
    exact.accelerated = False
    start = exact.vector.detach().clone()
    for translator in (fast, exact):
        optimiser = torch.optim.Adam([translator.vector], lr=1e-3, fused=True)
        rng = np.random.default_rng(8)
        for step in range(20):
            sample = translator.sample(SOURCE, 0.8, rng)
            translator.zero_gradient()
            translator.backward(sample, 0.1 + 0.01 * step)
            torch.nn.utils.clip_grad_norm_([translator.vector], 1.0)
            optimiser.step()
    assert (exact.vector - start).abs().max() > 1e-2
    assert (fast.vector.double() - exact.vector).abs().max() < 1e-4


class FixedDropout(torch.nn.Module):
    """Dropout with given masks, in the order in which the model applies them."""

    def __init__(self, masks):
        super().__init__()
        self._dropout_masks = iter(torch.from_numpy(mask).double() for mask in masks)

    def forward(self, rows):
        return rows * next(self._dropout_masks)


@pytest.mark.parametrize("entropy", [0.0, 0.3])
def test_gradients_with_the_same_dropout_are_the_same(both, entropy):
    fast, exact = both
    sample = fast.sample(SOURCE, 0.5, np.random.default_rng(3))
    engine = fast._engine
    assert engine is not None
    trace = engine.forward(sample.source_ids, sample.ids, 0.5, dropout=0.5)
    weights = np.linspace(-0.5, 1, len(sample.ids))
    engine.backward(trace, weights, entropy)
    exact.model.dropout = FixedDropout(trace.masks)
    exact.loss(sample, weights, entropy=entropy).backward()
    assert exact.vector.grad.abs().max() > 0.1
    torch.testing.assert_close(fast.vector.grad.double(), exact.vector.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("entropy", [0.0, 0.3])
def test_gradients_equal_finite_differences(both, entropy, dropout):
    """Torch computes the differences, in double precision: the engine's precision is too low for them."""
    fast, exact = both
    sample = fast.sample(SOURCE, 0.5, np.random.default_rng(3))
    engine = fast._engine
    assert engine is not None
    trace = engine.forward(sample.source_ids, sample.ids, 0.5, dropout)
    weights = np.linspace(-0.5, 1, len(sample.ids))
    engine.backward(trace, weights, entropy)

    def loss():
        if dropout:
            exact.model.dropout = FixedDropout(trace.masks)
        return exact.loss(sample, weights, entropy=entropy).item()

    possible = trace.decoder.probabilities[:, 2:]
    chosen = trace.decoder.probabilities[np.arange(len(sample.ids)), sample.ids]
    by_engine = -weights @ np.log(chosen) + entropy * (possible * np.log(possible)).sum()
    assert by_engine == pytest.approx(loss(), rel=1e-5)
    places, slopes = finite_differences(loss, exact.vector, 30)
    assert fast.vector.grad[places].tolist() == pytest.approx(slopes, rel=1e-5, abs=1e-5)


def test_dropout_drops_its_share_and_keeps_the_mean():
    translator = tiny_translator(replace(TINY, embedding=400))
    assert translator._engine is not None
    mask = translator._engine.forward(list(range(4, 10)), [4, 5], 1.0, dropout=0.2).masks.source
    assert set(np.unique(mask)) == {0.0, np.float32(1.25)}
    assert mask.mean() == pytest.approx(1.0, abs=0.05)


def test_dropout_applies_to_learning_in_training_mode_and_never_to_sampling():
    translator = tiny_translator(replace(TINY, dropout=0.5))
    sample = translator.sample(SOURCE, 1.0, np.random.default_rng(1))
    translator.model.train()
    gradients = []
    for learn in (
        partial(translator.backward, sample, 1.0),
        partial(translator.backward_likelihood, [sample.source_ids], [sample.ids], [1.0]),
    ):
        for _ in range(2):
            translator.zero_gradient()
            learn()
            gradients.append(translator.parameters.gradient.clone())
    assert not any(torch.equal(*pair) for pair in combinations(gradients, 2))
    again = translator.sample(SOURCE, 1.0, np.random.default_rng(1))
    assert again.ids == sample.ids
    assert translator.model.training
