"""One-point zeroth order: a worked example, and noise that leaves no trace."""

import numpy as np
import pytest
import torch

from learners.bandit.optimiser import Method, Optimiser, OptimiserConfig
from learners.bandit.parameter_noise import ParameterNoise

CANDIDATES = torch.tensor([[1.0, 0], [0, 1], [1, 1]], dtype=torch.float64)
REWARDS = torch.tensor([0.2, 0.9, 0.4], dtype=torch.float64)
START = [0.3, 0.1]


class FixedNoise(ParameterNoise):
    """Always draws the noise of the example."""

    def _draw(self, seed):
        yield torch.tensor([1.2, -0.7], dtype=torch.float64)


def test_one_step():
    weights = torch.tensor(START, dtype=torch.float64)
    noise = FixedNoise([weights], scale=1.0)
    noise.add((0, 1))
    assert int(torch.argmax(CANDIDATES @ weights)) == 0
    noise.remove()
    noise.fill_gradient((0, 1), 0.2 - 0.5)
    Optimiser([weights], OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None)).step()
    assert weights.tolist() == pytest.approx([0.264, 0.121])


@pytest.mark.parametrize(("baseline", "variance"), [(0.0, (0.376, 0.234)), (0.469, (0.071, 0.061))])
def test_the_estimate_is_the_gradient_of_the_smoothed_reward(baseline, variance):
    draws = 400_000
    weights = torch.tensor(START, dtype=torch.float64).repeat(draws, 1)
    noise = ParameterNoise([weights], scale=1.0)
    noise.add((7, 1))
    earned = REWARDS[torch.argmax(weights @ CANDIDATES.T, dim=1)]
    noise.remove()
    noise.fill_gradient((7, 1), 1.0)
    assert weights.grad is not None
    ascent = -weights.grad * (earned - baseline)[:, None]
    assert earned.mean().item() == pytest.approx(0.469, abs=0.003)
    assert ascent.mean(0).tolist() == pytest.approx([-0.178, 0.126], abs=0.006)
    assert ascent.var(0).tolist() == pytest.approx(variance, abs=0.005)


@pytest.mark.parametrize(("axis", "slope"), [(0, -0.178), (1, 0.124)])
def test_the_slope_of_the_smoothed_reward(axis, slope):
    draws, change = 400_000, 0.1

    def smoothed(start):
        weights = start.repeat(draws, 1)
        ParameterNoise([weights], scale=1.0).add((7, 1))  # the same noise on both sides
        return REWARDS[torch.argmax(weights @ CANDIDATES.T, dim=1)].mean().item()

    start, offset = torch.tensor(START, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    offset[axis] = change
    assert (smoothed(start + offset) - smoothed(start - offset)) / (2 * change) == pytest.approx(slope, abs=0.006)


def test_the_scale_divides_the_gradient():
    weights = torch.zeros(4)
    noise = ParameterNoise([weights], scale=0.5)
    noise.add((1, 2))
    drawn = weights / 0.5
    noise.remove()
    noise.fill_gradient((1, 2), 0.3)
    assert weights.grad is not None
    assert weights.grad.tolist() == pytest.approx((-0.3 * drawn / 0.5).tolist())


def test_parameters_are_restored_bit_for_bit_and_the_same_seed_draws_the_same_noise():
    rng = np.random.default_rng(0)
    weights = [torch.from_numpy(rng.normal(size=shape).astype(np.float32)) for shape in ((3, 4), (5,))]
    before = [weight.clone() for weight in weights]
    noise = ParameterNoise(weights, scale=0.01)
    perturbed = []
    for seed in ((1, 1), (1, 2), (2, 1), (1, 1)):
        noise.add(seed)
        perturbed.append([weight.clone() for weight in weights])
        noise.remove()
        assert all(torch.equal(weight, old) for weight, old in zip(weights, before, strict=True))
    assert all(torch.equal(first, last) for first, last in zip(perturbed[0], perturbed[3], strict=True))
    assert not torch.equal(perturbed[0][0], perturbed[1][0])
    assert not torch.equal(perturbed[0][0], perturbed[2][0])


def test_a_gradient_that_is_a_view_stays_one():
    vector = torch.zeros(4)
    parameter = torch.zeros(2)
    parameter.grad = vector[:2]
    ParameterNoise([parameter], 1.0).fill_gradient((0, 0), 1.0)
    assert vector[:2].tolist() == parameter.grad.tolist() != [0, 0]


def test_the_scale_must_be_positive():
    with pytest.raises(ValueError, match="scale of the noise must be positive"):
        ParameterNoise([torch.zeros(1)], 0)
