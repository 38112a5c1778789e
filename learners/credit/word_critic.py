"""How probable is a word of a translation to be in the reference? A logistic model, learned from decoded rewards."""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learners.smt.hashing import Array
from learners.snapshot import Snapshot

BUCKETS = 1 << 16  # hashed weights of word pairs, words and source words
MIN_PROBABILITY = 2e-3  # no word is certain, and none is certainly wrong
DENSE_START = (0.5, 0.7, 0.3, -1.0)  # bias, the model's confidence, copied, repeated: our guess before the first round
HASHED_RATE, DENSE_RATE = 0.5, 0.15  # of AdaGrad


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """What is known of a word before its reward."""

    word: str
    source: str  # the source word with most attention
    log_probability: float  # under the model, of all of its tokens
    is_copied: bool
    is_repeated: bool  # it occurs before in the same translation


class WordCritic:
    """Predicts matches of words, from the model's confidence and from which word translates which."""

    def __init__(self) -> None:
        self._dense, self._dense_squares = np.array(DENSE_START), np.ones(len(DENSE_START))
        self._hashed, self._hashed_squares = np.zeros(BUCKETS), np.ones(BUCKETS)

    def predict(self, words: Sequence[WordEvidence]) -> Array:
        """Return the probability of each word to be in the reference."""
        scores = self._dense_features(words) @ self._dense + self._hashed[_buckets(words)].sum(1)
        probabilities: Array = 1.0 / (1.0 + np.exp(-np.clip(scores, -30, 30)))
        return np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY)

    def learn(self, words: Sequence[WordEvidence], posterior: Array) -> None:
        """Move predictions towards the posterior of each word, by a step of AdaGrad."""
        errors = posterior - self.predict(words)
        gradient = errors @ self._dense_features(words)
        self._dense_squares += gradient**2
        self._dense += DENSE_RATE * gradient / np.sqrt(self._dense_squares)
        buckets = _buckets(words).ravel()
        repeated = np.repeat(errors, 3)
        np.add.at(self._hashed_squares, buckets, repeated**2)
        np.add.at(self._hashed, buckets, HASHED_RATE * repeated / np.sqrt(self._hashed_squares[buckets]))

    def _dense_features(self, words: Sequence[WordEvidence]) -> Array:
        rows = [(1.0, _half_logit(one.log_probability), one.is_copied, one.is_repeated) for one in words]
        return np.array(rows, np.float64)

    def save(self) -> Snapshot:
        arrays = {
            "dense": self._dense.copy(),
            "dense_squares": self._dense_squares.copy(),
            "hashed": self._hashed.copy(),
            "hashed_squares": self._hashed_squares.copy(),
        }
        return Snapshot(arrays)

    def load(self, snapshot: Snapshot) -> None:
        self._dense, self._dense_squares, self._hashed, self._hashed_squares = (
            snapshot.arrays[name].copy() for name in ("dense", "dense_squares", "hashed", "hashed_squares")
        )


def _half_logit(log_probability: float) -> float:
    probability = min(max(math.exp(log_probability), 1e-3), 0.98)
    return 0.5 * math.log(probability / (1 - probability))


def _buckets(words: Sequence[WordEvidence]) -> Array:
    """Return the hashed features [word, 3]; CRC-32 is the same in every process, unlike Python's hash."""
    names = [(f"{one.source}\t{one.word}", f"\t{one.word}", f"{one.source}\t") for one in words]
    return np.array([[zlib.crc32(name.encode()) % BUCKETS for name in row] for row in names], np.intp)
