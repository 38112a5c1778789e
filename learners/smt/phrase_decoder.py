"""The phrase-based decoder: from left to right in the target, jumping in the source, one stack per covered word."""

from typing import NamedTuple

import numpy as np

from learners.smt.chart import NO_TAIL, Chart, Cubes, fill_cell, new_chart
from learners.smt.extraction import FROM, TO
from learners.smt.features import FEATURE
from learners.smt.grammar import Grammar
from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, copy_elements, hash_combine, inner
from learners.smt.hiero_decoder import finish, new_cubes
from learners.smt.language_model import LanguageModel
from learners.smt.translation_options import TranslationOptions, collect_options, find_matches, untranslated_positions


class Coverages(NamedTuple):
    """Sets of source words that hypotheses have translated, each with where the last phrase ended."""

    gap: Array  # the first uncovered word
    mask: Array  # words covered after it, from bit 0 on for the word at the gap
    end: Array
    future: Array  # an estimate of the score of what is still uncovered
    slice: Array  # [coverage, 2]: hypotheses, in the chart's order
    used: Array  # how many
    keys: Array  # table
    number: Array


class SpanOptions(NamedTuple):
    """The lists of options for each source span, by start and length - 1."""

    lists: Array  # number of the list, or -1
    future: Array  # [start, end]: the best estimate for a span, by itself


@inner
def _phrases(matches: Array, alone: Array, options: TranslationOptions, n: int, longest: int) -> SpanOptions:
    lists = np.full((n, longest), -1)
    best = np.full((n, longest), -np.inf)
    for m in range(len(matches)):
        i, length = matches[m, FROM], matches[m, TO] - matches[m, FROM]
        lists[i, length - 1] = options.list_of[m]
    first_copied = len(options.list_start) - 1 - len(alone)
    for k in range(len(alone)):
        lists[alone[k], 0] = first_copied + k
    for i in range(n):
        for k in range(longest):
            if lists[i, k] >= 0:
                best[i, k] = options.estimate[options.list_start[lists[i, k]]]
    future = np.full((n + 1, n + 1), -np.inf)
    for i in range(n + 1):
        future[i, i] = 0.0
        for j in range(i + 1, n + 1):
            for length in range(1, min(longest, j - i) + 1):
                future[i, j] = max(future[i, j], future[i, j - length] + best[j - length, length - 1])
    return SpanOptions(lists, future)


@inner
def _new_coverages(n: int, distortion: int) -> Coverages:
    """Room for all that the distortion limit allows, and the coverage of nothing."""
    patterns = (1 << min(max(distortion, 1), n)) * (distortion + 2)
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


@inner
def _future(gap: int, mask: int, n: int, future: Array) -> float:
    """The estimate of what is uncovered."""
    total, start = 0.0, gap
    position = gap
    while mask:
        if mask & 1:
            total += future[start, position]
            start = position + 1
        mask >>= 1
        position += 1
    return total + future[start, n]


@inner
def _coverage(coverages: Coverages, gap: int, mask: int, end: int, future: Array) -> int:
    """The number of a coverage, new if it is."""
    while mask & 1:
        mask >>= 1
        gap += 1
    slot = claim_slot(coverages.keys, hash_combine(hash_combine(hash_combine(HASH_SEED, gap), mask), end))
    if coverages.number[slot] == 0:
        number = coverages.used[0]
        coverages.used[0] += 1
        coverages.number[slot] = number
        coverages.gap[number], coverages.mask[number], coverages.end[number] = gap, mask, end
        coverages.future[number] = _future(gap, mask, future.shape[0] - 1, future)
    return coverages.number[slot]


@inner
def _extend(
    coverages: Coverages,
    old: int,
    length: int,
    phrases: SpanOptions,
    options: TranslationOptions,
    distortion: int,
    weights: Array,
    cubes: Cubes,
    count: int,
) -> int:
    """Cubes of the hypotheses with one coverage and all phrases of one length that may follow."""
    gap, mask, end = coverages.gap[old], coverages.mask[old], coverages.end[old]
    n = len(phrases.lists)
    for start in range(gap, min(n - length, max(gap, gap + distortion - length)) + 1):
        bits = ((1 << length) - 1) << (start - gap)
        jump = abs(start - end)
        number = phrases.lists[start, length - 1]
        if number < 0 or mask & bits or jump > distortion:
            continue
        new = _coverage(coverages, gap, mask | bits, start + length, phrases.future)
        cubes.options[count, 0], cubes.options[count, 1] = options.list_start[number], options.list_start[number + 1]
        cubes.tails[count] = NO_TAIL
        copy_elements(coverages.slice[old], cubes.tails[count, 0], 2)
        cubes.base[count] = coverages.future[new] - weights[FEATURE.Reordering] * jump
        cubes.group[count], cubes.jump[count] = new, jump
        count += 1
    return count


@inner
def _slices(chart: Chart, coverages: Coverages, begin: int, end: int) -> None:
    """Note which hypotheses have which coverage; they are in this order."""
    for place_in_order in range(begin, end):
        group = chart.nodes.group[chart.order[place_in_order]]
        if coverages.slice[group, 1] == 0:
            coverages.slice[group, 0] = place_in_order
        coverages.slice[group, 1] = place_in_order + 1


@compiled
def decode_phrase_based(
    grammar: Grammar,
    model: LanguageModel,
    sentence: Array,
    copies: Array,
    weights: Array,
    longest: int,
    distortion: int,
    limit: int,
) -> tuple[Chart, TranslationOptions]:
    """Search; ``copies`` are the numbers of the source words as target words, should nothing translate them."""
    n = len(sentence)
    matches = find_matches(grammar, sentence, longest, 0)
    alone = untranslated_positions(sentence, matches)
    options = collect_options(grammar, model, matches, copies[alone], weights, True)
    phrases = _phrases(matches, alone, options, n, longest)
    coverages = _new_coverages(n, distortion)
    cubes = new_cubes(limit * longest * (distortion + 1) + 1)
    chart = new_chart((n + 1) * limit + 2, len(cubes.base), limit, model)
    first = np.zeros(n + 2, np.int64)  # coverage by the number of words covered
    first[1] = 1
    begin, end = 0, 1
    for covered in range(1, n + 1):
        count = 0
        for length in range(1, min(longest, covered) + 1):
            for old in range(first[covered - length], first[covered - length + 1]):
                if coverages.slice[old, 1] > 0:
                    count = _extend(coverages, old, length, phrases, options, distortion, weights, cubes, count)
        first[covered + 1] = coverages.used[0]
        begin, end = fill_cell(chart, model, options, cubes, count, limit, weights)
        _slices(chart, coverages, begin, end)
    finish(chart, model, options, cubes, np.array([begin, end]), limit, weights)
    return chart, options
