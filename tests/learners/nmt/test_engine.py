"""The compiled engine computes what torch computes: torch, in double precision, is the reference."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch

from learners.nmt.translator import Translator
from tests.learners.nmt.toys import TINY, finite_differences, tiny_translator

SOURCE = "rot x hemd mit tasche"
MODEL_CONFIGS = {
    "tied": TINY,
    "untied": replace(TINY, tied=False),
    "words": replace(TINY, vocabulary="word"),
    "odd sizes": replace(TINY, embedding=7, encoder=5, decoder=9),
    "lexical": replace(TINY, lexical=True),
    "lexical, of words": replace(TINY, lexical=True, vocabulary="word"),
}


@pytest.fixture(autouse=True)
def the_same_masks_every_time():
    """Dropout is drawn from torch's own generator, and single precision is good for most masks, but not for all."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        yield


@pytest.fixture(params=MODEL_CONFIGS.values(), ids=list(MODEL_CONFIGS))
def both(request) -> tuple[Translator, Translator]:
    """The same model twice: single precision with the engine, double precision with torch."""
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
        np.testing.assert_allclose(fast.features, exact.features, atol=1e-6)


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


def test_imitation_has_the_same_gradients(both):
    gradients = []
    for translator in both:
        samples = [translator.sample(SOURCE[start:], 1.0, np.random.default_rng(start)) for start in range(3)]
        translator.imitate([one.source_ids for one in samples], [one.ids for one in samples], [0.5, 0.0, 1.5])
        gradients.append(translator.vector.grad.double())
    assert gradients[1].abs().max() > 0.1
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-5, atol=1e-5)


def test_gradients_of_several_samples_add_up():
    together, alone = tiny_translator(), tiny_translator()
    total = torch.zeros_like(together.vector)
    samples = [together.sample(SOURCE, 1.0, np.random.default_rng(seed)) for seed in range(3)]
    for sample in samples:  # drawn before, learned from after: as minibatches do
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


class Replayed(torch.nn.Module):
    """Dropout with masks given beforehand, in the order in which the model asks for them."""

    def __init__(self, masks):
        super().__init__()
        self._masks = iter(torch.from_numpy(mask).double() for mask in masks)

    def forward(self, rows):
        return rows * next(self._masks)


@pytest.mark.parametrize("entropy", [0.0, 0.3])
def test_gradients_with_the_same_dropout_are_the_same(both, entropy):
    fast, exact = both
    sample = fast.sample(SOURCE, 0.5, np.random.default_rng(3))
    engine = fast._engine
    assert engine is not None
    trace = engine.follow(sample.source_ids, sample.ids, 0.5, dropout=0.5)
    weights = np.linspace(-0.5, 1, len(sample.ids))
    engine.backward(trace, weights, entropy)
    exact.model.dropout = Replayed(trace.masks)
    exact.loss(sample, weights, entropy=entropy).backward()
    assert exact.vector.grad.abs().max() > 0.1
    torch.testing.assert_close(fast.vector.grad.double(), exact.vector.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("entropy", [0.0, 0.3])
def test_gradients_equal_finite_differences(both, entropy, dropout):
    """Of the same loss, which torch computes in double precision: the engine's own is too coarse for differences."""
    fast, exact = both
    sample = fast.sample(SOURCE, 0.5, np.random.default_rng(3))
    engine = fast._engine
    assert engine is not None
    trace = engine.follow(sample.source_ids, sample.ids, 0.5, dropout)
    weights = np.linspace(-0.5, 1, len(sample.ids))
    engine.backward(trace, weights, entropy)

    def loss():
        if dropout:
            exact.model.dropout = Replayed(trace.masks)
        return exact.loss(sample, weights, entropy=entropy).item()

    possible = trace.decoded.probabilities[:, 2:]
    chosen = trace.decoded.probabilities[np.arange(len(sample.ids)), sample.ids]
    by_engine = -weights @ np.log(chosen) + entropy * (possible * np.log(possible)).sum()
    assert by_engine == pytest.approx(loss(), rel=1e-5)
    places, slopes = finite_differences(loss, exact.vector, 30)
    assert fast.vector.grad[places].tolist() == pytest.approx(slopes, rel=1e-5, abs=1e-5)


def test_dropout_keeps_its_share_and_the_mean():
    translator = tiny_translator(replace(TINY, embedding=400))
    assert translator._engine is not None
    mask = translator._engine.follow(list(range(4, 10)), [4, 5], 1.0, dropout=0.2).masks.source
    assert set(np.unique(mask)) == {0.0, np.float32(1.25)}
    assert mask.mean() == pytest.approx(1.0, abs=0.05)


def test_learning_has_dropout_where_the_model_trains_and_sampling_never():
    translator = tiny_translator(replace(TINY, dropout=0.5))
    sample = translator.sample(SOURCE, 1.0, np.random.default_rng(1))
    translator.model.train()
    gradients = []
    for learn in (
        partial(translator.backward, sample, 1.0),
        partial(translator.imitate, [sample.source_ids], [sample.ids], [1.0]),
    ):
        for _ in range(2):
            translator.zero_gradient()
            learn()
            gradients.append(translator.parameters.gradient.clone())
    assert not any(torch.equal(*pair) for pair in combinations(gradients, 2))
    again = translator.sample(SOURCE, 1.0, np.random.default_rng(1))
    assert again.ids == sample.ids  # but sampling goes without
    assert translator.model.training
