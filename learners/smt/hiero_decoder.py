"""The hierarchical decoder (Chiang 2007): spans from short to long, then glued together from left to right."""

import numpy as np

from learners.smt.chart import NO_TAIL, Chart, Cubes, add_goal, fill_cell, new_chart, new_cubes
from learners.smt.extraction import END1, END2, FROM, GAP1, GAP2, TO
from learners.smt.grammar import Grammar
from learners.smt.hashing import Array, compiled, compiled_internal, copy_elements
from learners.smt.language_model import LanguageModel
from learners.smt.translation_options import (
    BEGIN,
    GLUE,
    TranslationOptions,
    collect_options,
    find_matches,
    untranslated_positions,
)


@compiled_internal
def _sort_by_cell(matches: Array, max_span: int, n: int) -> tuple[Array, Array]:
    """Return where the matches of each cell start, and the matches in the order of their cells."""
    starts = np.zeros(n * max_span + 1, np.int64)
    for m in range(len(matches)):
        starts[matches[m, FROM] * max_span + matches[m, TO] - matches[m, FROM]] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    order = np.empty(len(matches), np.int64)
    for m in range(len(matches)):
        cell = matches[m, FROM] * max_span + matches[m, TO] - matches[m, FROM] - 1
        order[at[cell]] = m
        at[cell] += 1
    return starts, order


@compiled
def decode_hiero(
    grammar: Grammar,
    model: LanguageModel,
    sentence: Array,
    copies: Array,
    weights: Array,
    max_span: int,
    pop_limit: int,
) -> tuple[Chart, TranslationOptions]:
    """Return the chart of a sentence; ``copies`` are the target ids of its words, for those that no rule translates."""
    n = len(sentence)
    max_span = max(1, min(max_span, n))
    matches = find_matches(grammar, sentence, max_span, 2)
    untranslated = untranslated_positions(sentence, matches)
    options = collect_options(grammar, model, matches, copies[untranslated], weights, False)
    starts, order = _sort_by_cell(matches, max_span, n)
    most_matches = int(np.max(starts[1:] - starts[:-1])) if n else 0
    cubes = new_cubes(most_matches + max_span + 2)
    chart = new_chart((n * max_span + n + 1) * pop_limit + 2, len(cubes.base), pop_limit, model)
    cells = np.zeros((n, max_span, 2), np.int64)
    copy_list = np.full(n, -1)
    copy_list[untranslated] = len(options.list_start) - 1 - len(untranslated) + np.arange(len(untranslated))
    for length in range(1, max_span + 1):
        for i in range(n - length + 1):
            cell = i * max_span + length - 1
            count = 0
            for k in range(starts[cell], starts[cell + 1]):
                _set_cube(cubes, count, matches[order[k]], options, options.list_of[order[k]], cells)
                count += 1
            if length == 1 and copy_list[i] >= 0:
                copy_elements(options.list_start[copy_list[i] :], cubes.options[count], 2)
                cubes.tails[count] = NO_TAIL
                count += 1
            begin, end = fill_cell(chart, model, options, cubes, count, pop_limit, weights)
            cells[i, length - 1, 0], cells[i, length - 1, 1] = begin, end
    _glue(chart, model, options, cubes, cells, pop_limit, weights)
    return chart, options


@compiled_internal
def _set_cube(
    cubes: Cubes, cube: int, match: Array, options: TranslationOptions, list_number: int, cells: Array
) -> None:
    """Write the cube of a match: its translation options, and the cells that fill its gaps."""
    copy_elements(options.list_start[list_number:], cubes.options[cube], 2)
    cubes.tails[cube] = NO_TAIL
    if match[GAP1] >= 0:
        copy_elements(cells[match[GAP1], match[END1] - match[GAP1] - 1], cubes.tails[cube, 0], 2)
    if match[GAP2] >= 0:
        copy_elements(cells[match[GAP2], match[END2] - match[GAP2] - 1], cubes.tails[cube, 1], 2)


@compiled_internal
def _glue(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    cells: Array,
    pop_limit: int,
    weights: Array,
) -> None:
    """Concatenate translated spans by the glue rule, then end the sentence."""
    n, max_span = cells.shape[:2]
    prefixes = np.zeros((n + 1, 2), np.int64)
    prefixes[0, 1] = 1  # the start of the sentence
    for end in range(1, n + 1):
        count = 0
        for start in range(max(0, end - max_span), end):
            option = GLUE if start else BEGIN
            cubes.options[count, 0], cubes.options[count, 1] = option, option + 1
            copy_elements(prefixes[start], cubes.tails[count, 0], 2)
            copy_elements(cells[start, end - start - 1], cubes.tails[count, 1], 2)
            count += 1
        prefixes[end, 0], prefixes[end, 1] = fill_cell(chart, model, options, cubes, count, pop_limit, weights)
    add_goal(chart, model, options, cubes, prefixes[n], pop_limit, weights)
