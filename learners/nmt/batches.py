"""Sentence pairs, and batches of pairs of similar length, so that little of a batch is padding."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from learners.nmt.vocabulary import BOS, PAD

Pair = tuple[str, str]  # source and target
EncodedPair = tuple[list[int], list[int]]  # token ids of source and target, each with its end symbol


def bucket_by_length(pairs: Sequence[EncodedPair], tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Group the pairs' indices into batches of at most ``tokens`` padded target tokens, in random order."""
    return bucket([max(len(source), len(target)) for source, target in pairs], tokens, rng)


def bucket(lengths: Sequence[int], tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Group the indices of items of these lengths into batches of at most ``tokens``, padded; in random order."""
    jitter = rng.random(len(lengths))  # batches of the same items in every epoch would be a bias
    batches: list[list[int]] = []
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: (lengths[index], jitter[index])):
        if batch and lengths[index] * (len(batch) + 1) > tokens:  # in order of length: the newest is the longest
            batches.append(batch)
            batch = []
        batch.append(index)
    if batch:
        batches.append(batch)
    return [batches[place] for place in rng.permutation(len(batches))]


def pad(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Return rows of different lengths as one tensor [rows, longest], padded on the right."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], device=device)


def shift_right(targets: Tensor) -> Tensor:
    """Return the decoder's inputs for ``targets`` [batch, target]: the begin symbol, then all but the last token."""
    return torch.cat([torch.full_like(targets[:, :1], BOS), targets[:, :-1]], 1)
