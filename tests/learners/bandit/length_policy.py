"""A policy that decides nothing but the length of its outputs, with one parameter for each length of source."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from learners.nmt.hypothesis import Hypothesis, Sample

PIECES, MAX_WORDS = 8, 3  # of an output, and of a piece, which has one word else


class LengthPolicy:
    """Stands in for a translator. An output has 8 pieces, each of one word or of three.

    A piece has three words with the probability sigmoid(parameter of the source's length), at first one half.
    """

    def __init__(self, source_lengths: Sequence[int], *, loops: bool = False) -> None:
        """Create a policy.

        Args:
            source_lengths: The numbers of words that sources have.
            loops: Whether all words of an output are equal. Otherwise, they all differ.
        """
        self._lengths = list(source_lengths)
        self._loops = loops
        self.vector = nn.Parameter(torch.zeros(len(self._lengths) + 1))
        self.vector.data[-1] = 1.0  # no parameter of the policy: a learner refuses a vector that grows tenfold
        self.vector.grad = torch.zeros_like(self.vector)
        self._rng = np.random.default_rng(7)

    def probability(self, source_length: int) -> float:
        """Return the probability of three words in place of one."""
        return float(torch.sigmoid(self.vector.detach()[self._lengths.index(source_length)]))

    def sample(self, source: str, temperature: float, rng: np.random.Generator) -> Sample:
        source_ids = list(range(len(source.split())))
        is_long = rng.random(PIECES) < self.probability(len(source_ids))
        ids = [MAX_WORDS * piece + n for piece, long in enumerate(is_long) for n in range(MAX_WORDS if long else 1)]
        text = " ".join("w" if self._loops else f"w{token}" for token in ids)
        return Sample(source_ids, ids, text, -1.0 * len(ids), temperature)

    def greedy(self, source: str) -> Hypothesis:
        """Return a sample: without exploration there would be nothing to learn."""
        return self.sample(source, 1.0, self._rng)

    def backward(self, sample: Sample, weight: Any, *, entropy: float = 0.0) -> None:
        assert not entropy
        self.backward_likelihood([sample.source_ids], [sample.ids], [weight])

    def backward_likelihood(self, sources: Any, targets: Any, weights: Sequence[float]) -> None:
        assert self.vector.grad is not None
        for source, target, weight in zip(sources, targets, weights, strict=True):
            long_pieces = (len(target) - PIECES) / (MAX_WORDS - 1)
            surprise = long_pieces - PIECES * self.probability(len(source))
            self.vector.grad[self._lengths.index(len(source))] -= weight * surprise
