"""The k best translations of a hypergraph, lazily (Huang and Chiang 2005, algorithm 3), each of them once.

Two derivations of a node with the same words differ in nothing that the rest of a derivation could tell apart. So only
the better one is kept, at every node: this finds the same list as sorting all derivations, and looks at few of them.
"""

import heapq
from typing import NamedTuple

from learners.smt.forest import Vector
from learners.smt.inference import HypergraphArrays, best_edges

WordIds = tuple[int, ...]
Candidate = tuple[float, int, int, int]  # minus the score, edge, rank of each tail's derivation


class _Ranked(NamedTuple):
    score: float
    words: WordIds
    features: Vector


class _Node:
    """What is known about the best derivations of a node."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates
        heapq.heapify(candidates)
        self.offered = {candidate[1:] for candidate in candidates}
        self.found: list[_Ranked] = []
        self.seen: set[WordIds] = set()


class LazyKBest:
    """Derivations of every node, ranked as far as anybody asked."""

    def __init__(self, graph: HypergraphArrays, scores: Vector) -> None:
        self._graph = graph
        self._tails: list[list[int]] = graph.tails.tolist()
        self._scores: list[float] = scores.tolist()
        self._best: list[float] = best_edges(graph.starts, graph.tails, scores)[1].tolist()
        self._nodes: dict[int, _Node] = {}

    def first(self, k: int) -> list[tuple[WordIds, Vector]]:
        """The best k translations with the features of their best derivations, best first."""
        goal = len(self._best) - 1
        while len(self._node(goal).found) < k and self._find_next(goal):
            pass
        return [(ranked.words, ranked.features) for ranked in self._node(goal).found[:k]]

    def _node(self, node: int) -> _Node:
        if node not in self._nodes:
            edges = range(self._graph.starts[node], self._graph.starts[node + 1])
            self._nodes[node] = _Node([(-self._first_score(edge), edge, 0, 0) for edge in edges])
        return self._nodes[node]

    def _first_score(self, edge: int) -> float:
        return self._scores[edge] + sum(self._best[tail] for tail in self._tails[edge] if tail >= 0)

    def _ranked(self, node: int, rank: int) -> _Ranked | None:
        """The derivation of that rank, or None if there are not so many."""
        found = self._node(node).found
        while len(found) <= rank:
            if not self._find_next(node):
                return None
        return found[rank]

    def _find_next(self, number: int) -> bool:
        """Find the next derivation of a node with words of its own."""
        node = self._node(number)
        while node.candidates:
            negative, edge, first, second = heapq.heappop(node.candidates)
            self._offer(node, edge, first + 1, second)
            self._offer(node, edge, first, second + 1)
            ranked = self._make(edge, first, second, -negative)
            if ranked.words not in node.seen:
                node.seen.add(ranked.words)
                node.found.append(ranked)
                return True
        return False

    def _offer(self, node: _Node, edge: int, first: int, second: int) -> None:
        if (edge, first, second) in node.offered:
            return
        score = self._scores[edge]
        for tail, rank in zip(self._tails[edge], (first, second), strict=True):
            if tail < 0 and rank:
                return
            ranked = self._ranked(tail, rank) if tail >= 0 else None
            if tail >= 0 and ranked is None:
                return
            score += ranked.score if ranked else 0.0
        node.offered.add((edge, first, second))
        heapq.heappush(node.candidates, (-score, edge, first, second))

    def _make(self, edge: int, first: int, second: int, score: float) -> _Ranked:
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
        return _Ranked(score, tuple(words), features)
