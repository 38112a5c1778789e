"""Models that vote together say what each of them says, averaged."""

from dataclasses import replace

import pytest
import torch

from learners.nmt.ensemble import Ensemble, _OneByOne
from learners.nmt.vocabulary import BOS
from tests.learners.nmt.toys import TINY, tiny_translator

SOURCE = torch.tensor([[5, 6, 7, 2]])


@pytest.mark.parametrize("changes", [{}, {"lexical": True}, {"tied": False}], ids=str)
@pytest.mark.parametrize("count", [1, 3])
@torch.no_grad()
def test_stacked_models_vote_as_they_do_one_by_one(count, changes):
    members = [tiny_translator(replace(TINY, **changes), seed=seed).model for seed in range(count)]
    stacked, apart = Ensemble(members).read(SOURCE), _OneByOne(members, SOURCE)
    assert type(stacked) is not type(apart)
    assert stacked.features.tolist() == pytest.approx(apart.features.tolist())
    for previous, parents in ([BOS], [0]), ([4, 5, 6], [0, 0, 0]), ([7, 4], [2, 1]):
        rays = torch.tensor(previous), torch.tensor(parents)
        for one, other in zip(stacked.vote(*rays), apart.vote(*rays), strict=True):
            assert torch.allclose(one, other, atol=1e-5)


def test_transformers_vote_one_by_one():
    assert isinstance(
        Ensemble([tiny_translator(replace(TINY, architecture="transformer")).model]).read(SOURCE), _OneByOne
    )
