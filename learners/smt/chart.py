"""The search that both decoders share: cells of hypotheses, filled by cube pruning (Chiang 2007).

A cube combines a list of translation options with the hypotheses of up to two earlier cells. Its items are popped in
the order of an estimate: the sum of the scores of the parts. A popped item becomes an edge, and only then the language
model scores the words where the parts meet. Items with the same language model state recombine into one hypothesis.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.features import FEATURE
from learners.smt.hashing import (
    HASH_SEED,
    Array,
    argsort_descending,
    claim_slot,
    compiled_internal,
    copy_elements,
    hash_combine,
    table_size,
)
from learners.smt.language_model import START, LanguageModel, advance, predict
from learners.smt.translation_options import EMPTY, GOAL, TranslationOptions

SENTENCE_START = -1  # the left length of a hypothesis that begins at the start of the sentence
NO_TAIL = -1


class Nodes(NamedTuple):
    """Hypotheses: language model state and score."""

    left: Array  # [node, k]: the first words
    left_score: Array  # [node, k]: log probability of each of them, given only the words before it in the hypothesis
    left_length: Array  # how many, or SENTENCE_START
    right: Array  # [node, k]: the last words that later words depend on, last first
    right_length: Array  # how many
    score: Array  # of the best derivation
    group: Array  # hypotheses of different groups never recombine


class Edges(NamedTuple):
    """Rule applications: how a hypothesis is made of others."""

    head: Array
    tail: Array  # [edge, 2]
    option: Array
    lm_score: Array  # log probability of the words as far as known, without what the tails have already
    unknown: Array  # words that the language model does not know
    distortion: Array  # source words jumped over


class Cubes(NamedTuple):
    """The cubes that a cell is filled from."""

    options: Array  # [cube, 2]: the first option, and the last + 1
    tails: Array  # [cube, 2, 2]: for each tail the first position in ``Chart.order`` and the last + 1, or NO_TAIL twice
    base: Array  # added to every estimate
    group: Array
    distortion: Array


class Chart(NamedTuple):
    """All nodes and edges that a search has found."""

    nodes: Nodes
    edges: Edges
    order: Array  # nodes by cell, the best first
    used: Array  # number of nodes, number of edges
    heap: Array  # scratch: estimates
    items: Array  # scratch: [position in the heap, 4]: cube, option, first and second tail
    keys: Array  # scratch: hash table of the hypotheses in a cell
    node_of_slot: Array  # scratch: their nodes
    context: Array  # scratch: the last words of a new hypothesis, last first


@compiled_internal
def new_chart(size: int, cubes: int, pop_limit: int, model: LanguageModel) -> Chart:
    """Return a chart that holds only the start of the sentence.

    It has space for ``size`` nodes and as many edges, and for cells with up to ``cubes`` cubes.
    """
    width = model.order
    nodes = Nodes(
        np.empty((size, width), np.int32),
        np.empty((size, width), np.float32),
        np.empty(size, np.int32),
        np.empty((size, width), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.int32),
    )
    edges = Edges(
        np.empty(size, np.int32),
        np.empty((size, 2), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    slots = table_size(pop_limit + 1)
    chart = Chart(
        nodes,
        edges,
        np.empty(size, np.int32),
        np.array([1, 1]),
        np.empty(cubes + 3 * pop_limit + 3),
        np.empty((cubes + 3 * pop_limit + 3, 4), np.int64),
        np.empty(slots, np.int64),
        np.empty(slots, np.int32),
        np.empty(width + 1, np.int32),
    )
    nodes.left_length[0], nodes.right_length[0], nodes.right[0, 0] = SENTENCE_START, 1, START
    nodes.score[0], nodes.group[0] = 0.0, 0
    edges.head[0], edges.tail[0, 0], edges.tail[0, 1], edges.option[0] = 0, NO_TAIL, NO_TAIL, EMPTY
    edges.lm_score[0], edges.unknown[0], edges.distortion[0] = 0.0, 0, 0
    chart.order[0] = 0
    return chart


@compiled_internal
def new_cubes(count: int) -> Cubes:
    return Cubes(
        np.empty((count, 2), np.int64),
        np.empty((count, 2, 2), np.int64),
        np.zeros(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )


@compiled_internal
def _add_left_word(
    nodes: Nodes, node: int, left_length: int, max_length: int, word: int, log_probability: float
) -> int:
    """Store a word in the left state of a new hypothesis while words before it may matter; return the new length."""
    if SENTENCE_START < left_length < max_length:
        nodes.left[node, left_length] = word
        nodes.left_score[node, left_length] = log_probability
        left_length += 1
    return left_length


@compiled_internal
def _append_tail(
    chart: Chart, model: LanguageModel, tail: int, node: int, length: int, left_length: int
) -> tuple[float, int, int]:
    """Append the words of a tail to a new hypothesis.

    Returns:
        The change of the language model score, the length of the right context, and the left length.
    """
    nodes, context = chart.nodes, chart.context
    gain = 0.0
    count = nodes.left_length[tail]
    for k in range(count):
        word, log_probability = nodes.left[tail, k], float(nodes.left_score[tail, k])
        if length > k:  # words before the tail still matter
            log_probability, length = predict(model, context, length, word)
            advance(context, word, length)
            gain += log_probability - nodes.left_score[tail, k]
        left_length = _add_left_word(nodes, node, left_length, model.order - 1, word, log_probability)
    if length <= max(count, 0) or count == model.order - 1:  # from here on only the tail's own words matter
        length = nodes.right_length[tail]
        copy_elements(nodes.right[tail], context, length)
    return gain, length, SENTENCE_START if count == SENTENCE_START else left_length


@compiled_internal
def _compose(
    chart: Chart, model: LanguageModel, options: TranslationOptions, option: int, tails: tuple[int, int], node: int
) -> tuple[float, int]:
    """Write the language model state of a new hypothesis.

    Returns:
        The language model score that the tails do not have already, and the number of unknown words.
    """
    nodes, context = chart.nodes, chart.context
    lm_score, unknown, length, left_length = 0.0, 0, 0, 0
    for k in range(options.start[option], options.start[option + 1]):
        symbol = options.symbols[k]
        if symbol < 0:
            gain, length, left_length = _append_tail(chart, model, tails[-1 - symbol], node, length, left_length)
        else:
            gain, length = predict(model, context, length, symbol)
            advance(context, symbol, length)
            left_length = _add_left_word(nodes, node, left_length, model.order - 1, symbol, gain)
            unknown += symbol >= model.vocabulary_size
        lm_score += gain
    nodes.left_length[node], nodes.right_length[node] = left_length, length
    copy_elements(context, nodes.right[node], length)
    return lm_score, unknown


@compiled_internal
def _state_key(nodes: Nodes, node: int) -> int:
    """Return the hash of everything that later scores of a hypothesis depend on."""
    key = hash_combine(hash_combine(HASH_SEED, nodes.group[node]), nodes.left_length[node])
    key = hash_combine(key, nodes.right_length[node])
    for k in range(nodes.left_length[node]):
        key = hash_combine(key, nodes.left[node, k])
    for k in range(nodes.right_length[node]):
        key = hash_combine(key, nodes.right[node, k])
    return key


@compiled_internal
def _push(chart: Chart, size: int, estimate: float, item: tuple[int, int, int, int]) -> int:
    """Push an item of a cube onto the heap; return the new size of the heap."""
    heap, items = chart.heap, chart.items
    at = size
    while at > 0 and heap[(at - 1) // 2] < estimate:
        heap[at] = heap[(at - 1) // 2]
        copy_elements(items[(at - 1) // 2], items[at], 4)
        at = (at - 1) // 2
    heap[at] = estimate
    items[at, 0], items[at, 1], items[at, 2], items[at, 3] = item
    return size + 1


@compiled_internal
def _pop(chart: Chart, size: int) -> tuple[int, int, int, int]:
    """Remove the best item from the heap and return it."""
    heap, items = chart.heap, chart.items
    cube, option, first, second = items[0, 0], items[0, 1], items[0, 2], items[0, 3]
    at, size = 0, size - 1
    last = heap[size]
    while True:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] > heap[below]:
            below += 1
        if below >= size or heap[below] <= last:
            break
        heap[at] = heap[below]
        copy_elements(items[below], items[at], 4)
        at = below
    heap[at] = last
    copy_elements(items[size], items[at], 4)
    return cube, option, first, second


@compiled_internal
def _push_if_present(
    chart: Chart, options: TranslationOptions, cubes: Cubes, size: int, item: tuple[int, int, int, int]
) -> int:
    """Push an item if its cube is large enough to hold it; return the size of the heap."""
    cube, option, first, second = item
    estimate = cubes.base[cube]
    if cubes.options[cube, 0] + option >= cubes.options[cube, 1]:
        return size
    estimate += options.estimate[cubes.options[cube, 0] + option]
    for t in range(2):
        rank = second if t else first
        start, end = cubes.tails[cube, t, 0], cubes.tails[cube, t, 1]
        if start == NO_TAIL and rank == 0:
            continue
        if start + rank >= end:
            return size
        estimate += chart.nodes.score[chart.order[start + rank]]
    return _push(chart, size, estimate, item)


@compiled_internal
def _add_edge(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    weights: Array,
    item: tuple[int, int, int, int],
) -> None:
    """Turn an item into an edge, and add a node unless the cell has one with the same state."""
    nodes, edges = chart.nodes, chart.edges
    node, edge = chart.used[0], chart.used[1]
    cube, rank, first, second = item
    option = cubes.options[cube, 0] + rank
    tail0, tail1 = NO_TAIL, NO_TAIL
    score = options.score[option] - weights[FEATURE.Reordering] * cubes.distortion[cube]
    if cubes.tails[cube, 0, 0] != NO_TAIL:
        tail0 = chart.order[cubes.tails[cube, 0, 0] + first]
        score += nodes.score[tail0]
    if cubes.tails[cube, 1, 0] != NO_TAIL:
        tail1 = chart.order[cubes.tails[cube, 1, 0] + second]
        score += nodes.score[tail1]
    nodes.group[node] = cubes.group[cube]
    lm_score, unknown = _compose(chart, model, options, option, (tail0, tail1), node)
    score += weights[FEATURE.LanguageModel] * lm_score + weights[FEATURE.LanguageModel_OOV] * unknown
    slot = claim_slot(chart.keys, _state_key(nodes, node))
    if chart.node_of_slot[slot] < 0:
        chart.node_of_slot[slot] = node
        nodes.score[node] = score
        chart.used[0] += 1
    head = chart.node_of_slot[slot]
    nodes.score[head] = max(nodes.score[head], score)
    edges.head[edge], edges.option[edge] = head, option
    edges.tail[edge, 0], edges.tail[edge, 1] = tail0, tail1
    edges.lm_score[edge], edges.unknown[edge], edges.distortion[edge] = lm_score, unknown, cubes.distortion[cube]
    chart.used[1] += 1


@compiled_internal
def fill_cell(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    count: int,
    pop_limit: int,
    weights: Array,
) -> tuple[int, int]:
    """Fill a cell with the most promising items of its cubes; return its first node and its last + 1."""
    begin = chart.used[0]
    chart.keys[:] = 0
    chart.node_of_slot[:] = -1
    size = 0
    for cube in range(count):
        size = _push_if_present(chart, options, cubes, size, (cube, 0, 0, 0))
    popped = 0
    while size > 0 and popped < pop_limit:
        cube, option, first, second = _pop(chart, size)
        size -= 1
        _add_edge(chart, model, options, cubes, weights, (cube, option, first, second))
        popped += 1
        # Every item has one predecessor, whose last non-zero number is smaller by one: no item is pushed twice.
        size = _push_if_present(chart, options, cubes, size, (cube, option, first, second + 1))
        if second == 0:
            size = _push_if_present(chart, options, cubes, size, (cube, option, first + 1, 0))
            if first == 0:
                size = _push_if_present(chart, options, cubes, size, (cube, option + 1, 0, 0))
    end = chart.used[0]
    by_score = argsort_descending(chart.nodes.score[begin:end])
    groups = np.empty(end - begin)
    for k in range(end - begin):
        groups[k] = -chart.nodes.group[begin + by_score[k]]
    by_group = argsort_descending(groups)
    for k in range(end - begin):
        chart.order[begin + k] = begin + by_score[by_group[k]]
    return begin, end


@compiled_internal
def add_goal(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    last: Array,
    pop_limit: int,
    weights: Array,
) -> None:
    """Add the goal node, into which all translations of the whole sentence lead; ``last`` is the cell of those."""
    cubes.options[0, 0], cubes.options[0, 1] = GOAL, GOAL + 1
    cubes.tails[0] = NO_TAIL
    copy_elements(last, cubes.tails[0, 0], 2)
    cubes.base[0], cubes.distortion[0], cubes.group[0] = 0.0, 0, 0
    fill_cell(chart, model, options, cubes, 1, pop_limit, weights)
