"""Which faults are injected, how often, and when: all of it follows from the seed of a trial."""

import random
from collections import Counter

# Every fault has a place: a kind of call at which it can be injected. "before" means that the call has no effect,
# "after" that it takes effect and only its result is lost, which is the hard case.
NETWORK = (
    "request lost",
    "response lost",
    "request late",  # it arrives when its client may have given up, after later requests
    "request duplicated",
    "response late",
    "response truncated",
    "error of a proxy before",
    "error of a proxy after",
)
DISK = ("statement fails before", "statement fails after", "slow disk", "thread interrupted")
TABLE = ("table throttled", "table silent before", "table silent after", "table repeats a write")  # of DynamoDB
CLOCK = ("clock set",)
PROCESS = ("server killed before", "server killed after")
LEARNER = ("learner killed", "learner killed while it waits", "learner without room")
ALL = (*NETWORK, *DISK, *TABLE, *CLOCK, *PROCESS, *LEARNER)
MAX_FAULTS = 80  # in a trial: afterwards everything works, and every learner must finish


class FaultPlan:
    """Draws faults. Each trial has its own selection of faults and its own rates, so that rare combinations occur."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.injected: Counter[str] = Counter()
        self._rates = {
            fault: rng.choice((0.01, 0.03, 0.1)) * (0.2 if fault in PROCESS else 1.0)
            for fault in ALL
            if rng.random() < 0.6
        }
        self._left = rng.randrange(MAX_FAULTS)

    def draw(self, place: tuple[str, ...]) -> str | None:
        """Return the fault to inject into a call of this kind, or None."""
        chance = self._rng.random()
        if not self._left:
            return None
        for fault in place:
            chance -= self._rates.get(fault, 0.0)
            if chance < 0:
                self._left -= 1
                self.injected[fault] += 1
                return fault
        return None

    def duration(self, longest: float) -> float:
        """Return how long something takes: mostly short, sometimes nearly the longest."""
        return longest * self._rng.random() ** 3

    def uniform(self, low: float, high: float) -> float:
        return self._rng.uniform(low, high)

    def chance(self, share: float) -> bool:
        return self._rng.random() < share
