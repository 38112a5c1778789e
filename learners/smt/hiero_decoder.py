"""The hierarchical decoder: spans from the shortest to the longest, then glued together from left to right."""

import numpy as np

from learners.smt.chart import NO_TAIL, Chart, Cubes, fill_cell, new_chart
from learners.smt.extraction import END1, END2, FROM, GAP1, GAP2, TO
from learners.smt.grammar import Grammar
from learners.smt.hashing import Array, compiled, copy_elements, inner
from learners.smt.language_model import LanguageModel
from learners.smt.translation_options import (
    BEGIN,
    GLUE,
    GOAL,
    TranslationOptions,
    collect_options,
    find_matches,
    untranslated_positions,
)


@inner
def new_cubes(count: int) -> Cubes:
    return Cubes(
        np.empty((count, 2), np.int64),
        np.empty((count, 2, 2), np.int64),
        np.zeros(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )


@inner
def _by_cell(matches: Array, longest: int, n: int) -> tuple[Array, Array]:
    """Matches in the order of their cells, and where each cell's start."""
    starts = np.zeros(n * longest + 1, np.int64)
    for m in range(len(matches)):
        starts[matches[m, FROM] * longest + matches[m, TO] - matches[m, FROM]] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    order = np.empty(len(matches), np.int64)
    for m in range(len(matches)):
        cell = matches[m, FROM] * longest + matches[m, TO] - matches[m, FROM] - 1
        order[at[cell]] = m
        at[cell] += 1
    return starts, order


@compiled
def decode_hiero(
    grammar: Grammar, model: LanguageModel, sentence: Array, copies: Array, weights: Array, longest: int, limit: int
) -> tuple[Chart, TranslationOptions]:
    """Search; ``copies`` are the numbers of the source words as target words, should nothing translate them."""
    n = len(sentence)
    longest = max(1, min(longest, n))
    matches = find_matches(grammar, sentence, longest, 2)
    alone = untranslated_positions(sentence, matches)
    options = collect_options(grammar, model, matches, copies[alone], weights, False)
    starts, order = _by_cell(matches, longest, n)
    widest = int(np.max(starts[1:] - starts[:-1])) if n else 0
    cubes = new_cubes(widest + longest + 2)
    chart = new_chart((n * longest + n + 1) * limit + 2, len(cubes.base), limit, model)
    cells = np.zeros((n, longest, 2), np.int64)
    copied = np.full(n, -1)
    copied[alone] = len(options.list_start) - 1 - len(alone) + np.arange(len(alone))
    for length in range(1, longest + 1):
        for i in range(n - length + 1):
            cell = i * longest + length - 1
            count = 0
            for k in range(starts[cell], starts[cell + 1]):
                _add_match(cubes, count, matches[order[k]], options, options.list_of[order[k]], cells)
                count += 1
            if length == 1 and copied[i] >= 0:
                copy_elements(options.list_start[copied[i] :], cubes.options[count], 2)
                cubes.tails[count] = NO_TAIL
                count += 1
            begin, end = fill_cell(chart, model, options, cubes, count, limit, weights)
            cells[i, length - 1, 0], cells[i, length - 1, 1] = begin, end
    _glue(chart, model, options, cubes, cells, limit, weights)
    return chart, options


@inner
def _add_match(
    cubes: Cubes, cube: int, match: Array, options: TranslationOptions, list_number: int, cells: Array
) -> None:
    copy_elements(options.list_start[list_number:], cubes.options[cube], 2)
    cubes.tails[cube] = NO_TAIL
    if match[GAP1] >= 0:
        copy_elements(cells[match[GAP1], match[END1] - match[GAP1] - 1], cubes.tails[cube, 0], 2)
    if match[GAP2] >= 0:
        copy_elements(cells[match[GAP2], match[END2] - match[GAP2] - 1], cubes.tails[cube, 1], 2)


@inner
def _glue(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    cells: Array,
    limit: int,
    weights: Array,
) -> None:
    """Put translated spans side by side, then end the sentence."""
    n, longest = cells.shape[:2]
    prefixes = np.zeros((n + 1, 2), np.int64)
    prefixes[0, 1] = 1  # the start of the sentence
    for end in range(1, n + 1):
        count = 0
        for start in range(max(0, end - longest), end):
            option = GLUE if start else BEGIN
            cubes.options[count, 0], cubes.options[count, 1] = option, option + 1
            copy_elements(prefixes[start], cubes.tails[count, 0], 2)
            copy_elements(cells[start, end - start - 1], cubes.tails[count, 1], 2)
            count += 1
        prefixes[end, 0], prefixes[end, 1] = fill_cell(chart, model, options, cubes, count, limit, weights)
    finish(chart, model, options, cubes, prefixes[n], limit, weights)


@inner
def finish(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    last: Array,
    limit: int,
    weights: Array,
) -> None:
    """One node for everything that translates the whole sentence."""
    cubes.options[0, 0], cubes.options[0, 1] = GOAL, GOAL + 1
    cubes.tails[0] = NO_TAIL
    copy_elements(last, cubes.tails[0, 0], 2)
    cubes.base[0], cubes.jump[0], cubes.group[0] = 0.0, 0, 0
    fill_cell(chart, model, options, cubes, 1, limit, weights)
