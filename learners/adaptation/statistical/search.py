"""The search of the adapting system: left to right in the target, with two language models and lexicalised reordering.

There is one stack for each number of covered source words. Hypotheses that later scores cannot tell apart recombine.
What is still to be translated is estimated by the best options of its spans.
"""

from typing import NamedTuple

import numpy as np

from learners.adaptation.statistical.features import ORIENTATION_COUNT
from learners.adaptation.statistical.phrase_counts import DISCONTINUOUS, MONOTONE, SWAP
from learners.adaptation.statistical.witten_bell import ORDER, NgramCounts, log_probability
from learners.smt.hashing import (
    HASH_SEED,
    Array,
    argsort_descending,
    claim_slot,
    compiled,
    compiled_internal,
    hash_combine,
    table_size,
)
from learners.smt.language_model import END, START, LanguageModel, predict

CONTEXT = 4  # words that a hypothesis remembers, at least as many as any language model needs


class Options(NamedTuple):
    """Translation options of one sentence; those of a span are adjacent, the best estimate first."""

    span_start: Array  # [start, length]: the first option of a span; [start, length + 1] is the last one + 1
    length: Array  # source words of each option
    score: Array  # weights . features, without language models, reordering and distortion
    estimate: Array  # the same with the language model score of the words without context
    reordering: Array  # [option, 6]: weighted log probabilities of the orientations
    word_start: Array  # by option and one more
    words: Array  # target ids


class SearchWeights(NamedTuple):
    """The weights of what depends on the search."""

    background_lm: float
    background_oov: float
    foreground_lm: float
    distortion: float


class Hypotheses(NamedTuple):
    """All hypotheses of a search, in the order of their stacks."""

    score: Array
    total: Array  # score and estimate of the rest
    first_gap: Array  # the first uncovered word
    mask: Array  # bit k: is the word k after the first gap covered?
    start: Array  # of the last phrase
    end: Array
    option: Array  # the last one
    parent: Array
    context: Array  # [hypothesis, CONTEXT]: the last words, most recent first
    length: Array  # of the context


class Proposals(NamedTuple):
    """How the hypotheses of a stack may be extended, before language models are asked."""

    used: Array  # how many there are
    estimate: Array
    old: Array  # the hypothesis to extend
    option: Array
    start: Array  # of the option's span
    gap: Array  # coverage after the option
    mask: Array
    rest: Array  # the estimate of the rest


class Found(NamedTuple):
    """The finished hypotheses, best first, and how each was built."""

    option: Array  # of all hypotheses
    parent: Array
    finished: Array
    scores: Array  # of the finished ones, with the end of the sentence


@compiled_internal
def _new_hypotheses(size: int) -> Hypotheses:
    return Hypotheses(
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full(size, -1),
        np.full(size, -1),
        np.zeros((size, CONTEXT), np.int64),
        np.zeros(size, np.int64),
    )


