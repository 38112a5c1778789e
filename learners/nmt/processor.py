"""How the processor is set while models play and learn. It is a setting of the whole process, so it is given back."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Take numbers too small to matter for zero: a confident model's gradients are full of them, and they are slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
