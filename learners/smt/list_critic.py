"""How probable are the words of a list to be right? What the list says, corrected by decoded rewards.

A word that most candidates agree on is not always right, and some words are right more often than their lists say. A
logistic model learns both: how far to trust lists, and a weight for each word.
"""

import numpy as np

from learners.smt.candidate_words import CandidateWords
from learners.smt.hashing import Array, compiled
from learners.smt.imputation import Beliefs
from learners.snapshot import Snapshot

BUCKETS = 1 << 18  # words are hashed into this many weights
MIN_WORD, MAX_WORD = 1e-3, 0.995  # no word is certain
LIST_RATE = 0.1  # of AdaGrad, for what is learned of lists


class ListCritic:
    """Corrects the probabilities that words are right."""

    def __init__(self, word_rate: float) -> None:
        self._word_rate = word_rate  # of AdaGrad, for the weights of words
        self._list, self._list_squares = np.array([0.0, 1.0]), np.ones(2)  # bias, and factor of the log-odds
        self._words, self._word_squares = np.zeros(BUCKETS), np.ones(BUCKETS)

    def correct(self, candidates: CandidateWords, beliefs: Beliefs) -> Beliefs:
        """Return corrected probabilities of words; those of bigrams are as they were."""
        return Beliefs(_correct(candidates.tokens, beliefs.words, self._list, self._words), beliefs.bigrams)

    def learn(
        self, candidates: CandidateWords, played: int, beliefs: Beliefs, corrected: Beliefs, posterior: Array
    ) -> None:
        """Move the corrected probabilities of the played candidate's words towards their posterior."""
        own = candidates.words[candidates.starts[played] : candidates.starts[played + 1]]
        errors, log_odds = posterior - corrected.words[own], _logit(beliefs.words[own])
        gradient = np.array([errors.sum(), errors @ log_odds])
        self._list_squares += gradient**2
        self._list += LIST_RATE * gradient / np.sqrt(self._list_squares)
        _move_words(candidates.tokens[own], errors, self._words, self._word_squares, self._word_rate)

    def save(self) -> Snapshot:
        touched = np.flatnonzero(self._word_squares != 1.0)
        arrays = {
            "list": self._list.copy(),
            "list_squares": self._list_squares.copy(),
            "touched": touched,
            "words": self._words[touched],
            "word_squares": self._word_squares[touched],
        }
        return Snapshot(arrays)

    def load(self, snapshot: Snapshot) -> None:
        self._list, self._list_squares = (snapshot.arrays[name].copy() for name in ("list", "list_squares"))
        self._words[:], self._word_squares[:] = 0.0, 1.0
        touched = snapshot.arrays["touched"]
        self._words[touched], self._word_squares[touched] = snapshot.arrays["words"], snapshot.arrays["word_squares"]


@compiled
def _logit(probabilities: Array) -> Array:
    return np.log(probabilities / (1.0 - probabilities))


@compiled
def _correct(tokens: Array, words: Array, of_list: Array, weights: Array) -> Array:
    scores = of_list[0] + of_list[1] * _logit(words) + weights[tokens & (len(weights) - 1)]
    return np.minimum(np.maximum(1.0 / (1.0 + np.exp(-scores)), MIN_WORD), MAX_WORD)


@compiled
def _move_words(tokens: Array, errors: Array, weights: Array, squares: Array, rate: float) -> None:
    for k in range(len(tokens)):
        bucket = tokens[k] & (len(weights) - 1)
        squares[bucket] += errors[k] ** 2
        weights[bucket] += rate * errors[k] / np.sqrt(squares[bucket])
