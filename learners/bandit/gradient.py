"""The common part of all learners that follow gradients: parameters, an optimiser, a baseline, random numbers.

The parameters are one vector, whether they are a network's or the few weights of a log-linear model.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from learners.bandit.control_variates import ControlVariate
from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.contract import Feedback, Learner, Sentence, check_reward
from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from learners.stored_names import stored_class_name, to_stored

IDENTITY_PARTS = {"recipe": "configuration", "variate": "control variate"}  # their names in snapshots and in messages


@dataclass(frozen=True, kw_only=True)
class GradientConfig:
    """How a learner steps; subclasses add how it explores."""

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)


class GradientLearner(Learner):
    """A translator that learns from rewards; subclasses define how it explores and which gradient follows a reward."""

    snapshot_version: ClassVar[int] = 3  # of a class; changes when older snapshots can no longer be loaded

    def __init__(
        self,
        vector: Tensor,
        config: GradientConfig,
        control_variate: ControlVariate,
        *,
        seed: int,
        trainable: Sequence[Tensor] = (),
        max_norm: float | None = None,
    ) -> None:
        """Create a learner before its first round.

        Args:
            vector: All parameters.
            config: How the learner steps and explores.
            control_variate: Turns rewards into advantages.
            seed: Seed of all random numbers.
            trainable: The parts of the vector that learn, if not all of it does.
            max_norm: The norm of the parameters above which they have diverged; see ``Optimiser``.
        """
        self._vector = vector
        self._optimiser = Optimiser(trainable or [vector], config.optimiser, max_norm=max_norm)
        self._control_variate = control_variate
        self._seed = seed
        self._identity = {"recipe": to_stored(config), "variate": control_variate.identity()}
        self._rng = np.random.default_rng(seed)
        self._rounds = 0  # completed

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002 (it proposed it)
        advantage = self._control_variate.advantage(sentence.source, check_reward(feedback.reward))
        self._learn(sentence.source, advantage)
        self._rounds += 1

    def measurements(self) -> dict[str, float]:
        return {"gradient_norm": self._optimiser.gradient_norm}

    @property
    def _round(self) -> int:
        """The number of the current round, from 1."""
        return self._rounds + 1

    @abstractmethod
    def _learn(self, source: str, advantage: float) -> None:
        """Learn from the advantage of what was proposed in this round."""

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            {"vector": self._vector.detach().cpu().numpy().copy()},
            {
                "kind": self._snapshot_kind(),
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
        if (kind := snapshot.values.get("kind")) != self._snapshot_kind():
            raise SnapshotError(f"the snapshot is of {kind}, not of {self._snapshot_kind()}")
        for name, what in IDENTITY_PARTS.items():
            if (theirs := snapshot.values["identity"][name]) != (own := self._identity[name]):
                raise SnapshotError(f"the snapshot is of the {what} {theirs}, not of {own}")
        stored = snapshot.arrays["vector"]
        if stored.shape != tuple(self._vector.shape):
            raise SnapshotError(f"the snapshot has {stored.size:,} parameters, the model has {self._vector.numel():,}")
        with torch.no_grad():
            self._vector.copy_(torch.from_numpy(stored))
        self._optimiser.zero_gradients()
        if "gradient" in snapshot.arrays:
            assert self._vector.grad is not None, "a learner with minibatches has a gradient to add to"
            self._vector.grad.copy_(torch.from_numpy(snapshot.arrays["gradient"]))
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._optimiser.load(snapshot.part("optimiser"))
        self._control_variate.load(snapshot.part("variate"))

    def _snapshot_kind(self) -> str:
        return f"{stored_class_name(type(self))} {self.snapshot_version}"
