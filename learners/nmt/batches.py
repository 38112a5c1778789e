"""Sentences of about the same length, put together so that little of a batch is padding."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from learners.nmt.vocabulary import BOS, PAD

Encoded = tuple[list[int], list[int]]  # source and target, each with its end symbol


def bucketed(pairs: Sequence[Encoded], tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Every pair's number once, in batches of at most ``tokens`` padded target tokens, in random order."""
    jitter = rng.random(len(pairs))  # the same neighbours in every epoch would be a bias
    lengths = [max(len(source), len(target)) for source, target in pairs]
    batches: list[list[int]] = []
    batch: list[int] = []
    for number in sorted(range(len(pairs)), key=lambda number: (lengths[number], jitter[number])):
        if batch and lengths[number] * (len(batch) + 1) > tokens:  # sorted: the newest is the longest
            batches.append(batch)
            batch = []
        batch.append(number)
    if batch:
        batches.append(batch)
    return [batches[place] for place in rng.permutation(len(batches))]


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Rows of different lengths as one tensor [rows, longest]."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], device=device)


def previous(targets: Tensor) -> Tensor:
    """What a decoder reads while it predicts ``targets``: a begin symbol, then the targets up to the last but one."""
    return torch.cat([torch.full_like(targets[:, :1], BOS), targets[:, :-1]], 1)
