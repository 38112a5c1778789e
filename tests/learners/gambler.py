"""A tiny bandit learner with all that must survive a crash: weights, a baseline, a random state."""

import numpy as np

from learners.contract import Learner
from learners.snapshot import Snapshot

WORDS = ["yes", "no", "maybe", "never"]


class Gambler(Learner):
    """Appends one of four words to the source, and prefers those that earned more. It defines ``save`` and ``load``."""

    def __init__(self, seed=0):
        self.weights = np.zeros(len(WORDS))
        self.baseline = 0.0
        self.rounds = 0
        self._rng = np.random.default_rng(seed)
        self._choice = 0

    def propose(self, sentence):
        odds = np.exp(self.weights - self.weights.max())
        self._choice = int(np.searchsorted(np.cumsum(odds / odds.sum()), self._rng.random()))
        return f"{sentence.source} {WORDS[min(self._choice, len(WORDS) - 1)]}"

    def update(self, sentence, translation, feedback):
        self.rounds += 1
        self.baseline += (feedback.reward - self.baseline) / self.rounds
        self.weights[min(self._choice, len(WORDS) - 1)] += 0.5 * (feedback.reward - self.baseline)

    def save(self):
        state = self._rng.bit_generator.state
        return Snapshot(
            {"weights": self.weights.copy()}, {"baseline": self.baseline, "rounds": self.rounds, "rng": state}
        )

    def load(self, snapshot):
        self.weights = snapshot.arrays["weights"]
        self.baseline, self.rounds = snapshot.values["baseline"], snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
