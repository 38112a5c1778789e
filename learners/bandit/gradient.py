"""What all learners that step along gradients have in common: parameters, an optimiser, a baseline, random numbers.

The parameters are one vector, whether it is a network's or the few weights of a log-linear model.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from learners.bandit.control_variates import ControlVariate
from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.contract import Learner, check_reward
from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from learners.stored_names import stored_class_name, to_stored

VERSION = 3  # of what learners put into their snapshots
IDENTITY_PARTS = {"recipe": "configuration", "variate": "control variate"}  # as snapshots and as messages call them


@dataclass(frozen=True, kw_only=True)
class GradientConfig:
    """How a learner steps; subclasses say how it explores."""

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)


class GradientLearner(Learner):
    """A translator that learns from rewards; subclasses say how it explores and which gradient a reward is worth."""

    def __init__(
        self,
        vector: Tensor,
        config: GradientConfig,
        variate: ControlVariate,
        *,
        seed: int,
        moved: Sequence[Tensor] = (),
        bound: float | None = None,
    ) -> None:
        """``moved`` are the parts of the vector that learn, if not all of it does; ``bound`` is the optimiser's."""
        self._vector = vector
        self._optimiser = Optimiser(moved or [vector], config.optimiser, bound=bound)
        self._control_variate = variate
        self._seed = seed
        self._identity = {"recipe": to_stored(config), "variate": variate.identity()}
        self._rng = np.random.default_rng(seed)
        self._rounds = 0  # that were learned from

    def update(self, source: str, translation: str, reward: float) -> None:  # noqa: ARG002 (it knows what it proposed)
        advantage = self._control_variate.advantage(source, check_reward(reward))
        self._learn(source, advantage)
        self._rounds += 1

    @property
    def _round(self) -> int:
        """The number of the round that is being played, from 1."""
        return self._rounds + 1

    @abstractmethod
    def _learn(self, source: str, advantage: float) -> None:
        """Learn from how much better than expected the proposal of this round was."""

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            {"vector": self._vector.detach().cpu().numpy().copy()},
            {
                "kind": self._kind(),
                "identity": self._identity,
                "rounds": self._rounds,
                "rng": self._rng.bit_generator.state,
            },
        )
        if self._vector.grad is not None and self._vector.grad.any():  # in the middle of a minibatch
            snapshot.arrays["gradient"] = self._vector.grad.cpu().numpy().copy()
        snapshot.put("optimiser", self._optimiser.save())
        snapshot.put("variate", self._control_variate.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if snapshot.values.get("kind") != self._kind():
            raise SnapshotError(f"the snapshot is of {snapshot.values.get('kind')}, not of {self._kind()}")
        for name, what in IDENTITY_PARTS.items():
            if (theirs := snapshot.values["identity"][name]) != (own := self._identity[name]):
                raise SnapshotError(f"the snapshot is of the {what} {theirs}, not of {own}")
        stored = snapshot.arrays["vector"]
        if stored.shape != tuple(self._vector.shape):
            raise SnapshotError(f"the snapshot has {stored.size:,} parameters, the model another number")
        with torch.no_grad():
            self._vector.copy_(torch.from_numpy(stored))
        self._optimiser.clear()
        if "gradient" in snapshot.arrays:
            assert self._vector.grad is not None, "a learner in minibatches has a gradient to add to"
            self._vector.grad.copy_(torch.from_numpy(snapshot.arrays["gradient"]))
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._optimiser.load(snapshot.part("optimiser"))
        self._control_variate.load(snapshot.part("variate"))

    def _kind(self) -> str:
        return f"{stored_class_name(type(self))} {VERSION}"
