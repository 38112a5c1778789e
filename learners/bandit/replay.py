"""A replay buffer of rounds that earned more than expected."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Experience:
    """A proposal and its advantage, as one number or as one for each token of the target."""

    source: list[int]  # token ids, as the model read them
    target: list[int]  # token ids
    advantage: float | list[float]


class ReplayBuffer:
    """The last ``capacity`` experiences; a new one replaces the oldest.

    New experiences are pending until ``commit``, so that a step does not learn from them twice.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a replay buffer needs a capacity of at least 1, but got {capacity}")
        self._capacity = capacity
        self._experiences: list[Experience] = []
        self._next = 0
        self._pending: list[Experience] = []

    def __len__(self) -> int:
        return len(self._experiences)

    @property
    def pending(self) -> Sequence[Experience]:
        """Experiences that cannot be sampled yet."""
        return self._pending

    def add(self, experience: Experience) -> None:
        self._pending.append(experience)

    def commit(self) -> None:
        """Let all pending experiences be sampled from now on."""
        for experience in self._pending:
            if len(self) < self._capacity:
                self._experiences.append(experience)
            else:
                self._experiences[self._next] = experience
            self._next = (self._next + 1) % self._capacity
        self._pending = []

    def sample(self, count: int, rng: np.random.Generator) -> list[Experience]:
        """Return at most ``count`` random experiences, each at most once."""
        chosen = rng.choice(len(self), size=min(count, len(self)), replace=False)
        return [self._experiences[index] for index in chosen]

    def save(self) -> Snapshot:
        lists = {"experiences": self._experiences, "fresh": self._pending}
        values = {name: [asdict(one) for one in experiences] for name, experiences in lists.items()}
        return Snapshot(values={"next": self._next, **values})

    def load(self, snapshot: Snapshot) -> None:
        self._next = snapshot.values["next"]
        self._experiences = [Experience(**values) for values in snapshot.values["experiences"]]
        self._pending = [Experience(**values) for values in snapshot.values["fresh"]]
