"""Rewards of candidates that were not played, imputed from the decoded reward of the one that was.

The model's distribution over its candidates says how probable each word and each bigram is to be right. The decoded
reward says how many words and bigrams of the played candidate are. Together they give the posterior of each of its
words (``learners.credit``), and with it an estimate of what every other candidate would have earned.
"""

from typing import NamedTuple

import numpy as np

from learners.credit.matched_words import posterior_given_count
from learners.credit.solutions import length_given_solution, solution_weights
from learners.smt.candidate_words import CandidateWords
from learners.smt.hashing import Array, compiled

MIN_WORD, MAX_WORD = 1e-3, 0.98  # probabilities of a word: no list is certain
MIN_BIGRAM, MAX_BIGRAM = 1e-2, 0.98
MAX_SUBSTITUTE = 0.95  # probability of a word that may stand where a wrong one stood
MIN_FACTOR, MAX_FACTOR = 0.2, 3.0  # by which evidence on a word changes the probability of its substitutes
SMOOTHING = 0.01  # of expected matches, as in sentence BLEU


class Beliefs(NamedTuple):
    """Probabilities that words are in the reference, and that bigrams are if their words are."""

    words: Array
    bigrams: Array


@compiled
def prior_beliefs(candidates: CandidateWords, probabilities: Array) -> Beliefs:
    """Return what the distribution over candidates says of their words and bigrams."""
    starts = candidates.starts
    words, bigrams = np.zeros(candidates.word_count), np.zeros(len(candidates.left))
    right = np.zeros(len(bigrams), np.int64)
    for c in range(len(probabilities)):
        for t in range(starts[c], starts[c + 1]):
            words[candidates.words[t]] += probabilities[c]
            bigrams[candidates.bigrams[t]] += probabilities[c]
            right[candidates.bigrams[t]] = candidates.words[t]
    for b in range(len(bigrams)):
        if candidates.left[b] >= 0:
            mass = max(min(words[candidates.left[b]], words[right[b]]), 1e-9)
            bigrams[b] = min(max(bigrams[b] / mass, MIN_BIGRAM), MAX_BIGRAM)
    return Beliefs(np.minimum(np.maximum(words, MIN_WORD), MAX_WORD), bigrams)


@compiled
def expected_bleu(candidates: CandidateWords, c: int, beliefs: Beliefs, lengths: Array) -> float:
    """Return the BLEU of a candidate's expected matches, times its expected brevity penalty.

    ``lengths`` is the distribution of the reference's length.
    """
    first, end = candidates.starts[c], candidates.starts[c + 1]
    length = end - first
    if length == 0:
        return 0.0
    expected, runs = np.zeros(4), np.zeros(4)
    for t in range(first, end):
        word = beliefs.words[candidates.words[t]]
        follows = beliefs.bigrams[candidates.bigrams[t]] * word
        for order in range(3, 0, -1):
            runs[order] = runs[order - 1] * follows if t > first else 0.0
        runs[0] = word
        expected += runs
    log_precision = 0.0
    orders = min(4, length)
    for order in range(orders):
        log_precision += np.log(max(expected[order], SMOOTHING) / (length - order))
    brevity = 0.0
    for reference in range(len(lengths)):
        brevity += lengths[reference] * np.exp(min(0.0, 1.0 - reference / length))
    return np.exp(log_precision / orders) * brevity


@compiled
def updated_beliefs(candidates: CandidateWords, played: int, beliefs: Beliefs, matches: Array) -> Beliefs:
    """Return the beliefs after ``matches`` (m1, m2, ...) of the played candidate were observed."""
    first, end = candidates.starts[played], candidates.starts[played + 1]
    own = candidates.words[first:end]
    prior = beliefs.words[own]
    posterior = posterior_given_count(prior, matches[0])
    words, bigrams = beliefs.words.copy(), beliefs.bigrams.copy()
    _update_substitutes(candidates, played, prior, posterior, words)
    words[own] = posterior
    if end - first > 1:
        pairs = candidates.bigrams[first + 1 : end]
        both = posterior[:-1] * posterior[1:]
        joint = np.minimum(np.maximum(both * bigrams[pairs], 1e-6), 1.0 - 1e-6)
        adjacent = posterior_given_count(joint, min(matches[1], end - first - 1))
        for k in range(len(pairs)):
            bigrams[pairs[k]] = min(adjacent[k] / max(both[k], adjacent[k], 1e-6), 1.0)
    return Beliefs(words, bigrams)


@compiled
def _update_substitutes(candidates: CandidateWords, played: int, prior: Array, posterior: Array, words: Array) -> None:
    """Raise the probability of words that stand in other candidates where a word of the played one proved wrong.

    Candidates are compared without the beginning and the end that they share with the played one. A word that differs
    in several candidates is compared in the one where fewest words differ.
    """
    starts = candidates.starts
    own = candidates.words[starts[played] : starts[played + 1]]
    fewest = np.full(len(words), 1 << 30)
    factor = np.ones(len(words))
    for c in range(len(starts) - 1):
        other = candidates.words[starts[c] : starts[c + 1]]
        shortest = min(len(own), len(other))
        begin = 0
        while begin < shortest and own[begin] == other[begin]:
            begin += 1
        end = 0
        while end < shortest - begin and own[len(own) - 1 - end] == other[len(other) - 1 - end]:
            end += 1
        replaced, differing = len(own) - end - begin, len(other) - end - begin
        if replaced == 0:
            continue
        ratio = 0.0
        for k in range(begin, begin + replaced):
            ratio += min(max((1.0 - posterior[k]) / (1.0 - prior[k]), MIN_FACTOR), MAX_FACTOR) / replaced
        for k in range(begin, begin + differing):
            if replaced + differing < fewest[other[k]]:
                fewest[other[k]], factor[other[k]] = replaced + differing, ratio
    for word in range(len(words)):
        words[word] = min(words[word] * factor[word], max(MAX_SUBSTITUTE, words[word]))


@compiled
def impute_rewards(
    candidates: CandidateWords, played: int, probabilities: Array, solutions: Array, lengths: Array, reward: float
) -> tuple[Array, Array]:
    """Return an estimate of every candidate's reward, and the posterior distribution of the reference's length.

    Both are averages over the solutions of the decoded reward. The estimates are empty if no solution is possible.
    """
    beliefs = prior_beliefs(candidates, probabilities)
    first, end = candidates.starts[played], candidates.starts[played + 1]
    weights = solution_weights(beliefs.words[candidates.words[first:end]], solutions, lengths)
    posterior_lengths = np.zeros(len(lengths))
    if weights.sum() == 0.0:
        return np.empty(0), posterior_lengths
    estimates = np.zeros(len(probabilities))
    for k in range(len(solutions)):
        if weights[k] < 1e-3:
            continue
        given = length_given_solution(lengths, solutions[k, 4], end - first)
        posterior_lengths += weights[k] * given
        updated = updated_beliefs(candidates, played, beliefs, solutions[k, :4])
        for c in range(len(probabilities)):
            estimates[c] += weights[k] * expected_bleu(candidates, c, updated, given)
    estimates[played] = reward
    return estimates, posterior_lengths / posterior_lengths.sum()
