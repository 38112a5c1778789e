"""Updates on one post-edit: gradients, clipping, and when they stop."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from learners.adaptation.updates import (
    BiasObjective,
    Objective,
    TensorObjective,
    UpdateConfig,
    clipping_factors,
    learn,
    perplexity,
)
from learners.errors import DivergedError

HIDDEN = torch.tensor([1.0, 2.0], dtype=torch.float64)
WEIGHTS = [[0.5, 0.1], [0.2, 0.3], [0.0, 0.0]]
GOLD = torch.tensor([2])


class Recorded(Objective):
    """An objective that records the perplexities it went through."""

    def __init__(self, objective):
        self.objective, self.perplexities = objective, []

    def loss(self):
        loss = self.objective.loss()
        self.perplexities.append(round(perplexity(loss), 3))
        return loss

    def step(self):
        self.objective.step()


def softmax_bias(config):
    """A softmax over three classes of which only the bias learns."""
    weights = torch.tensor(WEIGHTS, dtype=torch.float64)
    return BiasObjective((weights @ HIDDEN)[None], GOLD, torch.zeros(3, dtype=torch.float64), config)


def softmax_full(config):
    """The same softmax, of which the weights and the bias learn."""
    weights = torch.tensor(WEIGHTS, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def apply(gradients, factors):
        with torch.no_grad():
            for tensor, gradient, factor in zip((weights, bias), gradients, factors, strict=True):
                tensor -= config.learning_rate * factor * gradient

    def token_losses():
        return F.cross_entropy((weights @ HIDDEN + bias)[None], GOLD, reduction="none")

    return TensorObjective(token_losses, [weights, bias], apply, config)


def test_a_bias_stops_as_soon_as_the_perplexity_reaches_the_target():
    config = UpdateConfig(learning_rate=1.0)
    objective = Recorded(softmax_bias(config))
    assert learn(objective, config) == 2
    assert objective.perplexities == [5.239, 2.258, 1.545]


def test_all_parameters_stop_after_three_updates():
    config = UpdateConfig(learning_rate=0.01)
    objective = Recorded(softmax_full(config))
    assert learn(objective, config) == 3
    assert objective.perplexities == [5.239, 5.075, 4.917]  # nothing depends on the loss after the last update
    assert round(perplexity(objective.objective.loss()), 3) == 4.766


def test_the_first_update_always_happens():
    config = UpdateConfig(learning_rate=1.0, target_perplexity=100.0)
    assert learn(softmax_bias(config), config) == 1
    once = replace(config, max_updates=1)
    assert learn(softmax_bias(once), once) == 1


def test_perplexity_is_the_exponential_of_the_mean_loss():
    assert round(perplexity((0.9 + 0.5 + 1.1) / 3), 3) == 2.301
    assert round(perplexity(math.log(2)), 12) == 2.0


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_reported(loss):
    with pytest.raises(DivergedError, match="try a smaller learning rate"):
        perplexity(loss)


@pytest.mark.parametrize(
    ("normalise", "gradient", "scaled"),
    [
        (False, [3.0, 4.0], [0.6, 0.8]),
        (False, [0.3, 0.4], [0.3, 0.4]),
        (True, [0.3, 0.4], [0.6, 0.8]),
        (True, [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_each_gradient_is_clipped_or_normalised_by_itself(normalise, gradient, scaled):
    first, second = torch.tensor(gradient), torch.tensor([0.1])
    factors = clipping_factors([first, second], UpdateConfig(normalise=normalise))
    assert (factors[0] * first).tolist() == pytest.approx(scaled)
    assert factors[1] == pytest.approx(10.0 if normalise else 1.0)


def test_the_gradient_of_the_bias_sums_to_zero_and_has_the_slopes_of_finite_differences():
    logits = torch.tensor([[0.2, -0.4, 1.0, 0.1], [0.0, 0.3, -0.2, 0.5]], dtype=torch.float64)
    targets, bias = torch.tensor([3, 1]), torch.tensor([0.1, 0.0, -0.3, 0.2], dtype=torch.float64)
    config = UpdateConfig(learning_rate=1.0, max_norm=1e9)
    before = bias.clone()
    objective = BiasObjective(logits, targets, bias, config)
    objective.loss()
    objective.step()
    gradient = before - bias
    assert float(gradient.sum()) == pytest.approx(0, abs=1e-12)
    for place in range(4):
        change = torch.zeros(4, dtype=torch.float64)
        change[place] = 1e-6
        above, below = (F.cross_entropy(logits + before + step, targets, reduction="sum") for step in (change, -change))
        assert float(gradient[place]) == pytest.approx(float(above - below) / 2e-6, abs=1e-8)
