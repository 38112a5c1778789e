"""A translator whose forests are short lists of derivations, so that tests can enumerate them."""

import zlib
from dataclasses import dataclass, field

import numpy as np

from learners.smt.forest import Derivation

# Three candidates with three features, for numbers worked out by hand.
CANDIDATES = [
    Derivation("a c c", np.array([1.0, 0, 2])),
    Derivation("b c", np.array([0.0, 1, 1])),
    Derivation("a b", np.array([1.0, 1, 0])),
]
CANDIDATE_WEIGHTS = np.array([0.5, 0.2, 0.1])


class ListForest:
    """A forest that is a list of derivations."""

    def __init__(self, derivations):
        self._derivations = derivations
        self._features = np.array([one.features for one in derivations])

    def _probabilities(self, weights):
        scores = self._features @ weights
        unnormalised = np.exp(scores - scores.max())
        return unnormalised / unnormalised.sum()

    def best(self, weights):
        return self._derivations[int(np.argmax(self._features @ weights))]

    def sample(self, weights, rng):
        return self._derivations[int(rng.choice(len(self._derivations), p=self._probabilities(weights)))]

    def log_probability(self, translation, weights):
        shares = zip(self._derivations, self._probabilities(weights), strict=True)
        return float(np.log(sum(share for one, share in shares if one.translation == translation)))

    def k_best(self, weights, k):
        order = np.argsort(-(self._features @ weights), kind="stable")
        found: dict[str, Derivation] = {}
        for number in order:
            found.setdefault(self._derivations[number].translation, self._derivations[number])
        return list(found.values())[:k]

    def log_partition(self, weights):
        return float(np.log(np.exp(self._features @ weights).sum()))

    def expectation(self, weights):
        return self._probabilities(weights) @ self._features


@dataclass
class ListTranslator:
    """Has a list of derivations for each source, and a default list for all others."""

    lists: dict = field(default_factory=dict)
    default: list = field(default_factory=lambda: CANDIDATES)
    weights: np.ndarray = field(default_factory=CANDIDATE_WEIGHTS.copy)

    @property
    def features(self):
        return tuple(f"feature {number}" for number in range(len(self.weights)))

    def forest(self, source, weights):
        assert len(weights) == len(self.weights)
        return ListForest(self.lists.get(source, self.default))


def random_lists(sources, seed=0, size=6, dimension=3):
    """Return random derivations for each source."""
    lists = {}
    for source in sources:
        rng = np.random.default_rng([seed, zlib.crc32(source.encode())])
        texts = [" ".join(rng.choice(list("abcdefg"), size=rng.integers(4, 9))) for _ in range(size)]
        lists[source] = [Derivation(text, rng.normal(size=dimension)) for text in texts]
    return lists
