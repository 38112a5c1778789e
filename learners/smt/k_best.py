"""Lazy extraction of the k best distinct translations from a hypergraph (Huang and Chiang 2005, algorithm 3), compiled.

The rest of a derivation cannot distinguish two derivations of a node that have the same words. So every node keeps only
the better one. The result is the same as from sorting all derivations, but only a few of them are looked at.

Words are compared by their hashes. The hash of a sequence is a polynomial, so that of a concatenation follows from
those of its parts.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.forest import Vector
from learners.smt.hashing import HASH_SEED, Array, compiled, compiled_internal, hash_combine
from learners.smt.inference import HypergraphArrays, derivation_words, viterbi_edges

HASH_BASE = np.uint64(0x9E3779B97F4A7C15)
CANDIDATES_PER_EDGE = 4  # room for candidates at first
EMPTY, UNSEEN = -1, -2  # heaps without candidates, and those whose node was not looked at yet


class Candidates(NamedTuple):
    """Candidates for the next best derivations, in one pairing heap for each node."""

    score: Array
    edge: Array
    ranks: Array  # [candidate, 2]: which derivation of each tail
    child: Array  # the links of the heaps
    sibling: Array
    root: Array  # by node
    last: Array  # by node: the candidate that was taken last, whose successors are not candidates yet
    used: Array  # the number of candidates, as an array of one element


class Found(NamedTuple):
    """The derivations that were found, by node and rank."""

    number: Array  # by node
    complete: Array  # by node: whether there are no more, or none that are needed
    score: Array
    edge: Array
    ranks: Array  # [node, rank, 2]
    words: Array  # hashes of the words
    power: Array  # of the base of the hash, to the number of words


@compiled_internal
def _is_better(candidates: Candidates, a: int, b: int) -> bool:
    """Return whether a candidate comes before another; edges and ranks decide ties."""
    if candidates.score[a] != candidates.score[b]:
        return candidates.score[a] > candidates.score[b]
    if candidates.edge[a] != candidates.edge[b]:
        return candidates.edge[a] < candidates.edge[b]
    if candidates.ranks[a, 0] != candidates.ranks[b, 0]:
        return candidates.ranks[a, 0] < candidates.ranks[b, 0]
    return candidates.ranks[a, 1] < candidates.ranks[b, 1]


@compiled_internal
def _meld(candidates: Candidates, a: int, b: int) -> int:
    """Return the root of two heaps that become one."""
    if a < 0 or b < 0:
        return max(a, b)
    if _is_better(candidates, b, a):
        a, b = b, a
    candidates.sibling[b] = candidates.child[a]
    candidates.child[a] = b
    return a


@compiled_internal
def _push(candidates: Candidates, node: int, score: float, edge: int, first: int, second: int) -> None:
    """Add a candidate; if there is no room for it, it is only counted."""
    new = candidates.used[0]
    candidates.used[0] += 1
    if new >= len(candidates.score):
        return
    candidates.score[new], candidates.edge[new] = score, edge
    candidates.ranks[new, 0], candidates.ranks[new, 1] = first, second
    candidates.child[new] = candidates.sibling[new] = EMPTY
    candidates.root[node] = _meld(candidates, candidates.root[node], new)


@compiled_internal
def _pop(candidates: Candidates, node: int) -> int:
    """Remove the best candidate of a node, which has one, and return it."""
    best = candidates.root[node]
    paired, rest = EMPTY, candidates.child[best]
    while rest >= 0:  # meld neighbours in pairs, then all pairs: this is what keeps the heap shallow
        first = rest
        second = candidates.sibling[first]
        rest = candidates.sibling[second] if second >= 0 else EMPTY
        candidates.sibling[first] = EMPTY
        if second >= 0:
            candidates.sibling[second] = EMPTY
        melded = _meld(candidates, first, second)
        candidates.sibling[melded] = paired
        paired = melded
    root = EMPTY
    while paired >= 0:
        following = candidates.sibling[paired]
        candidates.sibling[paired] = EMPTY
        root = _meld(candidates, root, paired)
        paired = following
    candidates.root[node] = root
    return best


@compiled_internal
def _push_all_edges(graph: HypergraphArrays, scores: Array, best: Array, candidates: Candidates, node: int) -> None:
    """Make the best derivation of each edge a candidate of its node."""
    candidates.root[node] = EMPTY
    for edge in range(graph.starts[node], graph.starts[node + 1]):
        score = scores[edge]
        for t in range(2):
            if graph.tails[edge, t] >= 0:
                score += best[graph.tails[edge, t]]
        _push(candidates, node, score, edge, 0, 0)


@compiled_internal
def _hash_words(
    graph: HypergraphArrays, found: Found, edge: int, first: int, second: int
) -> tuple[np.uint64, np.uint64]:
    """Return the hash of the words of a derivation, and the power of the base that belongs to their number."""
    words, power = np.uint64(0), np.uint64(1)
    option = graph.options[edge]
    for at in range(graph.symbol_start[option], graph.symbol_start[option + 1]):
        symbol = graph.symbols[at]
        if symbol >= 0:
            words = words * HASH_BASE + np.uint64(hash_combine(HASH_SEED, symbol))
            power *= HASH_BASE
        else:
            tail, rank = graph.tails[edge, -1 - symbol], first if symbol == -1 else second
            words = words * found.power[tail, rank] + found.words[tail, rank]
            power *= found.power[tail, rank]
    return words, power


@compiled_internal
def _is_new(found: Found, node: int, words: np.uint64) -> bool:
    for rank in range(found.number[node]):  # noqa: SIM110 (compiled code has no generators)
        if found.words[node, rank] == words:
            return False
    return True


@compiled_internal
def _push_successor(
    graph: HypergraphArrays, scores: Array, candidates: Candidates, found: Found, node: int, last: int, grown: int
) -> None:
    """Add the candidate after the last one, with the next derivation of one of its tails, if there is one."""
    edge = candidates.edge[last]
    score = scores[edge]
    for t in range(2):
        tail, rank = graph.tails[edge, t], candidates.ranks[last, t] + (t == grown)
        if tail >= 0 and found.number[tail] > rank:
            score += found.score[tail, rank]
        elif tail >= 0 or rank > 0:
            return
    first, second = candidates.ranks[last, 0], candidates.ranks[last, 1]
    _push(candidates, node, score, edge, first + (grown == 0), second + (grown == 1))


@compiled_internal
def _push_successors(graph: HypergraphArrays, scores: Array, candidates: Candidates, found: Found, node: int) -> int:
    """Add the successors of the candidate that was taken last.

    Return a tail whose next derivation must be found first, or ``EMPTY`` if they were added.
    """
    last = candidates.last[node]
    if last < 0:
        return EMPTY
    first = 0 if candidates.ranks[last, 1] == 0 else 1  # so every pair of ranks has one predecessor
    for t in range(first, 2):
        tail = graph.tails[candidates.edge[last], t]
        if tail >= 0 and found.number[tail] == candidates.ranks[last, t] + 1 and not found.complete[tail]:
            return tail
    for t in range(first, 2):
        _push_successor(graph, scores, candidates, found, node, last, t)
    candidates.last[node] = EMPTY
    return EMPTY


@compiled_internal
def _take_best(graph: HypergraphArrays, candidates: Candidates, found: Found, node: int) -> int:
    """Take the best candidate of a node, and keep its derivation if its words are new.

    Return a tail whose best derivation must be found first, or ``EMPTY`` if the candidate was taken.
    """
    edge = candidates.edge[candidates.root[node]]
    for t in range(2):
        tail = graph.tails[edge, t]
        if tail >= 0 and found.number[tail] == 0 and not found.complete[tail]:
            return tail
    chosen = _pop(candidates, node)
    candidates.last[node] = chosen
    first, second, rank = candidates.ranks[chosen, 0], candidates.ranks[chosen, 1], found.number[node]
    words, power = _hash_words(graph, found, edge, first, second)
    if _is_new(found, node, words):
        found.score[node, rank], found.edge[node, rank] = candidates.score[chosen], edge
        found.ranks[node, rank, 0], found.ranks[node, rank, 1] = first, second
        found.words[node, rank], found.power[node, rank] = words, power
        found.number[node] += 1
        found.complete[node] = found.number[node] == found.score.shape[1]  # the goal never needs more of any node
    return EMPTY


@compiled_internal
def _find_next(
    graph: HypergraphArrays, scores: Array, best: Array, candidates: Candidates, found: Found, stack: Array
) -> None:
    """Find the next best derivation of the goal with new words, or mark the goal as complete.

    The stack has the nodes that are waiting for the next derivation of the node above them. (Functions that call
    themselves cannot be loaded from numba's cache.)
    """
    stack[0], height = len(found.number) - 1, 1
    while height:
        node = stack[height - 1]
        known = found.number[node]
        if candidates.root[node] == UNSEEN:
            _push_all_edges(graph, scores, best, candidates, node)
        awaited = _push_successors(graph, scores, candidates, found, node)
        if awaited == EMPTY and candidates.root[node] == EMPTY:
            found.complete[node] = True
        elif awaited == EMPTY:
            awaited = _take_best(graph, candidates, found, node)
        if awaited != EMPTY:
            stack[height] = awaited
            height += 1
        elif found.complete[node] or found.number[node] > known:
            height -= 1


@compiled
def find_k_best(graph: HypergraphArrays, scores: Array, best: Array, k: int, room: int) -> tuple[Found, int]:
    """Find the k best derivations of the goal; return all that were found, and how much room the candidates need."""
    nodes = len(graph.starts) - 1
    candidates = Candidates(
        np.empty(room),
        np.empty(room, np.int32),
        np.empty((room, 2), np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.full(nodes, UNSEEN),
        np.full(nodes, EMPTY),
        np.zeros(1, np.int64),
    )
    found = Found(
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.bool_),
        np.empty((nodes, k)),
        np.empty((nodes, k), np.int32),
        np.empty((nodes, k, 2), np.int32),
        np.empty((nodes, k), np.uint64),
        np.empty((nodes, k), np.uint64),
    )
    stack = np.empty(nodes + 1, np.int64)
    while not found.complete[nodes - 1] and candidates.used[0] <= room:
        _find_next(graph, scores, best, candidates, found, stack)
    return found, candidates.used[0]


@compiled
def list_derivations(graph: HypergraphArrays, found: Found) -> tuple[list[Array], Array]:
    """Return the words and the features of the derivations of the goal, best first."""
    nodes = len(found.number)
    features = np.zeros((found.number[-1], graph.features.shape[1]))
    words = []
    chosen, rank_of = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for rank in range(found.number[-1]):
        rank_of[:] = -1
        rank_of[-1] = rank
        for node in range(nodes - 1, -1, -1):
            if rank_of[node] >= 0:
                chosen[node] = found.edge[node, rank_of[node]]
                for t in range(2):
                    if graph.tails[chosen[node], t] >= 0:
                        rank_of[graph.tails[chosen[node], t]] = found.ranks[node, rank_of[node], t]
        words.append(
            derivation_words(
                chosen,
                graph.tails,
                graph.options,
                graph.symbol_start,
                graph.symbols,
                graph.features,
                features[rank],
            )
        )
    return words, features


def k_best(graph: HypergraphArrays, scores: Vector, k: int) -> list[tuple[list[int], Vector]]:
    """Return the k best translations with the features of their best derivations, best first."""
    best = viterbi_edges(graph.starts, graph.tails, scores)[1]
    room = CANDIDATES_PER_EDGE * len(scores) + k
    found, needed = find_k_best(graph, scores, best, k, room)
    while needed > room:  # candidates were left out: search again with more room
        room = 2 * needed
        found, needed = find_k_best(graph, scores, best, k, room)
    words, features = list_derivations(graph, found)
    return [(one.tolist(), features[rank]) for rank, one in enumerate(words)]
