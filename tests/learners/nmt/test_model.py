"""Both architectures implement the interface, and their gradients are correct."""

from dataclasses import replace

import pytest
import torch

from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import MODEL_CONFIGS
from learners.nmt.model import IMPOSSIBLE_LOGIT
from learners.nmt.translator import new_model
from tests.learners.nmt.toys import ARCHITECTURES, TINY, finite_differences, tiny_translator

SOURCES = [[5, 6, 7, 2], [8, 2], [9, 10, 11, 12, 13, 2]]
TARGETS = [[7, 6, 2], [5, 6, 7, 8, 2], [9, 2]]
CPU = torch.device("cpu")


@pytest.fixture(params=ARCHITECTURES)
def translator(request):
    return tiny_translator(replace(TINY, architecture=request.param), dtype=torch.float64)


def test_gradients_equal_finite_differences(translator):
    def loss():
        return -translator.log_probabilities(SOURCES, TARGETS, temperature=0.7).sum()

    loss().backward()
    gradient = translator.vector.grad
    assert (gradient != 0).float().mean() > 0.5
    places, slopes = finite_differences(lambda: loss().item(), translator.vector, 60)
    assert gradient[places].tolist() == pytest.approx(slopes, abs=1e-6, rel=1e-5)


def test_padding_changes_nothing(translator):
    together = translator.log_probabilities(SOURCES, TARGETS)
    for row, source, target in zip(together, SOURCES, TARGETS, strict=True):
        alone = translator.log_probabilities([source], [target])[0]
        torch.testing.assert_close(row[: len(target)], alone, rtol=0, atol=1e-12)
        assert row[len(target) :].tolist() == [0.0] * (len(row) - len(target))


def test_step_by_step_equals_all_at_once(translator):
    model = translator.model
    targets = pad(TARGETS, CPU)
    encoder_output = model.encode(pad(SOURCES, CPU))
    at_once = model.decode(encoder_output, shift_right(targets))
    state = model.initial_state(encoder_output)
    for position, token in enumerate(shift_right(targets).T):
        step = model.step(encoder_output, state, token)
        state = step.state
        torch.testing.assert_close(step.logits, at_once[:, position], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(step.attention.sum(1), torch.ones(3, dtype=torch.float64))
        assert step.attention[1, 2:].abs().max() == 0  # no attention to padding


def test_padding_and_the_begin_symbol_are_never_predicted(translator):
    logits = translator.model(pad(SOURCES, CPU), shift_right(pad(TARGETS, CPU)))
    assert logits[:, :, :2].max() < IMPOSSIBLE_LOGIT / 2
    assert logits[:, :, 2:].min() > -100


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gru-small", 546_512), ("transformer-small", 1_184_208)],
)
def test_the_number_of_parameters_of_the_small_models(name, parameters):
    model = new_model(MODEL_CONFIGS[name], 2_000, 2_000)
    assert sum(parameter.numel() for parameter in model.parameters()) == parameters


@pytest.mark.parametrize("config", MODEL_CONFIGS.values(), ids=lambda config: config.name)
def test_every_configuration_makes_a_model(config):
    with torch.device("meta"):  # shapes only: models of the published sizes would take seconds
        model = new_model(config, config.vocabulary_size, config.vocabulary_size)
    assert model.output_bias.shape == (config.vocabulary_size,)


def test_tied_models_have_one_embedding_and_untied_models_an_output_layer():
    def names(config):
        return {
            name for name, _ in new_model(config, 30, 30).named_parameters() if "embedding" in name or "out" in name
        }

    assert names(TINY) == {"source_embedding.weight", "output_bias"}
    assert names(replace(TINY, tied=False)) == {"source_embedding.weight", "output.weight", "output_bias"}
    assert names(replace(TINY, vocabulary="word")) == {
        "source_embedding.weight",
        "target_embedding.weight",
        "output_bias",
    }
