"""Lazy extraction of the k best distinct translations from a hypergraph (Huang and Chiang 2005, algorithm 3).

The rest of a derivation cannot distinguish two derivations of a node that have the same words. So every node keeps only
the better one. The result is the same as from sorting all derivations, but only a few of them are looked at.
"""

import heapq
from typing import NamedTuple

from learners.smt.forest import Vector
from learners.smt.inference import HypergraphArrays, viterbi_edges

WordIds = tuple[int, ...]
Candidate = tuple[float, int, int, int]  # negative score, edge, rank of each tail's derivation


class _RankedDerivation(NamedTuple):
    score: float
    words: WordIds
    features: Vector


class _NodeState:
    """The derivations of a node that were found so far, and the candidates for the next one."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates
        heapq.heapify(candidates)
        self.pushed = {candidate[1:] for candidate in candidates}
        self.found: list[_RankedDerivation] = []
        self.seen: set[WordIds] = set()


class LazyKBest:
    """The best derivations of every node, computed only as far as they are needed."""

    def __init__(self, graph: HypergraphArrays, scores: Vector) -> None:
        self._graph = graph
        self._tails: list[list[int]] = graph.tails.tolist()
        self._scores: list[float] = scores.tolist()
        self._best: list[float] = viterbi_edges(graph.starts, graph.tails, scores)[1].tolist()
        self._nodes: dict[int, _NodeState] = {}

    def best(self, k: int) -> list[tuple[WordIds, Vector]]:
        """Return the k best translations with the features of their best derivations, best first."""
        goal = len(self._best) - 1
        while len(self._node(goal).found) < k and self._find_next(goal):
            pass
        return [(ranked.words, ranked.features) for ranked in self._node(goal).found[:k]]

    def _node(self, node: int) -> _NodeState:
        if node not in self._nodes:
            edges = range(self._graph.starts[node], self._graph.starts[node + 1])
            self._nodes[node] = _NodeState([(-self._viterbi_score(edge), edge, 0, 0) for edge in edges])
        return self._nodes[node]

    def _viterbi_score(self, edge: int) -> float:
        return self._scores[edge] + sum(self._best[tail] for tail in self._tails[edge] if tail >= 0)

    def _ranked(self, node: int, rank: int) -> _RankedDerivation | None:
        """Return the derivation of a rank, or None if the node has fewer."""
        found = self._node(node).found
        while len(found) <= rank:
            if not self._find_next(node):
                return None
        return found[rank]

    def _find_next(self, number: int) -> bool:
        """Find the next best derivation of a node with new words; return whether there is one."""
        node = self._node(number)
        while node.candidates:
            negative_score, edge, first, second = heapq.heappop(node.candidates)
            self._push_candidate(node, edge, first + 1, second)
            self._push_candidate(node, edge, first, second + 1)
            ranked = self._build(edge, first, second, -negative_score)
            if ranked.words not in node.seen:
                node.seen.add(ranked.words)
                node.found.append(ranked)
                return True
        return False

    def _push_candidate(self, node: _NodeState, edge: int, first: int, second: int) -> None:
        if (edge, first, second) in node.pushed:
            return
        score = self._scores[edge]
        for tail, rank in zip(self._tails[edge], (first, second), strict=True):
            if tail < 0 and rank:
                return
            ranked = self._ranked(tail, rank) if tail >= 0 else None
            if tail >= 0 and ranked is None:
                return
            score += ranked.score if ranked else 0.0
        node.pushed.add((edge, first, second))
        heapq.heappush(node.candidates, (-score, edge, first, second))

    def _build(self, edge: int, first: int, second: int, score: float) -> _RankedDerivation:
        graph = self._graph
        tails = [
            self._ranked(tail, rank) if tail >= 0 else None
            for tail, rank in zip(self._tails[edge], (first, second), strict=True)
        ]
        features = graph.features[edge].copy()
        for tail in tails:
            if tail:
                features += tail.features
        option = graph.options[edge]
        words: list[int] = []
        for symbol in graph.symbols[graph.symbol_start[option] : graph.symbol_start[option + 1]].tolist():
            part = tails[-1 - symbol] if symbol < 0 else None
            words.extend(part.words if part else (symbol,))
        return _RankedDerivation(score, tuple(words), features)
