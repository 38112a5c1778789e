"""The inside score of one translation in a hypergraph: over all of its derivations, and no others.

A translation usually has many derivations, which divide its words into rules in different ways. The probability of
sampling the translation is the sum of theirs.
"""

import numpy as np

from learners.smt.hashing import Array, compiled, compiled_internal
from learners.smt.inference import HypergraphArrays
from learners.smt.language_model import END


@compiled_internal
def _add_score(table: Array, begin: int, end: int, score: float) -> None:
    """Add a derivation of the words from ``begin`` to ``end`` to the inside scores of a node."""
    highest, lowest = max(table[begin, end], score), min(table[begin, end], score)
    table[begin, end] = highest if lowest == -np.inf else highest + np.log1p(np.exp(lowest - highest))


@compiled_internal
def _match(words: Array, position: int, symbols: Array, start: int, stop: int) -> int:
    """Return the position after these symbols, all of them words, if the translation has them here; else -1."""
    for s in range(start, stop):
        if symbols[s] != END:  # which is not part of the text
            if position < 0 or position >= len(words) or words[position] != symbols[s]:
                return -1
            position += 1
    return position


@compiled_internal
def _nonterminals(symbols: Array, start: int, stop: int) -> tuple[int, int]:
    """Return the places of the first and the second nonterminal among these symbols; ``stop`` for none."""
    first = stop
    for s in range(start, stop):
        if symbols[s] < 0:
            if first < stop:
                return first, s
            first = s
    return first, stop


@compiled_internal
def _add_phrase(symbols: Array, start: int, stop: int, score: float, words: Array, table: Array) -> None:
    """Add the parts of the translation that are these symbols, all of them words."""
    for begin in range(len(words) + 1):
        end = _match(words, begin, symbols, start, stop)
        if end >= 0:
            _add_score(table, begin, end, score)


@compiled_internal
def _add_rule(
    tails: Array,
    symbols: Array,
    start: int,
    stop: int,
    score: float,
    words: Array,
    starts: Array,
    spans: Array,
    inside: Array,
    table: Array,
) -> None:
    """Add the parts of the translation that a rule with these tails and symbols can write."""
    one, two = _nonterminals(symbols, start, stop)
    if one == stop:
        _add_phrase(symbols, start, stop, score, words, table)
        return
    first = tails[-1 - symbols[one]]
    for p in range(starts[first], starts[first + 1]):
        begin = spans[p, 0] - (one - start)
        if _match(words, begin, symbols, start, one) != spans[p, 0]:
            continue
        middle = _match(words, spans[p, 1], symbols, one + 1, two)
        if middle < 0:
            continue
        if two == stop:
            _add_score(table, begin, middle, score + inside[p])
            continue
        second = tails[-1 - symbols[two]]
        for q in range(starts[second], starts[second + 1]):
            end = _match(words, spans[q, 1], symbols, two + 1, stop)
            if end >= 0 and spans[q, 0] == middle:
                _add_score(table, begin, end, score + inside[p] + inside[q])


@compiled_internal
def _has_parts(starts: Array, tail: int) -> bool:
    """Return whether a node can write any part of the translation, or is no node at all."""
    return tail < 0 or starts[tail] < starts[tail + 1]


@compiled
def translation_score(graph: HypergraphArrays, scores: Array, words: Array) -> float:
    """Return the log of the sum of exp(score) over the derivations of these words; -inf if there are none.

    Bottom-up, it finds the parts of the translation that each node can write. Most nodes can write none, so that this
    takes a fraction of the time of the search.
    """
    tails, symbols, symbol_start = graph.tails, graph.symbols, graph.symbol_start  # once: each access has a cost
    length, goal = len(words), len(graph.starts) - 2
    starts = np.zeros(goal + 2, np.int64)  # the first part of each node
    spans = np.empty((256, 2), np.int64)  # by part: its begin and end in the translation
    inside = np.empty(256)  # by part: its inside score
    table = np.full((length + 1, length + 1), -np.inf)  # inside scores of the current node, by begin and end
    found = 0
    for node in range(goal + 1):
        for edge in range(graph.starts[node], graph.starts[node + 1]):
            if _has_parts(starts, tails[edge, 0]) and _has_parts(starts, tails[edge, 1]):
                start, stop = symbol_start[graph.options[edge]], symbol_start[graph.options[edge] + 1]
                _add_rule(tails[edge], symbols, start, stop, scores[edge], words, starts, spans, inside, table)
        if node == goal:
            break
        for begin in range(length + 1):
            for end in range(begin, length + 1):
                if table[begin, end] > -np.inf:
                    if found == len(inside):
                        spans, inside = np.append(spans, spans, 0), np.append(inside, inside)
                    spans[found, 0], spans[found, 1], inside[found] = begin, end, table[begin, end]
                    table[begin, end] = -np.inf
                    found += 1
        starts[node + 1] = found
    return float(table[0, length])
