"""The processor's floating-point mode while models translate and learn.

It is a setting of the whole process, so it is restored afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Treat denormal numbers as zero: the gradients of a confident model are full of them, and they are slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
