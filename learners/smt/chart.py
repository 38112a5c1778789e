"""The search that both decoders share: hypotheses in cells, filled by cube pruning (Chiang 2007).

A cube is a list of options and the hypotheses of up to two earlier cells. Its members are taken in the order of an
estimate, the sum of what each part promises by itself; a member becomes an edge when it is taken, with the language
model's word on where its parts meet. Members with the same words at their borders are one hypothesis from then on.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.features import FEATURE
from learners.smt.hashing import (
    HASH_SEED,
    Array,
    argsort_descending,
    claim_slot,
    copy_elements,
    hash_combine,
    inner,
    table_size,
)
from learners.smt.language_model import START, LanguageModel, advance, predict
from learners.smt.translation_options import NOTHING, TranslationOptions

CLOSED = -1  # the left border of a hypothesis that starts where the sentence starts
NO_TAIL = -1


class Nodes(NamedTuple):
    """Hypotheses."""

    left: Array  # [node, k]: the first words
    inner: Array  # [node, k]: log probability of each of them, given only those before it
    lefts: Array  # how many, or CLOSED
    right: Array  # [node, k]: the last words that matter, last first
    rights: Array  # how many
    score: Array  # of the best derivation
    group: Array  # hypotheses of different groups are never the same


class Edges(NamedTuple):
    head: Array
    tail: Array  # [edge, 2]
    option: Array
    fluency: Array  # log probability of the words, as far as known, without what the tails have already
    unknown: Array  # words that the language model does not know
    jump: Array  # source words jumped over


class Cubes(NamedTuple):
    """What a cell is filled from."""

    options: Array  # [cube, 2]: first and last + 1
    tails: Array  # [cube, 2, 2]: for each tail the first and last + 1 in ``order``, or NO_TAIL twice
    base: Array  # added to the estimate
    group: Array
    jump: Array


class Chart(NamedTuple):
    """Everything that a search has found."""

    nodes: Nodes
    edges: Edges
    order: Array  # nodes by cell, the best first
    used: Array  # nodes and edges so far
    heap: Array  # scratch: estimates
    member: Array  # scratch: [place in the heap, 4]: cube, option, first and second tail
    keys: Array  # scratch: table of hypotheses within a cell
    found: Array  # scratch: their numbers
    buffer: Array  # scratch: the last words of a new hypothesis, last first


@inner
def new_chart(size: int, cubes: int, limit: int, model: LanguageModel) -> Chart:
    """A chart for so many nodes and edges, and cells with so many cubes, with the start of the sentence in it."""
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
    slots = table_size(limit + 1)
    chart = Chart(
        nodes,
        edges,
        np.empty(size, np.int32),
        np.array([1, 1]),
        np.empty(cubes + 3 * limit + 3),
        np.empty((cubes + 3 * limit + 3, 4), np.int64),
        np.empty(slots, np.int64),
        np.empty(slots, np.int32),
        np.empty(width + 1, np.int32),
    )
    nodes.lefts[0], nodes.rights[0], nodes.right[0, 0] = CLOSED, 1, START
    nodes.score[0], nodes.group[0] = 0.0, 0
    edges.head[0], edges.tail[0, 0], edges.tail[0, 1], edges.option[0] = 0, NO_TAIL, NO_TAIL, NOTHING
    edges.fluency[0], edges.unknown[0], edges.jump[0] = 0.0, 0, 0
    chart.order[0] = 0
    return chart


@inner
def _note(nodes: Nodes, node: int, lefts: int, most: int, word: int, log_probability: float) -> int:
    """Remember a word at the left border of a new hypothesis, as long as words before it may matter."""
    if CLOSED < lefts < most:
        nodes.left[node, lefts] = word
        nodes.inner[node, lefts] = log_probability
        lefts += 1
    return lefts


@inner
def _append(
    chart: Chart, model: LanguageModel, tail: int, node: int, length: int, lefts: int
) -> tuple[float, int, int]:
    """Put a tail's words behind those of a new hypothesis; returns the change in fluency, and the new borders."""
    nodes, context = chart.nodes, chart.buffer
    gain = 0.0
    count = nodes.lefts[tail]
    for k in range(count):
        word, log_probability = nodes.left[tail, k], float(nodes.inner[tail, k])
        if length > k:  # words before the tail still matter
            log_probability, length = predict(model, context, length, word)
            advance(context, word, length)
            gain += log_probability - nodes.inner[tail, k]
        lefts = _note(nodes, node, lefts, model.order - 1, word, log_probability)
    if length <= max(count, 0) or count == model.order - 1:  # only the tail's own words matter now
        length = nodes.rights[tail]
        copy_elements(nodes.right[tail], context, length)
    return gain, length, CLOSED if count == CLOSED else lefts


@inner
def _compose(
    chart: Chart, model: LanguageModel, options: TranslationOptions, option: int, tails: tuple[int, int], node: int
) -> tuple[float, int]:
    """Write the borders of a new hypothesis; returns the fluency that is new, and the number of unknown words."""
    nodes, context = chart.nodes, chart.buffer
    fluency, unknown, length, lefts = 0.0, 0, 0, 0
    for k in range(options.start[option], options.start[option + 1]):
        symbol = options.symbols[k]
        if symbol < 0:
            gain, length, lefts = _append(chart, model, tails[-1 - symbol], node, length, lefts)
        else:
            gain, length = predict(model, context, length, symbol)
            advance(context, symbol, length)
            lefts = _note(nodes, node, lefts, model.order - 1, symbol, gain)
            unknown += symbol >= model.words
        fluency += gain
    nodes.lefts[node], nodes.rights[node] = lefts, length
    copy_elements(context, nodes.right[node], length)
    return fluency, unknown


