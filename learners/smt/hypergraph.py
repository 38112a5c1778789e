"""A forest as a hypergraph: nodes are hypotheses, edges are rule applications."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np

from learners.segmentation.compounds import SplitSentence
from learners.smt.chart import Chart
from learners.smt.features import FEATURE
from learners.smt.forest import Derivation, Vector
from learners.smt.hashing import Array, compiled, compiled_internal, copy_elements
from learners.smt.inference import (
    HypergraphArrays,
    derivation_words,
    inside_scores,
    posteriors,
    sample_edges,
    viterbi_edges,
)
from learners.smt.k_best import k_best
from learners.smt.language_model import END
from learners.smt.translation_options import TranslationOptions
from learners.smt.translation_score import translation_score

NO_WORD = -3  # the id of a word that no rule writes


@compiled_internal
def _reachable_from_goal(chart: Chart) -> Array:
    """Return which nodes are part of a derivation of the goal."""
    reachable = np.zeros(chart.used[0], np.bool_)
    reachable[-1] = True
    for edge in range(chart.used[1] - 1, -1, -1):  # every cell is filled after the cells of its tails
        if reachable[chart.edges.head[edge]]:
            for t in range(2):
                if chart.edges.tail[edge, t] >= 0:
                    reachable[chart.edges.tail[edge, t]] = True
    return reachable


@compiled
def extract_hypergraph(chart: Chart, options: TranslationOptions) -> HypergraphArrays:
    """Return the hypergraph of a chart, without nodes and edges that are in no derivation of the goal."""
    edges = chart.edges
    reachable = _reachable_from_goal(chart)
    number = np.cumsum(reachable) - 1
    kept = np.flatnonzero(reachable[edges.head[: chart.used[1]]])
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
        slot = at[number[edges.head[edge]]]
        at[number[edges.head[edge]]] += 1
        for t in range(2):
            if edges.tail[edge, t] >= 0:
                tails[slot, t] = number[edges.tail[edge, t]]
        used[slot] = edges.option[edge]
        copy_elements(options.features[edges.option[edge]], features[slot], features.shape[1])
        features[slot, FEATURE.LanguageModel] = edges.lm_score[edge]
        features[slot, FEATURE.LanguageModel_OOV] = edges.unknown[edge]
        features[slot, FEATURE.Reordering] -= edges.distortion[edge]
    return HypergraphArrays(starts, tails, features, used, options.start, options.symbols)


class Hypergraph:
    """The derivations of one source sentence."""

    def __init__(
        self, graph: HypergraphArrays, word_of: Callable[[int], str], source: SplitSentence | None = None
    ) -> None:
        """``word_of`` returns the word of an id; ``source`` joins the parts of its words in translations."""
        self.graph = graph
        self._source = source or SplitSentence("", {})
        self._word_of = word_of
        self._scored: tuple[bytes, Vector, Vector] | None = None  # weights, edge scores, inside scores

    def best(self, weights: Vector) -> Derivation:
        chosen, _ = viterbi_edges(self.graph.starts, self.graph.tails, self.graph.features @ weights)
        return self._derivation(chosen)

    def sample(self, weights: Vector, rng: np.random.Generator) -> Derivation:
        scores, inside = self._inside(weights)
        uniforms = rng.random(len(inside))
        return self._derivation(sample_edges(self.graph.starts, self.graph.tails, scores, inside, uniforms))

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:
        found = k_best(self.graph, self.graph.features @ weights, k)
        word_of = cache(self._word_of)  # the translations of a list have most words in common
        texts = [self._source.rejoin(text_of(words, word_of)) for words, _ in found]
        best = dict(zip(reversed(texts), reversed(found), strict=True))  # joined parts may spell another translation
        return [Derivation(text, best[text][1]) for text in dict.fromkeys(texts)]

    def log_probability(self, translation: str, weights: Vector) -> float:
        scores, inside = self._inside(weights)
        words = np.array(
            [self._ids.get(word, NO_WORD) for word in self._source.separate(translation).split()], np.int32
        )
        return float(translation_score(self.graph, scores, words) - inside[-1])

    def log_partition(self, weights: Vector) -> float:
        return float(self._inside(weights)[1][-1])

    def expectation(self, weights: Vector) -> Vector:
        scores, inside = self._inside(weights)
        return posteriors(self.graph.starts, self.graph.tails, scores, inside) @ self.graph.features

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The ids of all words that a derivation can write."""
        graph = self.graph
        options = np.unique(graph.options)
        spans = zip(graph.symbol_start[options].tolist(), graph.symbol_start[options + 1].tolist(), strict=True)
        written = {symbol for start, stop in spans for symbol in graph.symbols[start:stop].tolist()}
        return {self._word_of(symbol): symbol for symbol in written if symbol >= 0 and symbol != END}

    def _inside(self, weights: Vector) -> tuple[Vector, Vector]:
        """Return edge scores and inside scores; cached, because a learner samples before it asks for expectations."""
        key = weights.tobytes()
        if self._scored is None or self._scored[0] != key:
            scores = self.graph.features @ weights
            self._scored = key, scores, inside_scores(self.graph.starts, self.graph.tails, scores)
        return self._scored[1:]

    def _derivation(self, chosen: Array) -> Derivation:
        graph = self.graph
        features = np.zeros(graph.features.shape[1])
        words = derivation_words(
            chosen, graph.tails, graph.options, graph.symbol_start, graph.symbols, graph.features, features
        )
        return Derivation(self._source.rejoin(text_of(words.tolist(), self._word_of)), features)


def text_of(words: Sequence[int], word_of: Callable[[int], str]) -> str:
    """Return the translation with these word ids."""
    return " ".join([word_of(word) for word in words if word != END])
