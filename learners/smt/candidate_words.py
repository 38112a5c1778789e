"""The words and bigrams of a list of candidates, as arrays for compiled code."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, hash_combine, table_size

BEGIN, END = -1, -2  # the neighbours of the first and the last word
CACHE_SIZE = 1 << 18  # words


class CandidateWords(NamedTuple):
    """Candidates of one source. Words are numbered with their occurrence: the second *the* is another word."""

    starts: Array  # of the tokens, by candidate and one more
    words: Array  # by token: the number of its word
    bigrams: Array  # by token: the number of the bigram that ends with it; that of a first token is not used
    word_count: int
    tokens: Array  # by word: the hash of its text, whatever its occurrence
    left: Array  # by bigram: the number of its first word; the number itself for bigrams that begin a candidate
    features: Array  # by token, and one more for the end of each candidate: hashes of bigrams without occurrences


class _WordHashes(dict[str, int]):
    """Hashes of words, computed once. They are the same in every process, unlike Python's."""

    def __missing__(self, word: str) -> int:
        if len(self) >= CACHE_SIZE:
            self.clear()
        self[word] = found = zlib.crc32(word.encode())
        return found


_hashes = _WordHashes()


def index_candidates(translations: Sequence[str]) -> CandidateWords:
    """Return the words and bigrams of translations, whose tokens are joined by single spaces."""
    starts = np.cumsum([0, *[text.count(" ") + 1 if text else 0 for text in translations]])
    words = " ".join(translations).split()
    return _index(np.array([_hashes[word] for word in words], np.int64), starts)


@compiled
def _index(tokens: Array, starts: Array) -> CandidateWords:
    keys, numbers = np.zeros(table_size(len(tokens) + 1), np.int64), np.zeros(table_size(len(tokens) + 1), np.int64)
    pair_keys, pair_numbers = np.zeros_like(keys), np.zeros_like(numbers)
    words, bigrams = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int64)
    left, token_of = np.empty(len(tokens) + 1, np.int64), np.empty(len(tokens), np.int64)
    features = np.empty(len(tokens) + len(starts) - 1, np.int64)
    word_count, bigram_count = 0, 0
    for c in range(len(starts) - 1):
        previous, before = BEGIN, BEGIN
        for t in range(starts[c], starts[c + 1]):
            occurrence = 0
            for earlier in range(starts[c], t):
                occurrence += tokens[earlier] == tokens[t]
            slot = claim_slot(keys, hash_combine(hash_combine(HASH_SEED, tokens[t]), occurrence))
            if numbers[slot] == 0:
                token_of[word_count] = tokens[t]
                word_count += 1
                numbers[slot] = word_count
            words[t] = numbers[slot] - 1
            slot = claim_slot(pair_keys, hash_combine(hash_combine(HASH_SEED, previous), words[t]))
            if pair_numbers[slot] == 0:
                left[bigram_count] = previous
                bigram_count += 1
                pair_numbers[slot] = bigram_count
            bigrams[t] = pair_numbers[slot] - 1
            features[t + c] = hash_combine(hash_combine(HASH_SEED, before), tokens[t])
            previous, before = words[t], tokens[t]
        features[starts[c + 1] + c] = hash_combine(hash_combine(HASH_SEED, before), END)
    distinct = token_of[:word_count].copy()
    return CandidateWords(starts, words, bigrams, word_count, distinct, left[:bigram_count].copy(), features)


@compiled
def feature_scores(candidates: CandidateWords, weights: Array) -> Array:
    """Return the sum of the weights of each candidate's bigrams; the number of weights is a power of two."""
    mask, starts = len(weights) - 1, candidates.starts
    scores = np.zeros(len(starts) - 1)
    for c in range(len(scores)):
        for k in range(starts[c] + c, starts[c + 1] + c + 1):
            scores[c] += weights[candidates.features[k] & mask]
    return scores
