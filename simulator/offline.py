"""Offline training: from a log of feedback and a seed model to another seed model."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from learners.errors import LearnerError
from learners.nmt.processor import denormals_as_zero
from learners.offline.logged_round import LoggedRound
from learners.offline.training import OfflineConfig, OfflineResult, Validation, train_offline
from learners.seed_models.catalogue import SEED_MODELS
from learners.seed_models.offline import OfflineSeedModel, adopt_parameters, policy_of
from learners.seed_models.seed_model import SeedModel
from learners.seed_models.store import ModelStore
from task.names import NAME_RULE, is_name


@dataclass(frozen=True)
class OfflineJob:
    """A seed model to be trained on a log, and the file to be written."""

    model: OfflineSeedModel
    models: Path  # the folder of the seed model that it starts from, and of the new one
    name: str  # of the new one
    config: OfflineConfig
    seed: int = 0

    @property
    def path(self) -> Path:
        return self.models / f"{self.name}.model"

    def check(self) -> None:
        """Raise LearnerError unless the file can be written: before a log of any length is read."""
        if not is_name(self.name):
            raise LearnerError(f"{self.name!r} is no name of a seed model: a name has {NAME_RULE}")
        if self.name in {model.name for model in SEED_MODELS}:
            raise LearnerError(f"{self.name} is the seed model of another system: choose another --out")
        if self.path.exists():
            raise LearnerError(f"{self.path} exists already: choose another --out, or remove it")

    def run(self, rounds: Sequence[LoggedRound], watch: Callable[[Validation], None] = lambda _: None) -> OfflineResult:
        """Train and write the model. If it was interrupted before, resume."""
        self.check()
        start: SeedModel[Any] = self.model.starts_from
        model = ModelStore(self.models).load(start)
        checkpoints = self.models / f"{self.name}.training"
        checkpoints.mkdir(exist_ok=True)
        try:
            with FileLock(checkpoints / "lock", timeout=0), denormals_as_zero():
                policy = policy_of(model, self.config.policy)
                result = train_offline(
                    policy, self.model.method, rounds, self.config, seed=self.seed, folder=checkpoints, watch=watch
                )
                adopt_parameters(model, policy)
                self.model.save(model, self.path)
                shutil.rmtree(checkpoints)
        except Timeout:
            raise LearnerError(f"another process is training {self.name} in {self.models}") from None
        return result
