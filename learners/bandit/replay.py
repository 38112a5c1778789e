"""A memory of rounds that went better than expected, to be learned from again."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Experience:
    """A proposal, and how much better than expected it was."""

    source: str
    target: list[int]  # token ids
    advantage: float


class ReplayBuffer:
    """The last ``capacity`` experiences; a new one takes the place of the oldest.

    What was just lived through is held back until ``settle``, so that a step does not learn from it twice.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a memory holds one experience or more, but got {capacity}")
        self._capacity = capacity
        self._experiences: list[Experience] = []
        self._next = 0
        self._fresh: list[Experience] = []

    def __len__(self) -> int:
        return len(self._experiences)

    @property
    def fresh(self) -> Sequence[Experience]:
        """What is held back."""
        return self._fresh

    def hold(self, experience: Experience) -> None:
        self._fresh.append(experience)

    def settle(self) -> None:
        """From now on, all that was held back can be drawn."""
        for experience in self._fresh:
            if len(self) < self._capacity:
                self._experiences.append(experience)
            else:
                self._experiences[self._next] = experience
            self._next = (self._next + 1) % self._capacity
        self._fresh = []

    def draw(self, count: int, rng: np.random.Generator) -> list[Experience]:
        """Some experiences, each at most once."""
        chosen = rng.choice(len(self), size=min(count, len(self)), replace=False)
        return [self._experiences[number] for number in chosen]

    def save(self) -> Snapshot:
        lists = {"experiences": self._experiences, "fresh": self._fresh}
        values = {name: [asdict(one) for one in experiences] for name, experiences in lists.items()}
        return Snapshot(values={"next": self._next, **values})

    def load(self, snapshot: Snapshot) -> None:
        self._next = snapshot.values["next"]
        self._experiences = [Experience(**one) for one in snapshot.values["experiences"]]
        self._fresh = [Experience(**one) for one in snapshot.values["fresh"]]
