"""One vector holds all parameters of a model, which keeps using it."""

import math

import torch
from torch import nn

from learners.nmt.parameters import FlatParameters


def test_the_vector_and_the_model_share_memory():
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    before = model(torch.ones(1, 3))
    flat = FlatParameters(model)
    assert flat.vector.shape == (11,)
    torch.testing.assert_close(model(torch.ones(1, 3)), before)
    model(torch.ones(1, 3)).sum().backward()
    assert flat.vector.grad is not None
    assert flat.vector.grad.abs().sum() > 0
    torch.optim.SGD([flat.vector], lr=0.1).step()
    assert not torch.equal(model(torch.ones(1, 3)), before)
    flat.zero_gradient()
    assert flat.gradient.abs().sum() == 0
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_step_of_the_vector_is_a_step_of_every_parameter():
    one, other = (nn.Linear(4, 3) for _ in range(2))
    other.load_state_dict(one.state_dict())
    flat = FlatParameters(one)
    optimisers = [torch.optim.Adam([flat.vector], fused=True), torch.optim.Adam(other.parameters())]
    for _ in range(5):
        flat.zero_gradient()
        other.zero_grad()
        for model, optimiser in zip((one, other), optimisers, strict=True):
            model(torch.arange(4.0)).pow(2).sum().backward()
            optimiser.step()
    torch.testing.assert_close(one.weight, other.weight)


def test_only_a_long_gradient_is_clipped():
    flat = FlatParameters(nn.Linear(1, 1))
    flat.gradient.copy_(torch.tensor([3.0, 4.0]))
    assert flat.clip_gradient(5.0) == 5.0
    assert flat.gradient.tolist() == [3.0, 4.0]
    assert flat.clip_gradient(1.0) == 5.0
    torch.testing.assert_close(flat.gradient, torch.tensor([0.6, 0.8]))


def test_a_gradient_with_nan_has_the_norm_nan():
    flat = FlatParameters(nn.Linear(1, 1))
    flat.gradient.fill_(float("nan"))
    assert math.isnan(flat.clip_gradient(1.0))


def test_tied_parameters_are_in_the_vector_once():
    model = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)])
    model[1].weight = model[0].weight
    flat = FlatParameters(model)
    assert flat.vector.shape == (4,)
    assert model[0].weight is model[1].weight
