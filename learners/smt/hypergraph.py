"""A forest as a hypergraph: nodes are hypotheses, edges are the rules that make them of others."""

from collections.abc import Callable, Sequence

import numpy as np

from learners.smt.chart import Chart
from learners.smt.features import FEATURE
from learners.smt.forest import Derivation, Vector
from learners.smt.hashing import Array, compiled, copy_elements, inner
from learners.smt.inference import HypergraphArrays, best_edges, draw_edges, inside_sums, posteriors, spell_out
from learners.smt.k_best import LazyKBest
from learners.smt.language_model import END
from learners.smt.translation_options import TranslationOptions


@inner
def _useful_nodes(chart: Chart) -> Array:
    """Nodes that lead to the goal."""
    useful = np.zeros(chart.used[0], np.bool_)
    useful[-1] = True
    for edge in range(chart.used[1] - 1, -1, -1):  # cells are filled after the cells of their tails
        if useful[chart.edges.head[edge]]:
            for t in range(2):
                if chart.edges.tail[edge, t] >= 0:
                    useful[chart.edges.tail[edge, t]] = True
    return useful


@compiled
def graph_of(chart: Chart, options: TranslationOptions) -> HypergraphArrays:
    """What of a chart leads to its last node."""
    edges = chart.edges
    useful = _useful_nodes(chart)
    number = np.cumsum(useful) - 1
    kept = np.flatnonzero(useful[edges.head[: chart.used[1]]])
    starts = np.zeros(number[-1] + 2, np.int64)
    for k in range(len(kept)):
        starts[number[edges.head[kept[k]]] + 1] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    tails = np.full((len(kept), 2), -1, np.int32)
    features = np.empty((len(kept), options.features.shape[1]))
    used = np.empty(len(kept), np.int32)
    for k in range(len(kept)):
        edge = kept[k]
        place = at[number[edges.head[edge]]]
        at[number[edges.head[edge]]] += 1
        for t in range(2):
            if edges.tail[edge, t] >= 0:
                tails[place, t] = number[edges.tail[edge, t]]
        used[place] = edges.option[edge]
        copy_elements(options.features[edges.option[edge]], features[place], features.shape[1])
        features[place, FEATURE.LanguageModel] = edges.fluency[edge]
        features[place, FEATURE.LanguageModel_OOV] = edges.unknown[edge]
        features[place, FEATURE.Reordering] -= edges.jump[edge]
    return HypergraphArrays(starts, tails, features, used, options.start, options.symbols)


class Hypergraph:
    """The derivations of one source sentence."""

    def __init__(self, graph: HypergraphArrays, spelling: Callable[[int], str]) -> None:
        self.graph = graph
        self._spelling = spelling
        self._scored: tuple[bytes, Vector, Vector] | None = None  # weights; scores of edges; sums of nodes

    def best(self, weights: Vector) -> Derivation:
        chosen, _ = best_edges(self.graph.starts, self.graph.tails, self.graph.features @ weights)
        return self._derivation(chosen)

    def sample(self, weights: Vector, rng: np.random.Generator) -> Derivation:
        scores, inside = self._sums(weights)
        uniforms = rng.random(len(inside))
        return self._derivation(draw_edges(self.graph.starts, self.graph.tails, scores, inside, uniforms))

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:
        found = LazyKBest(self.graph, self.graph.features @ weights).first(k)
        return [Derivation(self._text(words), features) for words, features in found]

    def log_partition(self, weights: Vector) -> float:
        return float(self._sums(weights)[1][-1])

    def expectation(self, weights: Vector) -> Vector:
        scores, inside = self._sums(weights)
        return posteriors(self.graph.starts, self.graph.tails, scores, inside) @ self.graph.features

    def _sums(self, weights: Vector) -> tuple[Vector, Vector]:
        """Scores of edges and sums of nodes; kept, since whoever draws asks for the expectation next."""
        key = weights.tobytes()
        if self._scored is None or self._scored[0] != key:
            scores = self.graph.features @ weights
            self._scored = key, scores, inside_sums(self.graph.starts, self.graph.tails, scores)
        return self._scored[1:]

    def _derivation(self, chosen: Array) -> Derivation:
        graph = self.graph
        features = np.zeros(graph.features.shape[1])
        words = spell_out(
            chosen, graph.tails, graph.options, graph.symbol_start, graph.symbols, graph.features, features
        )
        return Derivation(self._text(words.tolist()), features)

    def _text(self, words: Sequence[int]) -> str:
        return " ".join(self._spelling(word) for word in words if word != END)
