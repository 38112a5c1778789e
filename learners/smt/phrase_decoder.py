"""The phrase-based decoder (Koehn et al. 2003): left to right in the target, one stack per number of covered words."""

from typing import NamedTuple

import numpy as np

from learners.smt.chart import NO_TAIL, Chart, Cubes, add_goal, fill_cell, new_chart, new_cubes
from learners.smt.extraction import FROM, TO
from learners.smt.features import FEATURE
from learners.smt.grammar import Grammar
from learners.smt.hashing import (
    HASH_SEED,
    Array,
    claim_slot,
    compiled,
    compiled_internal,
    copy_elements,
    hash_combine,
)
from learners.smt.language_model import LanguageModel
from learners.smt.translation_options import TranslationOptions, collect_options, find_matches, untranslated_positions


class Coverages(NamedTuple):
    """Sets of source words that hypotheses have translated, each with the end of the last phrase."""

    first_gap: Array  # the first uncovered word
    mask: Array  # bit k: is the word k after the first gap covered?
    end: Array  # of the last phrase
    future: Array  # estimated score of the uncovered words
    slice: Array  # [coverage, 2]: its hypotheses, as positions in ``Chart.order``
    used: Array  # how many there are
    keys: Array  # hash table
    number: Array  # by slot


class SpanOptions(NamedTuple):
    """Translation options by source span."""

    lists: Array  # [start, length - 1]: number of the list of options, or -1
    future: Array  # [start, end]: estimated best score of the span by itself


@compiled_internal
def _options_by_span(
    matches: Array, untranslated: Array, options: TranslationOptions, n: int, max_length: int
) -> SpanOptions:
    lists = np.full((n, max_length), -1)
    best = np.full((n, max_length), -np.inf)
    for m in range(len(matches)):
        i, length = matches[m, FROM], matches[m, TO] - matches[m, FROM]
        lists[i, length - 1] = options.list_of[m]
    first_copy = len(options.list_start) - 1 - len(untranslated)
    for k in range(len(untranslated)):
        lists[untranslated[k], 0] = first_copy + k
    for i in range(n):
        for k in range(max_length):
            if lists[i, k] >= 0:
                best[i, k] = options.estimate[options.list_start[lists[i, k]]]
    future = np.full((n + 1, n + 1), -np.inf)
    for i in range(n + 1):
        future[i, i] = 0.0
        for j in range(i + 1, n + 1):
            for length in range(1, min(max_length, j - i) + 1):
                future[i, j] = max(future[i, j], future[i, j - length] + best[j - length, length - 1])
    return SpanOptions(lists, future)


@compiled_internal
def _new_coverages(n: int, distortion_limit: int) -> Coverages:
    """Return space for all coverages within the distortion limit; only the empty coverage is in use."""
    patterns = (1 << min(max(distortion_limit, 1), n)) * (distortion_limit + 2)
    size = n * patterns + 2
    slots = 4
    while slots < 2 * size:
        slots *= 2
    coverages = Coverages(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
        np.zeros((size, 2), np.int64),
        np.array([1]),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int32),
    )
    coverages.slice[0, 1] = 1
    return coverages


@compiled_internal
def _future_score(first_gap: int, mask: int, n: int, future: Array) -> float:
    """Return the estimated score of the uncovered words."""
    total, start = 0.0, first_gap
    position = first_gap
    while mask:
        if mask & 1:
            total += future[start, position]
            start = position + 1
        mask >>= 1
        position += 1
    return total + future[start, n]


@compiled_internal
def _find_or_add_coverage(coverages: Coverages, first_gap: int, mask: int, end: int, future: Array) -> int:
    """Return the number of a coverage, adding it if it is new."""
    while mask & 1:
        mask >>= 1
        first_gap += 1
    key = hash_combine(hash_combine(hash_combine(HASH_SEED, first_gap), mask), end)
    slot = claim_slot(coverages.keys, key)
    if coverages.number[slot] == 0:
        number = coverages.used[0]
        coverages.used[0] += 1
        coverages.number[slot] = number
        coverages.first_gap[number], coverages.mask[number], coverages.end[number] = first_gap, mask, end
        coverages.future[number] = _future_score(first_gap, mask, future.shape[0] - 1, future)
    return coverages.number[slot]


@compiled_internal
def _extend(
    coverages: Coverages,
    old: int,
    length: int,
    spans: SpanOptions,
    options: TranslationOptions,
    distortion_limit: int,
    weights: Array,
    cubes: Cubes,
    count: int,
) -> int:
    """Add the cubes of one coverage and all phrases of one length that may follow; return the number of cubes."""
    first_gap, mask, end = coverages.first_gap[old], coverages.mask[old], coverages.end[old]
    n = len(spans.lists)
    for start in range(first_gap, min(n - length, max(first_gap, first_gap + distortion_limit - length)) + 1):
        bits = ((1 << length) - 1) << (start - first_gap)
        distortion = abs(start - end)
        number = spans.lists[start, length - 1]
        if number < 0 or mask & bits or distortion > distortion_limit:
            continue
        new = _find_or_add_coverage(coverages, first_gap, mask | bits, start + length, spans.future)
        cubes.options[count, 0], cubes.options[count, 1] = options.list_start[number], options.list_start[number + 1]
        cubes.tails[count] = NO_TAIL
        copy_elements(coverages.slice[old], cubes.tails[count, 0], 2)
        cubes.base[count] = coverages.future[new] - weights[FEATURE.Reordering] * distortion
        cubes.group[count], cubes.distortion[count] = new, distortion
        count += 1
    return count


@compiled_internal
def _set_slices(chart: Chart, coverages: Coverages, begin: int, end: int) -> None:
    """Store which hypotheses of a stack have which coverage; the stack is sorted by coverage."""
    for position in range(begin, end):
        group = chart.nodes.group[chart.order[position]]
        if coverages.slice[group, 1] == 0:
            coverages.slice[group, 0] = position
        coverages.slice[group, 1] = position + 1


@compiled
def decode_phrase_based(
    grammar: Grammar,
    model: LanguageModel,
    sentence: Array,
    copies: Array,
    weights: Array,
    max_length: int,
    distortion_limit: int,
    pop_limit: int,
) -> tuple[Chart, TranslationOptions]:
    """Return the chart of a sentence; ``copies`` are the target ids of its words, for those that no rule translates."""
    n = len(sentence)
    matches = find_matches(grammar, sentence, max_length, 0)
    untranslated = untranslated_positions(sentence, matches)
    options = collect_options(grammar, model, matches, copies[untranslated], weights, True)
    spans = _options_by_span(matches, untranslated, options, n, max_length)
    coverages = _new_coverages(n, distortion_limit)
    cubes = new_cubes(pop_limit * max_length * (distortion_limit + 1) + 1)
    chart = new_chart((n + 1) * pop_limit + 2, len(cubes.base), pop_limit, model)
    first = np.zeros(n + 2, np.int64)  # the first coverage, by the number of covered words
    first[1] = 1
    begin, end = 0, 1
    for covered in range(1, n + 1):
        count = 0
        for length in range(1, min(max_length, covered) + 1):
            for old in range(first[covered - length], first[covered - length + 1]):
                if coverages.slice[old, 1] > 0:
                    count = _extend(coverages, old, length, spans, options, distortion_limit, weights, cubes, count)
        first[covered + 1] = coverages.used[0]
        begin, end = fill_cell(chart, model, options, cubes, count, pop_limit, weights)
        _set_slices(chart, coverages, begin, end)
    add_goal(chart, model, options, cubes, np.array([begin, end]), pop_limit, weights)
    return chart, options
