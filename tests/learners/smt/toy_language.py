"""A tiny German with verbs at the end, a translator trained on it, and random forests that need no decoder."""

from functools import cache
from itertools import product

import numpy as np

from learners.smt.configs import DecoderKind, SmtConfig
from learners.smt.hypergraph import Hypergraph
from learners.smt.inference import HypergraphArrays
from learners.smt.translator import SmtModel, SmtTranslator

NOUNS = {"hund": "dog", "ball": "ball", "mann": "man", "brief": "letter"}
VERBS = {"gesehen": "seen", "gekauft": "bought", "verloren": "lost"}
PAIRS = [
    pair
    for (noun, dog), (verb, seen) in product(NOUNS.items(), VERBS.items())
    for pair in (
        (f"ich habe den {noun} {verb}", f"i have {seen} the {dog}"),
        (f"den {noun} habe ich {verb}", f"i have {seen} the {dog}"),
        (f"der {noun} ist {verb}", f"the {dog} is {seen}"),
        (f"{verb} : {noun}", f"{seen} : {dog}"),
    )
]
CONFIG = SmtConfig(lm_order=3, max_span=6, table_limit=3)


@cache
def model():
    return SmtModel.train(PAIRS, CONFIG)


def translator(kind=DecoderKind.HIERO):
    return SmtTranslator(model(), kind)


def sentences(count, seed=0, longest=7):
    """Return random sequences of known and unknown words."""
    rng = np.random.default_rng(seed)
    words = ["ich", "habe", "den", "der", "ist", ":", *NOUNS, *VERBS, "xyz", "löwe"]
    return [" ".join(rng.choice(words, rng.integers(1, longest + 1))) for _ in range(count)]


def random_weights(rng):
    return rng.normal(0.0, 0.5, 14)


def random_forest(rng, length=3, features=3):
    """Return a hypergraph with two nodes for every span of a sentence, and up to three edges into each."""
    starts, tails, symbols, nodes = [0], [], [], {}
    for size in range(1, length + 1):
        for begin in range(length - size + 1):
            nodes[begin, begin + size] = len(starts) - 1, len(starts)
            for _ in range(2):
                for _ in range(int(rng.integers(1, 4))):
                    tails.append(_random_tails(rng, nodes, begin, size))
                    symbols.append(_random_symbols(rng, tails[-1]))
                starts.append(len(tails))
    tails += [(tail, -1) for tail in nodes[0, length]]
    symbols += [[-1], [-1]]
    starts.append(len(tails))
    graph = HypergraphArrays(
        np.array(starts),
        np.array(tails, np.int32),
        rng.normal(size=(len(tails), features)),
        np.arange(len(tails), dtype=np.int32),
        np.cumsum([0, *map(len, symbols)]),
        np.array([symbol for written in symbols for symbol in written], np.int32),
    )
    return Hypergraph(graph, "---abc".__getitem__)


def _random_tails(rng, nodes, begin, size):
    if size == 1:
        return (-1, -1)
    middle = begin + int(rng.integers(1, size))
    return tuple(int(rng.choice(nodes[span])) for span in ((begin, middle), (middle, begin + size)))


def _random_symbols(rng, tails):
    written = [-1, -2] if tails[0] >= 0 else []
    rng.shuffle(written)
    if not written or rng.random() < 0.5:
        written.insert(int(rng.integers(len(written) + 1)), 3 + int(rng.integers(3)))
    return written


def derivations(graph, node=None):
    """Return (words, features, edges) of all derivations, by brute force."""
    node = len(graph.starts) - 2 if node is None else node
    found = []
    for edge in range(graph.starts[node], graph.starts[node + 1]):
        parts = [derivations(graph, tail) if tail >= 0 else [((), 0.0, ())] for tail in graph.tails[edge]]
        option = graph.options[edge]
        symbols = graph.symbols[graph.symbol_start[option] : graph.symbol_start[option + 1]]
        for chosen in product(*parts):
            words = tuple(
                word for symbol in symbols for word in ((int(symbol),) if symbol >= 0 else chosen[-1 - symbol][0])
            )
            features = graph.features[edge] + sum(part[1] for part in chosen)
            found.append((words, features, (edge, *chosen[0][2], *chosen[1][2])))
    return found
