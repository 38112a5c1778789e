"""An ensemble predicts the mean of its members' probabilities, and of their attention."""

from dataclasses import replace

import pytest
import torch

from learners.nmt.ensemble import Ensemble
from learners.nmt.vocabulary import BOS
from tests.learners.nmt.toys import ARCHITECTURES, TINY, tiny_translator

SOURCE = torch.tensor([[5, 6, 7, 2]])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@torch.no_grad()
def test_a_beam_item_continues_the_row_that_it_came_from(architecture):
    models = [tiny_translator(replace(TINY, architecture=architecture), seed=seed).model for seed in range(2)]
    ensemble = Ensemble(models)
    state = ensemble.initial_state(SOURCE)
    for previous, parents in ([BOS], [0]), ([4, 5, 6], [0, 0, 0]), ([7, 4], [2, 1]):
        output = ensemble.step(state, torch.tensor(previous), torch.tensor(parents))
        state = output.state
    for row, prefix in enumerate(([BOS, 6, 7], [BOS, 5, 4])):
        probabilities = [model(SOURCE, torch.tensor([prefix]))[0, -1].softmax(0) for model in models]
        expected = torch.stack(probabilities).mean(0)
        torch.testing.assert_close(output.log_probabilities[row].exp(), expected, atol=1e-6, rtol=1e-4)


@torch.no_grad()
def test_attention_is_the_mean_of_the_members():
    models = [tiny_translator(seed=seed).model for seed in range(3)]
    alone = [Ensemble([model]) for model in models]
    together = Ensemble(models)
    first = torch.tensor([BOS]), torch.tensor([0])
    attention = [ensemble.step(ensemble.initial_state(SOURCE), *first).attention for ensemble in alone]
    found = together.step(together.initial_state(SOURCE), *first).attention
    torch.testing.assert_close(found, torch.stack(attention).mean(0))
    assert (attention[0] - attention[1]).abs().max() > 1e-3
