"""The processor's floating-point mode is restored, also after an error."""

import pytest
import torch

import learners.nmt.translator  # noqa: F401 (importing it changes nothing here)
from learners.nmt.processor import denormals_as_zero

DENORMAL = 1e-40  # in single precision


def doubled() -> float:
    return float(torch.tensor([DENORMAL], dtype=torch.float32).mul(2).sum() * 1e30)


def fail_inside():
    with denormals_as_zero():
        assert doubled() == 0.0
        raise ZeroDivisionError


def test_denormals_are_zero_inside_the_context_only():
    assert doubled() > 0.0
    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert doubled() > 0.0
