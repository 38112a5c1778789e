"""What all learners with a neural translator have in common: parameters, an optimiser, a baseline, random numbers."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.optimiser import Optimiser
from learners.contract import Learner
from learners.errors import RewardError, SnapshotError
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot

VERSION = 1  # of what learners put into their snapshots


class NeuralLearner(Learner):
    """A translator that learns from rewards; subclasses say how it explores and which gradient a reward is worth."""

    def __init__(self, translator: Translator, optimiser: Optimiser, variate: ControlVariate, *, seed: int) -> None:
        self._translator = translator
        self._optimiser = optimiser
        self._variate = variate
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._rounds = 0  # that were learned from

    def propose(self, source: str) -> str:
        return self._explore(source).text

    def update(self, source: str, translation: str, reward: float) -> None:  # noqa: ARG002 (the tokens are known)
        if not (math.isfinite(reward) and 0 <= reward <= 1):
            raise RewardError(f"a reward is a number between 0 and 1, but got {reward}")
        advantage = self._variate.advantage(source, reward)
        self._learn(source, advantage)
        self._rounds += 1

    @property
    def _round(self) -> int:
        """The number of the round that is being played, from 1."""
        return self._rounds + 1

    @abstractmethod
    def _explore(self, source: str) -> Hypothesis:
        """What to propose, remembered until its reward is known."""

    @abstractmethod
    def _learn(self, source: str, advantage: float) -> None:
        """Learn from how much better than expected the proposal of this round was."""

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            {"vector": self._translator.vector.detach().cpu().numpy().copy()},
            {"kind": self._kind(), "rounds": self._rounds, "rng": self._rng.bit_generator.state},
        )
        snapshot.put("optimiser", self._optimiser.save())
        snapshot.put("variate", self._variate.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if snapshot.values.get("kind") != self._kind():
            raise SnapshotError(f"the snapshot is of {snapshot.values.get('kind')}, not of {self._kind()}")
        stored = snapshot.arrays["vector"]
        if stored.shape != tuple(self._translator.vector.shape):
            raise SnapshotError(f"the snapshot has {stored.size:,} parameters, the model another number")
        with torch.no_grad():
            self._translator.vector.copy_(torch.from_numpy(stored))
        self._translator.zero_gradient()
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._optimiser.load(snapshot.part("optimiser"))
        self._variate.load(snapshot.part("variate"))

    def _kind(self) -> str:
        return f"{type(self).__name__} {VERSION}"

    @contextmanager
    def _dropout(self, probability: float) -> Iterator[None]:
        """Learn with dropout, drawn from the seed and the round, so that there is no state of it to save."""
        if not probability:
            yield
            return
        model = self._translator.model
        usual, model.dropout.p = model.dropout.p, probability
        model.train()
        try:
            with torch.random.fork_rng():
                torch.manual_seed(self._seed * 1_000_003 + self._rounds)
                yield
        finally:
            model.eval()
            model.dropout.p = usual
