"""What comparing lists with brute force (test_hypergraph.py) does not reach: room, length, ties."""

import numpy as np
import pytest

from learners.smt import k_best as k_best_module
from learners.smt.hypergraph import Hypergraph
from learners.smt.inference import HypergraphArrays
from learners.smt.k_best import k_best
from tests.learners.smt.toy_language import random_forest


def chain(length):
    """Return a hypergraph in which every node adds one word, a or b, to those of the node before."""
    nodes = length + 1
    starts, tails, symbols = [0], [], []
    for node in range(length):
        for word in (3, 4):
            tails.append((node - 1, -1))
            symbols.append([-1, word] if node else [word])
        starts.append(len(tails))
    tails.append((length - 1, -1))
    symbols.append([-1])
    starts.append(len(tails))
    assert len(starts) == nodes + 1
    return HypergraphArrays(
        np.array(starts),
        np.array(tails, np.int32),
        np.ones((len(tails), 1)),
        np.arange(len(tails), dtype=np.int32),
        np.cumsum([0, *map(len, symbols)]),
        np.array([symbol for written in symbols for symbol in written], np.int32),
    )


def test_a_search_without_enough_room_is_repeated_with_more(monkeypatch):
    rng = np.random.default_rng(5)
    graph = random_forest(rng, length=5).graph
    scores = graph.features @ rng.normal(size=3)
    expected = k_best(graph, scores, 50)
    monkeypatch.setattr(k_best_module, "CANDIDATES_PER_EDGE", 0)
    found = k_best(graph, scores, 50)
    assert len(graph.tails) > 50 >= len(expected) > 1
    assert [words for words, _ in found] == [words for words, _ in expected]


def test_translations_may_be_long():
    graph = chain(200)
    scores = np.zeros(len(graph.tails))
    scores[0] = 1.0
    [(best, features)] = k_best(graph, scores, 1)
    assert best == [3] * 200  # of equal scores, the first edge wins
    assert features == pytest.approx([201.0])


def test_all_translations_are_found_once():
    """Of two words in each of six places."""
    forest = Hypergraph(chain(6), "---ab".__getitem__)
    found = [one.translation for one in forest.k_best(np.ones(1), 100)]
    assert len(found) == len(set(found)) == 64


def test_equal_scores_are_ordered_by_edges():
    forest = Hypergraph(chain(2), "---ab".__getitem__)
    assert [one.translation for one in forest.k_best(np.ones(1), 4)] == ["a a", "b a", "a b", "b b"]
