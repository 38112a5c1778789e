"""Whether rewards can be decoded at all."""

import sys

from learners.snapshot import Snapshot


class Exactness:
    """Whether rewards are exact: those that are rounded or noisy have no decoding but by accident."""

    MIN_ROUNDS = 30
    MIN_SHARE = 0.5  # of rewards that can be decoded: of exact ones, 98 in 100 can
    DECAY = 0.98

    def __init__(self, instead: str) -> None:
        """``instead`` says what a learner does where rewards cannot be decoded, for the notice."""
        self._instead = instead
        self._share = 1.0
        self._rounds = 0
        self._notified = False

    @property
    def is_lost(self) -> bool:
        return self._rounds >= self.MIN_ROUNDS and self._share < self.MIN_SHARE

    def observe(self, decoded: bool) -> None:
        """Take a reward into account; print a notice the first time that most cannot be decoded."""
        self._rounds += 1
        self._share += max(1 - self.DECAY, 1 / self._rounds) * (decoded - self._share)
        if self.is_lost and not self._notified:
            self._notified = True
            print(
                f"rewards are rounded, noisy or not sentence BLEU: only {self._share:.0%} can be decoded into n-gram "
                f"matches. From here on, {self._instead}; rewards that can be decoded still teach",
                file=sys.stderr,
            )

    def save(self) -> Snapshot:
        return Snapshot(values={"share": self._share, "rounds": self._rounds, "notified": self._notified})

    def load(self, snapshot: Snapshot) -> None:
        self._share, self._rounds, self._notified = (snapshot.values[name] for name in ("share", "rounds", "notified"))
