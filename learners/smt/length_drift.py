"""An alarm for outputs that grow or shrink while rewards rise.

Sentence BLEU pays for some kinds of growing and shrinking, corpus BLEU does not. Outputs are compared with the seed
model's best translations of the same sources. While the alarm is on, a learner proposes nothing that is longer (or
shorter) than those.
"""

import math
import sys

from learners.smt.hashing import Array
from learners.snapshot import Snapshot

MAX_LOG_RATIO = math.log(1.1)
DECAY = 0.99  # of the running mean
MIN_ROUNDS = 100  # before the first alarm


class LengthDrift:
    """The running mean of the log ratio of output lengths to those of the seed model."""

    def __init__(self) -> None:
        self._mean = 0.0
        self._rounds = 0
        self._alarms = 0

    @property
    def alarm(self) -> int:
        """1 if outputs have grown too long, -1 if they are too short, else 0."""
        if self._rounds < MIN_ROUNDS or abs(self._mean) <= MAX_LOG_RATIO:
            return 0
        return 1 if self._mean > 0 else -1

    def allowed(self, lengths: Array) -> Array:
        """Return which candidates may be proposed, given their lengths; the seed model's best is the first."""
        allowed: Array = (lengths - lengths[0]) * self.alarm <= 0
        return allowed

    def observe(self, length: int, seed_length: int) -> None:
        """Take an output into account, and print a notice when the alarm begins."""
        before = self.alarm
        self._rounds += 1
        log_ratio = math.log(max(length, 1) / max(seed_length, 1))
        self._mean += max(1 - DECAY, 1 / self._rounds) * (log_ratio - self._mean)
        if self.alarm and not before:
            self._alarms += 1
            change = "longer" if self.alarm > 0 else "shorter"
            print(
                f"drift: outputs are {math.exp(self._mean):.2f} times as long as the seed model's in round "
                f"{self._rounds:,}; none that is {change} than the seed model's is proposed until they are not",
                file=sys.stderr,
            )

    def save(self) -> Snapshot:
        return Snapshot(values={"mean": self._mean, "rounds": self._rounds, "alarms": self._alarms})

    def load(self, snapshot: Snapshot) -> None:
        self._mean, self._rounds, self._alarms = (snapshot.values[name] for name in ("mean", "rounds", "alarms"))