@compiled_internal
def _new_proposals(size: int) -> Proposals:
    return Proposals(
        np.zeros(1, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
    )


@compiled
def span_estimates(options: Options, n: int) -> Array:
    """Return the estimated best score of each span [start, end] by itself."""
    future = np.full((n + 1, n + 1), -np.inf)
    max_length = options.span_start.shape[1] - 2
    for i in range(n + 1):
        future[i, i] = 0.0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            if width <= max_length and options.span_start[i, width] < options.span_start[i, width + 1]:
                future[i, j] = options.estimate[options.span_start[i, width]]
            for k in range(i + 1, j):
                future[i, j] = max(future[i, j], future[i, k] + future[k, j])
    return future


@compiled_internal
def _rest(first_gap: int, mask: int, n: int, future: Array) -> float:
    """Return the estimated score of the uncovered words."""
    total, start, position = 0.0, first_gap, first_gap
    while mask:
        if mask & 1:
            total += future[start, position]
            start = position + 1
        mask >>= 1
        position += 1
    return total + future[start, n]


@compiled_internal
def _append(
    word: int,
    context: Array,
    length: int,
    background: LanguageModel,
    foreground: NgramCounts,
    weights: SearchWeights,
) -> tuple[float, int]:
    """Score a word after a context, and add it to the context; return its score and the new length."""
    score, _ = predict(background, context, min(length, background.order - 1), word)
    score *= weights.background_lm
    if word >= background.vocabulary_size:
        score += weights.background_oov
    if weights.foreground_lm != 0.0:
        score += weights.foreground_lm * log_probability(foreground, context, min(length, ORDER - 1), word)
    length = min(length + 1, CONTEXT)
    for k in range(length - 1, 0, -1):
        context[k] = context[k - 1]
    context[0] = word
    return score, length


@compiled_internal
def _orientation(last_start: int, last_end: int, start: int, end: int) -> int:
    if start == last_end:
        return MONOTONE
    return SWAP if end == last_start else DISCONTINUOUS


@compiled_internal
def _key(hypotheses: Hypotheses, at: int) -> int:
    """Return the hash of everything that later scores of a hypothesis depend on."""
    key = hash_combine(hash_combine(HASH_SEED, hypotheses.first_gap[at]), hypotheses.mask[at])
    key = hash_combine(hash_combine(key, hypotheses.start[at]), hypotheses.end[at])
    key = hash_combine(hash_combine(key, hypotheses.option[at]), hypotheses.length[at])
    for k in range(hypotheses.length[at]):
        key = hash_combine(key, hypotheses.context[at, k])
    return key


@compiled_internal
def _coverage(first_gap: int, mask: int) -> tuple[int, int]:
    """Return the first uncovered word, and the mask of the words after it."""
    while mask & 1:
        mask >>= 1
        first_gap += 1
    return first_gap, mask


@compiled_internal
def _propose(
    hypotheses: Hypotheses, old: int, length: int, options: Options, future: Array, limit: int, proposals: Proposals
) -> None:
    """Add all options of one length that may follow a hypothesis."""
    n = len(future) - 1
    first_gap = hypotheses.first_gap[old]
    for start in range(first_gap, min(n - length, first_gap + limit) + 1):
        bits = ((1 << length) - 1) << (start - first_gap)
        if hypotheses.mask[old] & bits or abs(start - hypotheses.end[old]) > limit:
            continue
        gap, mask = _coverage(first_gap, hypotheses.mask[old] | bits)
        if start + length - gap > limit:  # the way back would be too far, and the sentence could not be finished
            continue
        rest = _rest(gap, mask, n, future)
        for option in range(options.span_start[start, length], options.span_start[start, length + 1]):
            at = proposals.used[0]
            proposals.used[0] += 1
            proposals.estimate[at] = hypotheses.score[old] + options.estimate[option] + rest
            proposals.old[at], proposals.option[at], proposals.start[at] = old, option, start
            proposals.gap[at], proposals.mask[at], proposals.rest[at] = gap, mask, rest


@compiled_internal
def _write(
    hypotheses: Hypotheses,
    at: int,
    proposals: Proposals,
    chosen: int,
    length: int,
    options: Options,
    models: tuple[LanguageModel, NgramCounts],
    weights: SearchWeights,
) -> None:
    """Write the hypothesis of a proposal, with all its scores."""
    old, option, start = proposals.old[chosen], proposals.option[chosen], proposals.start[chosen]
    known = hypotheses.length[old]
    for k in range(known):
        hypotheses.context[at, k] = hypotheses.context[old, k]
    orientation = _orientation(hypotheses.start[old], hypotheses.end[old], start, start + length)
    score = hypotheses.score[old] + options.score[option] + options.reordering[option, orientation]
    if hypotheses.option[old] >= 0:
        score += options.reordering[hypotheses.option[old], ORIENTATION_COUNT + orientation]
    score -= weights.distortion * abs(start - hypotheses.end[old])
    for k in range(options.word_start[option], options.word_start[option + 1]):
        gained, known = _append(options.words[k], hypotheses.context[at], known, models[0], models[1], weights)
        score += gained
    hypotheses.score[at], hypotheses.total[at], hypotheses.length[at] = score, score + proposals.rest[chosen], known
    hypotheses.first_gap[at], hypotheses.mask[at] = proposals.gap[chosen], proposals.mask[chosen]
    hypotheses.start[at], hypotheses.end[at] = start, start + length
    hypotheses.option[at], hypotheses.parent[at] = option, old


@compiled_internal
def _copy(hypotheses: Hypotheses, source: int, target: int) -> None:
    for field in (hypotheses.score, hypotheses.total):
        field[target] = field[source]
    for numbers in (
        hypotheses.first_gap,
        hypotheses.mask,
        hypotheses.start,
        hypotheses.end,
        hypotheses.option,
        hypotheses.parent,
        hypotheses.length,
    ):
        numbers[target] = numbers[source]
    for k in range(CONTEXT):
        hypotheses.context[target, k] = hypotheses.context[source, k]


@compiled_internal
def _fill_stack(
    hypotheses: Hypotheses,
    begin: int,
    proposals: Proposals,
    options: Options,
    models: tuple[LanguageModel, NgramCounts],
    weights: SearchWeights,
    pop_limit: int,
) -> int:
    """Write the hypotheses of the most promising proposals; return the end of the stack."""
    order = argsort_descending(proposals.estimate[: proposals.used[0]])[:pop_limit]
    keys = np.zeros(table_size(len(order) + 1), np.int64)
    place_of = np.full(len(keys), -1)
    end = begin
    for k in range(len(order)):
        option = proposals.option[order[k]]
        _write(hypotheses, end, proposals, order[k], options.length[option], options, models, weights)
        slot = claim_slot(keys, _key(hypotheses, end))
        if place_of[slot] < 0:
            place_of[slot] = end
            end += 1
        elif hypotheses.total[end] > hypotheses.total[place_of[slot]]:
            _copy(hypotheses, end, place_of[slot])
    return end


@compiled
def search(
    options: Options,
    n: int,
    models: tuple[LanguageModel, NgramCounts],
    weights: SearchWeights,
    distortion_limit: int,
    pop_limit: int,
) -> Found:
    """Translate a sentence of ``n`` words; every word must have an option. ``models`` are background and foreground."""
    future = span_estimates(options, n)
    max_length = options.span_start.shape[1] - 2
    hypotheses = _new_hypotheses(n * pop_limit + 2)
    hypotheses.context[0, 0], hypotheses.length[0] = START, 1
    stacks = np.zeros(n + 2, np.int64)  # the first hypothesis of each stack
    stacks[1] = 1
    widest = 1
    for start in range(n):
        for length in range(1, max_length + 1):
            widest = max(widest, options.span_start[start, length + 1] - options.span_start[start, length])
    proposals = _new_proposals(pop_limit * max_length * (distortion_limit + 1) * widest)
    for covered in range(1, n + 1):
        proposals.used[0] = 0
        for length in range(1, min(max_length, covered) + 1):
            for old in range(stacks[covered - length], stacks[covered - length + 1]):
                _propose(hypotheses, old, length, options, future, distortion_limit, proposals)
        stacks[covered + 1] = _fill_stack(hypotheses, stacks[covered], proposals, options, models, weights, pop_limit)
    scores = np.empty(stacks[n + 1] - stacks[n])
    for k in range(len(scores)):
        at = stacks[n] + k
        ending, _ = _append(END, hypotheses.context[at], hypotheses.length[at], models[0], models[1], weights)
        scores[k] = hypotheses.score[at] + ending
    order = argsort_descending(scores)
    return Found(hypotheses.option, hypotheses.parent, stacks[n] + order, scores[order])
