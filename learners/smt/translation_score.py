"""The inside score of one translation in a hypergraph: over all of its derivations, and no others.

A translation usually has many derivations, which divide its words into rules in different ways. The probability of
sampling the translation is the sum of theirs.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.hashing import Array, compiled, compiled_internal
from learners.smt.inference import HypergraphArrays
from learners.smt.language_model import END


class _Parts(NamedTuple):
    """The parts of a translation that derivations of the nodes so far can write."""

    starts: Array  # the first part of each node, and the number of parts
    spans: Array  # [part, 2]: begin and end in the translation
    scores: Array  # inside scores of the parts


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
def _add_rule(graph: HypergraphArrays, edge: int, score: float, words: Array, parts: _Parts, table: Array) -> None:
    """Add the parts of the translation that derivations with this edge on top can write."""
    symbols = graph.symbols
    start, stop = graph.symbol_start[graph.options[edge]], graph.symbol_start[graph.options[edge] + 1]
    one, two = _nonterminals(symbols, start, stop)
    if one == stop:
        _add_phrase(symbols, start, stop, score, words, table)
        return
    first = graph.tails[edge, -1 - symbols[one]]
    for p in range(parts.starts[first], parts.starts[first + 1]):
        begin = parts.spans[p, 0] - (one - start)
        if _match(words, begin, symbols, start, one) != parts.spans[p, 0]:
            continue
        middle = _match(words, parts.spans[p, 1], symbols, one + 1, two)
        if middle < 0:
            continue
        if two == stop:
            _add_score(table, begin, middle, score + parts.scores[p])
            continue
        second = graph.tails[edge, -1 - symbols[two]]
        for q in range(parts.starts[second], parts.starts[second + 1]):
            end = _match(words, parts.spans[q, 1], symbols, two + 1, stop)
            if end >= 0 and parts.spans[q, 0] == middle:
                _add_score(table, begin, end, score + parts.scores[p] + parts.scores[q])


@compiled_internal
def _add_phrase(symbols: Array, start: int, stop: int, score: float, words: Array, table: Array) -> None:
    """Add the parts of the translation that are these symbols, all of them words."""
    for begin in range(len(words) + 1):
        end = _match(words, begin, symbols, start, stop)
        if end >= 0:
            _add_score(table, begin, end, score)


@compiled
def translation_score(graph: HypergraphArrays, scores: Array, words: Array) -> float:
    """Return the log of the sum of exp(score) over the derivations of these words; -inf if there are none.

    Bottom-up, it finds the parts of the translation that each node can write. Most nodes can write none, so that this
    takes a fraction of the time of the search.
    """
    length = len(words)
    parts = _Parts(np.zeros(len(graph.starts), np.int64), np.empty((256, 2), np.int64), np.empty(256))
    table = np.full((length + 1, length + 1), -np.inf)  # inside scores of the current node, by begin and end
    found = 0
    for node in range(len(graph.starts) - 1):
        for edge in range(graph.starts[node], graph.starts[node + 1]):
            _add_rule(graph, edge, scores[edge], words, parts, table)
        if node == len(graph.starts) - 2:
            break
        for begin in range(length + 1):
            for end in range(begin, length + 1):
                if table[begin, end] > -np.inf:
                    if found == len(parts.scores):
                        parts = _Parts(
                            parts.starts,
                            np.append(parts.spans, parts.spans, 0),
                            np.append(parts.scores, parts.scores),
                        )
                    parts.spans[found, 0], parts.spans[found, 1] = begin, end
                    parts.scores[found] = table[begin, end]
                    table[begin, end] = -np.inf
                    found += 1
        parts.starts[node + 1] = found
    return float(table[0, length])
