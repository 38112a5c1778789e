"""A language model with Witten-Bell smoothing that grows with the text: it holds counts, and no probabilities.

Adding a text costs time in proportion to it, because no probability has to be computed again. They are computed when
they are asked for: ``p(word | context) = (count(context word) + types(context) p(word | shorter context)) /
(count(context) + types(context))`` (Bell et al. 1990, method C), down to a uniform distribution.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from learners.smt.hashing import (
    EMPTY_KEY,
    HASH_SEED,
    MAX_LOAD_FACTOR,
    Array,
    claim_slot,
    compiled,
    compiled_internal,
    find_slot,
    hash_combine,
    table_size,
)
from learners.smt.language_model import END, START

ORDER = 3  # of the foreground model in Bertoldi et al. 2012, section 4.2
FIRST_KEYS = 1_024
COUNT, TOTAL, TYPES = range(3)  # columns: occurrences of an n-gram; of anything after it; of different words after it


class NgramCounts(NamedTuple):
    """All n-grams in one hash table; a key is the hash of the words from last to first."""

    keys: Array
    counts: Array  # [slot, 3]
    vocabulary_size: int  # of the uniform distribution


class WittenBell:
    """The model of all sentences that were added."""

    def __init__(self, vocabulary_size: int) -> None:
        self._keys = np.zeros(table_size(FIRST_KEYS), np.int64)
        self._counts = np.zeros((len(self._keys), 3))
        self._used = 0
        self._vocabulary_size = vocabulary_size

    def add(self, sentences: Iterable[Sequence[int]], vocabulary_size: int) -> None:
        """Add sentences of word ids; the vocabulary may have grown."""
        self._vocabulary_size = vocabulary_size
        for sentence in sentences:
            text = np.array([START, *sentence, END], np.int64)
            needed = self._used + ORDER * len(text) + ORDER
            if needed > MAX_LOAD_FACTOR * len(self._keys):
                self._keys, self._counts = _rehashed(self._keys, self._counts, table_size(2 * needed))
            self._used += count_ngrams(self._keys, self._counts, text)

    @property
    def counts(self) -> NgramCounts:
        return NgramCounts(self._keys, self._counts, self._vocabulary_size)


@compiled
def _rehashed(keys: Array, counts: Array, size: int) -> tuple[Array, Array]:
    new_keys, new_counts = np.zeros(size, np.int64), np.zeros((size, 3))
    for slot in range(len(keys)):
        if keys[slot] != EMPTY_KEY:
            place = claim_slot(new_keys, keys[slot])
            for column in range(3):
                new_counts[place, column] = counts[slot, column]
    return new_keys, new_counts


@compiled_internal
def _claim_new(keys: Array, key: int) -> tuple[int, int]:
    """Return the slot of a key, and 1 if it is new."""
    is_new = 1 if find_slot(keys, key) < 0 else 0
    return claim_slot(keys, key), is_new


@compiled
def count_ngrams(keys: Array, counts: Array, text: Array) -> int:
    """Count the n-grams of a sentence with its start and end symbols; return the number of new keys."""
    used = 0
    for k in range(1, len(text)):  # the start symbol is not predicted
        context, ngram = HASH_SEED, hash_combine(HASH_SEED, text[k])
        for n in range(ORDER):
            if n > k:
                break
            if n:
                context = hash_combine(context, text[k - n])
                ngram = hash_combine(ngram, text[k - n])
            after, is_new_context = _claim_new(keys, context)
            slot, is_new = _claim_new(keys, ngram)
            if counts[slot, COUNT] == 0:
                counts[after, TYPES] += 1
            counts[slot, COUNT] += 1
            counts[after, TOTAL] += 1
            used += is_new + is_new_context
    return used


@compiled
def log_probability(model: NgramCounts, context: Array, length: int, word: int) -> float:
    """Return the log probability, to base 10, of a word after a context, which is most recent word first."""
    probability = 1.0 / model.vocabulary_size
    history, ngram = HASH_SEED, hash_combine(HASH_SEED, word)
    for n in range(min(length, ORDER - 1) + 1):
        if n:
            history = hash_combine(history, context[n - 1])
            ngram = hash_combine(ngram, context[n - 1])
        after = find_slot(model.keys, history)
        if after < 0 or model.counts[after, TOTAL] == 0:
            break
        slot = find_slot(model.keys, ngram)
        count = model.counts[slot, COUNT] if slot >= 0 else 0.0
        types = model.counts[after, TYPES]
        probability = (count + types * probability) / (model.counts[after, TOTAL] + types)
    return float(np.log10(probability))
