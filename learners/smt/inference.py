"""Sums, maxima and draws over a hypergraph, compiled. Edges are sorted by head, tails come before heads."""

from typing import NamedTuple

import numpy as np

from learners.smt.hashing import Array, compiled, inner


class HypergraphArrays(NamedTuple):
    """Nodes from the bottom to the goal, which is the last; edges by head."""

    starts: Array  # of a node's edges, and one more
    tails: Array  # [edge, 2], -1 for none
    features: Array  # [edge, feature]
    options: Array  # by edge: whose symbols it writes
    symbol_start: Array
    symbols: Array  # words, or -1 and -2 for what the first and the second tail write


@inner
def _term(tails: Array, scores: Array, edge: int, inside: Array) -> float:
    total = scores[edge]
    for t in range(2):
        if tails[edge, t] >= 0:
            total += inside[tails[edge, t]]
    return total


@compiled
def inside_sums(starts: Array, tails: Array, scores: Array) -> Array:
    """For every node the log of the sum of exp(score) over its derivations."""
    inside = np.empty(len(starts) - 1)
    for node in range(len(inside)):
        highest = -np.inf
        for edge in range(starts[node], starts[node + 1]):
            highest = max(highest, _term(tails, scores, edge, inside))
        total = 0.0
        for edge in range(starts[node], starts[node + 1]):
            total += np.exp(_term(tails, scores, edge, inside) - highest)
        inside[node] = highest + np.log(total)
    return inside


@compiled
def posteriors(starts: Array, tails: Array, scores: Array, inside: Array) -> Array:
    """For every edge the probability that a derivation has it."""
    reached = np.zeros(len(inside))
    reached[-1] = 1.0
    shares = np.zeros(len(scores))
    for node in range(len(inside) - 1, -1, -1):
        if reached[node] == 0.0:
            continue
        for edge in range(starts[node], starts[node + 1]):
            share = reached[node] * np.exp(_term(tails, scores, edge, inside) - inside[node])
            shares[edge] = share
            for t in range(2):
                if tails[edge, t] >= 0:
                    reached[tails[edge, t]] += share
    return shares


@compiled
def best_edges(starts: Array, tails: Array, scores: Array) -> tuple[Array, Array]:
    """For every node the edge of its best derivation, the first of equals, and that derivation's score."""
    best = np.empty(len(starts) - 1)
    chosen = np.empty(len(best), np.int64)
    for node in range(len(best)):
        best[node] = -np.inf
        chosen[node] = starts[node]
        for edge in range(starts[node], starts[node + 1]):
            score = _term(tails, scores, edge, best)
            if score > best[node]:
                best[node], chosen[node] = score, edge
    return chosen, best


@compiled
def draw_edges(starts: Array, tails: Array, scores: Array, inside: Array, uniforms: Array) -> Array:
    """For every node of one derivation an edge, drawn by its share in the node's sum; -1 for other nodes."""
    chosen = np.full(len(inside), -1)
    wanted = np.zeros(len(inside), np.bool_)
    wanted[-1] = True
    for node in range(len(inside) - 1, -1, -1):
        if not wanted[node]:
            continue
        left = uniforms[node]
        chosen[node] = starts[node + 1] - 1  # should rounding leave something over
        for edge in range(starts[node], starts[node + 1]):
            left -= np.exp(_term(tails, scores, edge, inside) - inside[node])
            if left < 0:
                chosen[node] = edge
                break
        for t in range(2):
            if tails[chosen[node], t] >= 0:
                wanted[tails[chosen[node], t]] = True
    return chosen


@compiled
def spell_out(
    chosen: Array, tails: Array, options: Array, symbol_start: Array, symbols: Array, features: Array, total: Array
) -> Array:
    """The words of the derivation with the chosen edges; adds its features to a total."""
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
