"""Rewards of candidates that were not played, imputed from the decoded reward of the one that was.

The model's distribution over its candidates says how probable each word and each bigram is to be right. The decoded
reward says how many words and bigrams of the played candidate are. Together they give the posterior of each of its
words (``learners.credit``), and with it an estimate of what every other candidate would have earned.
"""

from typing import NamedTuple

import numpy as np

from learners.credit.matched_runs import posterior_given_matches
from learners.credit.solutions import length_given_solution, length_probability
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
        if lengths[reference] > 0.0:
            brevity += lengths[reference] * np.exp(min(0.0, 1.0 - reference / length))
    return np.exp(log_precision / orders) * brevity


@compiled
def updated_beliefs(candidates: CandidateWords, played: int, beliefs: Beliefs, matches: Array) -> tuple[Beliefs, float]:
    """Return the beliefs after ``matches`` (m1 to m4) of the played candidate were observed, and their probability."""
    first, end = candidates.starts[played], candidates.starts[played + 1]
    own, pairs = candidates.words[first:end], candidates.bigrams[first:end]
    prior = beliefs.words[own]
    posterior = posterior_given_matches(prior, beliefs.bigrams[pairs], matches)
    words, bigrams = beliefs.words.copy(), beliefs.bigrams.copy()
    _update_substitutes(candidates, played, prior, posterior.words, words)
    words[own] = posterior.words
    bigrams[pairs[1:]] = posterior.adjacent[1:]
    return Beliefs(words, bigrams), posterior.probability


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


class Imputation(NamedTuple):
    """What a reward says of all candidates, averaged over the solutions of its decoding."""

    rewards: Array  # an estimate for every candidate; empty if no solution is possible
    words: Array  # the probability that a word of the played candidate is right
    lengths: Array  # the distribution of the reference's length


@compiled
def expected_rewards(candidates: CandidateWords, beliefs: Beliefs, lengths: Array) -> Array:
    """Return the expected BLEU of every candidate."""
    rewards = np.empty(len(candidates.starts) - 1)
    for c in range(len(rewards)):
        rewards[c] = expected_bleu(candidates, c, beliefs, lengths)
    return rewards


@compiled
def impute_rewards(
    candidates: CandidateWords, played: int, beliefs: Beliefs, solutions: Array, lengths: Array, reward: float
) -> Imputation:
    """Return what the reward of the played candidate says, given beliefs in words and in lengths before it."""
    first, end = candidates.starts[played], candidates.starts[played + 1]
    rewards, words, posterior_lengths = np.zeros(len(candidates.starts) - 1), np.zeros(end - first), 0.0 * lengths
    for k in range(len(solutions)):
        updated, probability = updated_beliefs(candidates, played, beliefs, solutions[k, :4])
        weight = probability * length_probability(lengths, solutions[k, 4], end - first)
        if weight > 0.0:
            given = length_given_solution(lengths, solutions[k, 4], end - first)
            rewards += weight * expected_rewards(candidates, updated, given)
            words += weight * updated.words[candidates.words[first:end]]
            posterior_lengths += weight * given
    total = posterior_lengths.sum()
    if total == 0.0:
        return Imputation(np.empty(0), words, posterior_lengths)
    rewards /= total
    rewards[played] = reward
    return Imputation(rewards, words / total, posterior_lengths / total)