@inner
def _key(nodes: Nodes, node: int) -> int:
    """The hash of all that the future of a hypothesis depends on."""
    key = hash_combine(hash_combine(hash_combine(HASH_SEED, nodes.group[node]), nodes.lefts[node]), nodes.rights[node])
    for k in range(nodes.lefts[node]):
        key = hash_combine(key, nodes.left[node, k])
    for k in range(nodes.rights[node]):
        key = hash_combine(key, nodes.right[node, k])
    return key


@inner
def _push(chart: Chart, size: int, estimate: float, member: tuple[int, int, int, int]) -> int:
    """Put a member of a cube into the heap."""
    heap, members = chart.heap, chart.member
    at = size
    while at > 0 and heap[(at - 1) // 2] < estimate:
        heap[at] = heap[(at - 1) // 2]
        copy_elements(members[(at - 1) // 2], members[at], 4)
        at = (at - 1) // 2
    heap[at] = estimate
    members[at, 0], members[at, 1], members[at, 2], members[at, 3] = member
    return size + 1


@inner
def _pop(chart: Chart, size: int) -> tuple[int, int, int, int]:
    """Take the best member out of the heap."""
    heap, members = chart.heap, chart.member
    cube, option, first, second = members[0, 0], members[0, 1], members[0, 2], members[0, 3]
    at, size = 0, size - 1
    last = heap[size]
    while True:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] > heap[below]:
            below += 1
        if below >= size or heap[below] <= last:
            break
        heap[at] = heap[below]
        copy_elements(members[below], members[at], 4)
        at = below
    heap[at] = last
    copy_elements(members[size], members[at], 4)
    return cube, option, first, second


@inner
def _offer(
    chart: Chart, options: TranslationOptions, cubes: Cubes, size: int, member: tuple[int, int, int, int]
) -> int:
    """Push a member if the cube has it."""
    cube, option, first, second = member
    estimate = cubes.base[cube]
    if cubes.options[cube, 0] + option >= cubes.options[cube, 1]:
        return size
    estimate += options.estimate[cubes.options[cube, 0] + option]
    for t in range(2):
        place_in_cell = second if t else first
        start, end = cubes.tails[cube, t, 0], cubes.tails[cube, t, 1]
        if start == NO_TAIL and place_in_cell == 0:
            continue
        if start + place_in_cell >= end:
            return size
        estimate += chart.nodes.score[chart.order[start + place_in_cell]]
    return _push(chart, size, estimate, member)


@inner
def _take(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    weights: Array,
    member: tuple[int, int, int, int],
) -> None:
    """Make an edge of a member, and a hypothesis if there is none like it in the cell."""
    nodes, edges = chart.nodes, chart.edges
    node, edge = chart.used[0], chart.used[1]
    cube, place_in_list, first, second = member
    option = cubes.options[cube, 0] + place_in_list
    tail0, tail1 = NO_TAIL, NO_TAIL
    score = options.score[option] - weights[FEATURE.Reordering] * cubes.jump[cube]
    if cubes.tails[cube, 0, 0] != NO_TAIL:
        tail0 = chart.order[cubes.tails[cube, 0, 0] + first]
        score += nodes.score[tail0]
    if cubes.tails[cube, 1, 0] != NO_TAIL:
        tail1 = chart.order[cubes.tails[cube, 1, 0] + second]
        score += nodes.score[tail1]
    nodes.group[node] = cubes.group[cube]
    fluency, unknown = _compose(chart, model, options, option, (tail0, tail1), node)
    score += weights[FEATURE.LanguageModel] * fluency + weights[FEATURE.LanguageModel_OOV] * unknown
    slot = claim_slot(chart.keys, _key(nodes, node))
    if chart.found[slot] < 0:
        chart.found[slot] = node
        nodes.score[node] = score
        chart.used[0] += 1
    head = chart.found[slot]
    nodes.score[head] = max(nodes.score[head], score)
    edges.head[edge], edges.option[edge] = head, option
    edges.tail[edge, 0], edges.tail[edge, 1] = tail0, tail1
    edges.fluency[edge], edges.unknown[edge], edges.jump[edge] = fluency, unknown, cubes.jump[cube]
    chart.used[1] += 1


@inner
def fill_cell(
    chart: Chart,
    model: LanguageModel,
    options: TranslationOptions,
    cubes: Cubes,
    count: int,
    limit: int,
    weights: Array,
) -> tuple[int, int]:
    """Take the most promising members of cubes; returns the first hypothesis and the last + 1."""
    begin = chart.used[0]
    chart.keys[:] = 0
    chart.found[:] = -1
    size = 0
    for cube in range(count):
        size = _offer(chart, options, cubes, size, (cube, 0, 0, 0))
    taken = 0
    while size > 0 and taken < limit:
        cube, option, first, second = _pop(chart, size)
        size -= 1
        _take(chart, model, options, cubes, weights, (cube, option, first, second))
        taken += 1
        # every member has one predecessor: the one with its last non-zero number less by one
        size = _offer(chart, options, cubes, size, (cube, option, first, second + 1))
        if second == 0:
            size = _offer(chart, options, cubes, size, (cube, option, first + 1, 0))
            if first == 0:
                size = _offer(chart, options, cubes, size, (cube, option + 1, 0, 0))
    end = chart.used[0]
    by_score = argsort_descending(chart.nodes.score[begin:end])
    groups = np.empty(end - begin)
    for k in range(end - begin):
        groups[k] = -chart.nodes.group[begin + by_score[k]]
    by_group = argsort_descending(groups)
    for k in range(end - begin):
        chart.order[begin + k] = begin + by_score[by_group[k]]
    return begin, end
