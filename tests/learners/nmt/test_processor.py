"""The processor's setting is given back, whatever happens."""

import pytest
import torch

import learners.nmt.translator  # noqa: F401 (importing it changes nothing here)
from learners.nmt.processor import denormals_as_zero

TINY = 1e-40  # denormal in single precision


def doubled() -> float:
    return float(torch.tensor([TINY], dtype=torch.float32).mul(2).sum() * 1e30)


def fail_inside():
    with denormals_as_zero():
        assert doubled() == 0.0
        raise ZeroDivisionError


def test_denormals_are_zero_inside_only():
    assert doubled() > 0.0
    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert doubled() > 0.0
