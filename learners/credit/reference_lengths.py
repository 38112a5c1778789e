"""The distribution of reference lengths, learned from decoded rewards."""

import numpy as np

from learners.credit.bleu_decoding import MAX_REFERENCE
from learners.smt.hashing import Array
from learners.snapshot import Snapshot


class ReferenceLengths:
    """How long references are, by another length that is known before: the seed model's, or the source's."""

    NEAR = (-5, 6)  # differences to the known length that are possible before the first round
    PRIOR = 0.2  # observations of each of them

    def __init__(self) -> None:
        self._counts = np.zeros((MAX_REFERENCE + 1, MAX_REFERENCE + 1))  # [known, reference's]
        for length, row in enumerate(self._counts):
            for difference in range(self.NEAR[0], self.NEAR[1] + 1):
                row[min(max(length + difference, 1), MAX_REFERENCE)] += self.PRIOR

    def distribution(self, known_length: int) -> Array:
        """Return the probabilities of all lengths up to ``MAX_REFERENCE``."""
        row = self._counts[min(known_length, MAX_REFERENCE)]
        distribution: Array = row / row.sum()
        return distribution

    def observe(self, known_length: int, lengths: Array) -> None:
        """Add one observation, which may be spread over several lengths."""
        self._counts[min(known_length, MAX_REFERENCE)] += lengths

    def save(self) -> Snapshot:
        return Snapshot({"counts": self._counts.copy()})

    def load(self, snapshot: Snapshot) -> None:
        self._counts = snapshot.arrays["counts"].copy()
