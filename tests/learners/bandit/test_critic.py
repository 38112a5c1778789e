"""The critic: a worked example, what a value may depend on, and that it learns."""

import numpy as np
import pytest
import torch

from learners.bandit.critic import Critic, squared_error, token_advantages
from learners.nmt.batches import pad
from tests.learners.nmt.toys import finite_differences, tiny_translator

VALUES = torch.tensor([[0.30, 0.35, 0.50]])
ALL = torch.ones(1, 3, dtype=torch.bool)
CPU = torch.device("cpu")


def critic(dtype=torch.float32):
    made = Critic.like(tiny_translator(dtype=dtype)).to(dtype)
    with torch.no_grad():
        made.head.weight.copy_(torch.linspace(-1, 1, made.head.weight.numel()).view_as(made.head.weight))
    return made


def test_a_worked_example():
    advantages = token_advantages(0.4, VALUES[0])
    assert advantages.tolist() == pytest.approx([0.10, 0.05, -0.10])
    log_probabilities = np.array([-1.0, -0.5, -0.2])
    assert -(advantages.numpy() * log_probabilities).sum() == pytest.approx(0.105)
    assert squared_error(VALUES, torch.tensor([0.4]), ALL).item() == pytest.approx(0.0075)


def test_padding_does_not_count():
    padded = torch.tensor([[0.30, 0.35, 0.50], [0.2, 0.9, 0.9]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    assert squared_error(padded, torch.tensor([0.4, 0.0]), mask).item() == pytest.approx((0.0225 + 0.04) / 4)


def test_advantages_are_constants():
    values = VALUES.clone().requires_grad_()
    assert not token_advantages(0.4, values).requires_grad


def test_before_training_all_prefixes_have_the_same_value():
    made = Critic.like(tiny_translator())
    values = made(pad([[5, 6, 3]], CPU), pad([[7, 8, 3]], CPU))
    assert len(set(values[0].tolist())) == 1


def test_a_value_depends_on_the_source_and_on_earlier_tokens_only():
    made = critic()
    first, second = (made(pad([[5, 6, 3]], CPU), pad([ids], CPU))[0].tolist() for ids in ([7, 8, 9], [7, 8, 4]))
    assert first == second  # the last token comes after the last value
    other_prefix = made(pad([[5, 6, 3]], CPU), pad([[6, 8, 9]], CPU))[0].tolist()
    assert other_prefix[0] == first[0]
    assert other_prefix[1] != first[1]
    other_source = made(pad([[6, 6, 3]], CPU), pad([[7, 8, 9]], CPU))[0].tolist()
    assert other_source[0] != first[0]


def test_values_in_a_batch_equal_those_of_single_sentences():
    made = critic()
    batch = made(pad([[5, 6, 3], [7, 3]], CPU), pad([[7, 8, 3], [9, 3]], CPU))
    alone = made(pad([[7, 3]], CPU), pad([[9, 3]], CPU))
    assert batch[1, :2].tolist() == pytest.approx(alone[0].tolist(), abs=1e-6)


def test_the_gradient_equals_finite_differences():
    made = critic(torch.float64)
    batch = ([[5, 6, 3], [7, 3]], [[7, 8, 3], [9, 3]], [0.2, 0.9])
    made.loss(*batch).backward()
    weight = made.head.weight.data.view(-1)
    indices, slopes = finite_differences(lambda: made.loss(*batch).item(), weight, 5)
    assert made.head.weight.grad is not None
    assert [made.head.weight.grad.view(-1)[index].item() for index in indices] == pytest.approx(slopes, abs=1e-7)


def test_it_learns_which_sources_earn_more():
    made = Critic.like(tiny_translator())
    batch = ([[5, 6, 3], [7, 3]], [[7, 8, 3], [9, 3]], [0.1, 0.9])
    optimiser = torch.optim.Adam(made.parameters(), lr=0.01)
    for _ in range(40):
        optimiser.zero_grad()
        made.loss(*batch).backward()
        optimiser.step()
    assert made.loss(*batch).item() < 0.01
