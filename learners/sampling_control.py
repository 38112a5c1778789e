"""Sampling without learning: the control of learners that sample.

A sample earns less than the best translation. So a learner that samples begins below the static system, and what it
learned is the difference to the same search without learning.
"""

from abc import abstractmethod

import numpy as np

from learners.contract import Feedback, Learner, Proposal, Sentence
from learners.errors import SnapshotError
from learners.snapshot import Snapshot


class SamplingControl(Learner):
    """Samples as a learner does; subclasses define from what."""

    def __init__(self, *, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._rounds = 0  # completed

    def propose(self, sentence: Sentence) -> str | Proposal:
        return self._sample(sentence.source, self._rounds + 1)

    @abstractmethod
    def _sample(self, source: str, round_number: int) -> str | Proposal:
        """Return what the learner would sample in this round, counted from 1, if it had learned nothing."""

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        """Count the round, and ignore the feedback."""
        self._rounds += 1

    def save(self) -> Snapshot:
        values = {"kind": type(self).__name__, "rounds": self._rounds, "rng": self._rng.bit_generator.state}
        return Snapshot(values=values)

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != type(self).__name__:
            raise SnapshotError(f"the snapshot is of {kind}, not of {type(self).__name__}")
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
