"""Optimiser steps, with clipping by the norm over all parameters."""

import numpy as np
import pytest
import torch

from learners.bandit.optimiser import Method, Optimiser, OptimiserConfig, clip_global_norm
from learners.errors import DivergedError, SnapshotError

GRADIENT = [-0.524282, 0.262141, 0.0]  # of the log-linear example in test_objective, without control variate
METHODS = [
    OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None),
    OptimiserConfig(Method.ADAM, learning_rate=1e-3),
    OptimiserConfig(Method.ADADELTA, learning_rate=1.0),
    OptimiserConfig(Method.ADAGRAD, learning_rate=0.1),
]


def weights_with(gradient, start=(0.5, 0.2, 0.1)):
    weights = torch.tensor(start, dtype=torch.float64)
    weights.grad = torch.tensor(gradient, dtype=torch.float64)
    return weights


def step(config, gradient, start=(0.5, 0.2, 0.1)):
    weights = weights_with(gradient, start)
    Optimiser([weights], config).step()
    return weights.numpy() - np.array(start)


@pytest.mark.parametrize(
    ("config", "change"),
    [
        (METHODS[0], [0.052428, -0.026214, 0]),
        (METHODS[1], [0.001, -0.001, 0]),
        (METHODS[2], [0.004472, -0.004472, 0]),
        (METHODS[3], [0.1, -0.1, 0]),
    ],
)
def test_the_first_step(config, change):
    assert step(config, GRADIENT) == pytest.approx(change, abs=1e-6)


def test_the_learning_rate_can_be_annealed():
    weights = weights_with(GRADIENT)
    Optimiser([weights], METHODS[0]).step(rate_factor=0.5)
    assert weights[0].item() == pytest.approx(0.5 + 0.026214, abs=1e-6)


def test_the_norm_over_all_parameters_is_clipped():
    first, second = weights_with([3.0, 0, 0]), weights_with([0, 4.0, 0])
    assert clip_global_norm([first, second], 1.0) == pytest.approx(5)
    assert first.grad.tolist() == pytest.approx([0.6, 0, 0])  # per tensor it would be 1
    assert second.grad.tolist() == pytest.approx([0, 0.8, 0])


def test_a_small_gradient_is_left_alone():
    weights = weights_with([0.3, 0.4, 0])
    assert clip_global_norm([weights], 1.0) == pytest.approx(0.5)
    assert weights.grad.tolist() == [0.3, 0.4, 0]


def test_parameters_without_gradients_have_the_norm_0():
    assert clip_global_norm([torch.zeros(2)], 1.0) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_raises_before_the_step(value):
    weights = weights_with([0.1, value, 0])
    with pytest.raises(DivergedError, match="the norm of the gradient is"):
        Optimiser([weights], METHODS[1]).step()
    assert weights.tolist() == [0.5, 0.2, 0.1]


def test_exploding_parameters_raise():
    with pytest.raises(DivergedError, match="has grown to 1e"):
        step(OptimiserConfig(Method.ADAM, learning_rate=1e30), GRADIENT)


def test_gradients_are_zero_after_a_step():
    weights = weights_with(GRADIENT)
    gradient = weights.grad
    Optimiser([weights], METHODS[1]).step()
    assert weights.grad is gradient
    assert gradient.tolist() == [0, 0, 0]


def test_numpy_weights_can_be_optimised():
    plain = np.array([0.5, 0.2, 0.1])
    shared = torch.from_numpy(plain)
    shared.grad = torch.tensor(GRADIENT, dtype=torch.float64)
    Optimiser([shared], METHODS[1]).step()
    assert plain == pytest.approx([0.501, 0.199, 0.1], abs=1e-6)


@pytest.mark.parametrize("config", METHODS)
def test_a_loaded_optimiser_continues_exactly(config):
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(6, 3))
    whole = weights_with(GRADIENT)
    optimiser = Optimiser([whole], config)
    for number, gradient in enumerate(gradients):
        if number == 3:
            saved, resumed = optimiser.save(), whole.clone()
            resumed.grad = torch.zeros(3, dtype=torch.float64)
            other = Optimiser([resumed], config)
            other.load(saved)
        for weights, by in ((whole, optimiser), *([(resumed, other)] if number >= 3 else [])):
            weights.grad.copy_(torch.from_numpy(gradient))
            by.step()
    assert resumed.tolist() == whole.tolist()


def test_a_snapshot_of_another_optimiser_is_refused():
    saved = Optimiser([weights_with(GRADIENT)], METHODS[1]).save()
    with pytest.raises(SnapshotError, match="is of the optimiser adam, not of sgd"):
        Optimiser([weights_with(GRADIENT)], METHODS[0]).load(saved)


def test_a_snapshot_of_another_model_is_refused():
    optimiser = Optimiser([weights_with(GRADIENT)], METHODS[1])
    optimiser.step()
    with pytest.raises(SnapshotError, match="has shape"):
        Optimiser([torch.zeros(4)], METHODS[1]).load(optimiser.save())
