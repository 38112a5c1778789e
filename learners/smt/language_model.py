"""An n-gram language model with interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998).

Probabilities are logarithms to base 10, as in ARPA files. Sentences have one start and one end symbol.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from learners.errors import TrainingError
from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, find_slot, hash_combine, table_size

UNKNOWN, START, END = 0, 1, 2  # the reserved ids of a target vocabulary
RESERVED_IDS = 3
FALLBACK_DISCOUNTS = np.array([0.0, 0.5, 1.0, 1.5])  # for texts that are too small to estimate them


class LanguageModel(NamedTuple):
    """All n-grams in one hash table; a key is the hash of the words from last to first."""

    keys: Array
    values: Array  # [slot, 2]: log probability of the last word, log back-off weight of the n-gram as context
    order: int
    vocabulary_size: int  # ids from here on are unknown words


@compiled
def predict(model: LanguageModel, context: Array, length: int, word: int) -> tuple[float, int]:
    """Return the log probability of a word, and how many of the last words, itself included, later words depend on.

    The context is most recent word first.
    """
    if word >= model.vocabulary_size:
        word = UNKNOWN
    key = hash_combine(HASH_SEED, word)
    slot = find_slot(model.keys, key)
    log_probability = model.values[slot, 0]
    remembered = 1 if model.values[slot, 1] != 0.0 else 0
    matched = 0
    while matched < length:
        key = hash_combine(key, context[matched])
        slot = find_slot(model.keys, key)
        if slot < 0:
            break
        matched += 1
        log_probability = model.values[slot, 0]
        if model.values[slot, 1] != 0.0:
            remembered = matched + 1
    key = HASH_SEED
    for k in range(length):
        key = hash_combine(key, context[k])
        if k >= matched:
            slot = find_slot(model.keys, key)
            if slot < 0:
                break
            log_probability += model.values[slot, 1]
    return float(log_probability), min(remembered, model.order - 1)


@compiled
def advance(context: Array, word: int, remembered: int) -> None:
    """Prepend a word to a context; ``remembered`` is the new length that matters."""
    for k in range(remembered - 1, 0, -1):
        context[k] = context[k - 1]
    if remembered > 0:
        context[0] = word


class _Ngrams(NamedTuple):
    """All distinct n-grams of one order, numbered."""

    prefix: Array  # the n-gram without its last word: its number among those of the order below
    suffix: Array  # the n-gram without its first word
    first: Array  # the first word
    counts: Array


def train_language_model(sentences: Iterator[Array], order: int, vocabulary_size: int) -> LanguageModel:
    """Return the model of sentences of word ids, which have no start and end symbols."""
    text = [part for sentence in sentences for part in ((START,), sentence, (END,))]
    if not text:
        raise TrainingError("a language model cannot be trained on an empty text: give it sentences")
    grams = list(_count_ngrams(np.concatenate(text).astype(np.int64), order, vocabulary_size))
    adjusted = [_kneser_ney_counts(grams, n) for n in range(order)]
    table = _Table.for_ngrams(grams)
    lower, hashes = np.full(1, 1.0 / (vocabulary_size - 1)), np.array([HASH_SEED])  # the start symbol is not predicted
    for n, (level, counts) in enumerate(zip(grams, adjusted, strict=True)):
        taken = discounts(counts)[np.minimum(counts, 3)]
        total = np.bincount(level.prefix, counts, len(lower))
        left = np.bincount(level.prefix, taken, len(lower)) / np.maximum(total, 1)
        if n:
            table.back_off(hashes, np.log10(left, where=left > 0, out=np.zeros_like(left)))
        probability = (counts - taken) / total[level.prefix] + left[level.prefix] * lower[level.suffix]
        lower, hashes = probability, table.add(hashes[level.suffix], level.first, np.log10(probability))
    return LanguageModel(table.keys, table.values, order, vocabulary_size)


def _count_ngrams(text: Array, order: int, vocabulary_size: int) -> Iterator[_Ngrams]:
    """Yield the n-grams of each order, from 1 on; none crosses a sentence boundary."""
    everything = np.arange(vocabulary_size)
    yield _Ngrams(
        np.zeros_like(everything), np.zeros_like(everything), everything, np.bincount(text, minlength=vocabulary_size)
    )
    numbers = text
    for n in range(2, order + 1):
        heads, last = numbers[:-1], text[n - 1 :]
        inside = (heads >= 0) & (last != START)
        combined = heads[inside] * vocabulary_size + last[inside]
        _, where, inverse, count = np.unique(combined, return_index=True, return_inverse=True, return_counts=True)
        position = np.flatnonzero(inside)[where]
        yield _Ngrams(numbers[position], numbers[position + 1], text[position], count)
        numbers = np.full(len(heads), -1)
        numbers[inside] = inverse


def _kneser_ney_counts(grams: list[_Ngrams], n: int) -> Array:
    """Return Kneser-Ney counts: occurrences at the highest order, distinct preceding words below it."""
    level = grams[n]
    if n + 1 == len(grams):
        counts = level.counts.copy()
    else:
        after = np.bincount(grams[n + 1].suffix, minlength=len(level.counts))
        counts = np.where(level.first == START, level.counts, after)
    if n == 0:
        counts[START] = 0
    return counts


def discounts(counts: Array) -> Array:
    """Return the discounts of counts of 0, 1, 2, and 3 or more."""
    n1, n2, n3, n4 = (int((counts == k).sum()) for k in range(1, 5))
    if not n1 or not n2 or not n3:
        return FALLBACK_DISCOUNTS
    y = n1 / (n1 + 2 * n2)
    estimated = np.array([0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])
    return estimated if all(0 < estimated[k] < k for k in (1, 2, 3)) else FALLBACK_DISCOUNTS


class _Table:
    """The hash table of a model that is being trained."""

    def __init__(self, count: int) -> None:
        self.keys = np.zeros(table_size(count), np.int64)
        self.values = np.zeros((len(self.keys), 2), np.float32)

    @classmethod
    def for_ngrams(cls, grams: list[_Ngrams]) -> "_Table":
        return cls(sum(len(level.counts) for level in grams))

    def add(self, suffixes: Array, first: Array, log_probabilities: Array) -> Array:
        """Add n-grams, each given by the hash of its suffix and its first word; return their hashes."""
        return _insert(self.keys, self.values, suffixes, first, log_probabilities)

    def back_off(self, hashes: Array, log_weights: Array) -> None:
        _set_back_off(self.keys, self.values, hashes, log_weights)


@compiled
def _insert(keys: Array, values: Array, suffixes: Array, first: Array, log_probabilities: Array) -> Array:
    hashes = np.empty(len(suffixes), np.int64)
    for i in range(len(suffixes)):
        hashes[i] = hash_combine(suffixes[i], first[i])
        values[claim_slot(keys, hashes[i]), 0] = log_probabilities[i]
    return hashes


@compiled
def _set_back_off(keys: Array, values: Array, hashes: Array, log_weights: Array) -> None:
    for i in range(len(hashes)):
        values[find_slot(keys, hashes[i]), 1] = log_weights[i]
