"""Inside-outside, Viterbi and sampling over a hypergraph, compiled.

Edges are sorted by head, and the tails of an edge come before its head.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.hashing import Array, compiled, compiled_internal


class HypergraphArrays(NamedTuple):
    """A hypergraph as arrays: nodes in bottom-up order, the goal last; edges sorted by head."""

    starts: Array  # the first edge of each node, and the number of edges
    tails: Array  # [edge, 2], -1 for no tail
    features: Array  # [edge, feature]
    options: Array  # by edge: the translation option whose symbols it writes
    symbol_start: Array
    symbols: Array  # words, or -1 and -2 for the words of the first and the second tail


@compiled_internal
def _edge_score(tails: Array, scores: Array, edge: int, inside: Array) -> float:
    """Return the score of an edge plus the inside scores of its tails."""
    total = scores[edge]
    for t in range(2):
        if tails[edge, t] >= 0:
            total += inside[tails[edge, t]]
    return total


@compiled
def inside_scores(starts: Array, tails: Array, scores: Array) -> Array:
    """Return the inside score of every node: the log of the sum of exp(score) over its derivations."""
    inside = np.empty(len(starts) - 1)
    for node in range(len(inside)):
        highest = -np.inf
        for edge in range(starts[node], starts[node + 1]):
            highest = max(highest, _edge_score(tails, scores, edge, inside))
        total = 0.0
        for edge in range(starts[node], starts[node + 1]):
            total += np.exp(_edge_score(tails, scores, edge, inside) - highest)
        inside[node] = highest + np.log(total)
    return inside


@compiled
def posteriors(starts: Array, tails: Array, scores: Array, inside: Array) -> Array:
    """Return the posterior of every edge: the probability that a derivation contains it."""
    node_probability = np.zeros(len(inside))
    node_probability[-1] = 1.0
    edge_probability = np.zeros(len(scores))
    for node in range(len(inside) - 1, -1, -1):
        if node_probability[node] == 0.0:
            continue
        for edge in range(starts[node], starts[node + 1]):
            probability = node_probability[node] * np.exp(_edge_score(tails, scores, edge, inside) - inside[node])
            edge_probability[edge] = probability
            for t in range(2):
                if tails[edge, t] >= 0:
                    node_probability[tails[edge, t]] += probability
    return edge_probability


@compiled
def viterbi_edges(starts: Array, tails: Array, scores: Array) -> tuple[Array, Array]:
    """Return the Viterbi edge of every node, the first one on ties, and the Viterbi scores."""
    best = np.empty(len(starts) - 1)
    chosen = np.empty(len(best), np.int64)
    for node in range(len(best)):
        best[node] = -np.inf
        chosen[node] = starts[node]
        for edge in range(starts[node], starts[node + 1]):
            score = _edge_score(tails, scores, edge, best)
            if score > best[node]:
                best[node], chosen[node] = score, edge
    return chosen, best


@compiled
def sample_edges(starts: Array, tails: Array, scores: Array, inside: Array, uniforms: Array) -> Array:
    """Return an edge for every node of one sampled derivation, and -1 for all other nodes.

    An edge is drawn with its probability given its head; ``uniforms`` has a random number for each node.
    """
    chosen = np.full(len(inside), -1)
    in_derivation = np.zeros(len(inside), np.bool_)
    in_derivation[-1] = True
    for node in range(len(inside) - 1, -1, -1):
        if not in_derivation[node]:
            continue
        remainder = uniforms[node]
        chosen[node] = starts[node + 1] - 1  # if rounding leaves a remainder
        for edge in range(starts[node], starts[node + 1]):
            remainder -= np.exp(_edge_score(tails, scores, edge, inside) - inside[node])
            if remainder < 0:
                chosen[node] = edge
                break
        for t in range(2):
            if tails[chosen[node], t] >= 0:
                in_derivation[tails[chosen[node], t]] = True
    return chosen


@compiled
def derivation_words(
    chosen: Array, tails: Array, options: Array, symbol_start: Array, symbols: Array, features: Array, total: Array
) -> Array:
    """Return the words of the derivation with the chosen edges, and add its features to ``total``."""
    words = np.empty(64, np.int32)
    count = 0
    edges = np.empty(len(chosen) + 1, np.int64)
    positions = np.empty(len(chosen) + 1, np.int64)
    edges[0], positions[0], height = chosen[-1], 0, 1
    while height:
        edge, position = edges[height - 1], positions[height - 1]
        if position == 0:
            total += features[edge]
        if symbol_start[options[edge]] + position == symbol_start[options[edge] + 1]:
            height -= 1
            continue
        positions[height - 1] += 1
        symbol = symbols[symbol_start[options[edge]] + position]
        if symbol < 0:
            edges[height], positions[height] = chosen[tails[edge, -1 - symbol]], 0
            height += 1
        else:
            if count == len(words):
                words = np.append(words, np.empty_like(words))
            words[count] = symbol
            count += 1
    return words[:count]
