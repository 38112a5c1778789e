"""The compiled Adam does what torch's does, in fewer passes over memory."""

import numpy as np
import pytest
import torch

from learners.bandit.optimiser import Method, Optimiser, OptimiserConfig
from learners.nmt.engine.adam import EngineAdam, fits

SIZE = 3_000  # more than one block, and not a multiple of one


def parameter(values, dtype=torch.float32):
    made = torch.nn.Parameter(torch.tensor(values, dtype=dtype))
    made.grad = torch.zeros_like(made)
    return made


def test_the_first_step_by_hand():
    """A first step of Adam is the learning rate, against the sign of the gradient."""
    weights = parameter([0.5, 0.2, 0.1])
    weights.grad.copy_(torch.tensor([-0.5, 0.25, 0.0]))
    EngineAdam([weights], lr=0.01).scaled_step(1.0)
    assert weights.tolist() == pytest.approx([0.51, 0.19, 0.1], abs=1e-7)


def test_twenty_steps_are_those_of_torch_in_double_precision():
    rng = np.random.default_rng(0)
    start = rng.normal(size=SIZE)
    ours, exact = parameter(start), parameter(start, torch.float64)
    engine, torchs = EngineAdam([ours], lr=1e-3), torch.optim.Adam([exact], lr=1e-3)
    for _ in range(20):
        gradient = torch.from_numpy(rng.normal(size=SIZE))
        ours.grad.copy_(gradient)
        exact.grad.copy_(gradient * 0.5)
        engine.scaled_step(0.5)
        torchs.step()
    assert float((ours.detach().double() - exact.detach()).abs().max()) < 2e-6


def test_a_step_returns_the_norm_of_the_parameters_and_zeroes_the_gradient():
    weights = parameter([3.0, 4.0])
    weights.grad.copy_(torch.tensor([0.6, 0.8]))
    optimiser = EngineAdam([weights], lr=0.0)
    assert optimiser.gradient_norm() == pytest.approx(1)
    assert optimiser.scaled_step(1.0) == pytest.approx(5)
    assert weights.grad.tolist() == [0, 0]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_shows_in_its_norm(value):
    weights = parameter([0.0] * SIZE)
    weights.grad[SIZE - 1] = value
    assert not np.isfinite(EngineAdam([weights], lr=0.1).gradient_norm())


def test_parameters_without_a_gradient_are_left_alone():
    frozen, free = torch.nn.Parameter(torch.ones(2)), parameter([1.0, 1.0])
    free.grad += 1
    EngineAdam([frozen, free], lr=0.1).scaled_step(1.0)
    assert frozen.tolist() == [1, 1]
    assert free.tolist() == pytest.approx([0.9, 0.9])


def test_networks_on_a_cpu_get_it_and_weights_in_double_precision_do_not():
    assert fits([parameter([1.0])])
    assert not fits([parameter([1.0], torch.float64)])
    assert not fits([torch.nn.Parameter(torch.ones(3, 3).T[:2])])
    assert not fits([torch.nn.Parameter(torch.ones(2, device="meta"))])


def test_a_snapshot_of_torchs_adam_continues_with_this_one():
    """Runs that were begun with torch's Adam resume."""
    config = OptimiserConfig(Method.ADAM, learning_rate=0.01, clip_norm=None)
    exact, ours = parameter([0.5, 0.2], torch.float64), parameter([0.5, 0.2])
    torchs, engine = Optimiser([exact], config), Optimiser([ours], config)
    for number, gradient in enumerate([[0.1, -0.2], [0.3, 0.1]]):
        exact.grad.copy_(torch.tensor(gradient))
        ours.grad.copy_(torch.tensor(gradient))
        torchs.step()
        if number == 1:
            engine.step()
        else:
            with torch.no_grad():
                ours.copy_(exact)
            saved = torchs.save()
            saved.arrays = {name: array.astype(np.float32) for name, array in saved.arrays.items()}
            engine.load(saved)
    assert ours.tolist() == pytest.approx(exact.tolist(), abs=3e-7)  # single precision
