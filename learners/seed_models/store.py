"""The model store: a folder with one file for each seed model."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from learners.errors import LearnerError, SnapshotError
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.seed_model import ModelT, SeedModel
from learners.seed_models.settings import BuildSettings


class ModelStore:
    """A folder of seed models; it is made when the first of them is trained."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, model: SeedModel[Any]) -> Path:
        """Return the file of a seed model, whether or not it exists."""
        return self.folder / f"{model.name}.model"

    def has(self, model: SeedModel[Any]) -> bool:
        return self.path(model).exists()

    def load(self, model: SeedModel[ModelT]) -> ModelT:
        """Return a copy of the model: a learner that changes it changes no other learner's."""
        with advise_pretrain():
            return model.load(self.existing_path(model))

    def digest(self, model: SeedModel[Any]) -> str:
        """Return the SHA-256 of the model's file, which tells it from one that was trained otherwise."""
        with self.existing_path(model).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def check(self, wanted: Iterable[SeedModel[Any]], settings: BuildSettings) -> None:
        """Raise ``LearnerError`` if a wanted model that is here is damaged, or was built with other settings."""
        for model in filter(self.has, with_requirements(wanted)):
            found = model.settings_of(self.load(model))
            if found and settings not in found:
                raise self._settings_error(model, found[0], settings)

    def _settings_error(self, model: SeedModel[Any], found: BuildSettings, wanted: BuildSettings) -> LearnerError:
        name, value = next((name, value) for name, value in asdict(found).items() if value != getattr(wanted, name))
        option = f"--{name} {value}"
        if isinstance(value, bool):
            option = f"--{name}" if value else f"--no-{name}"
        return LearnerError(
            f"the seed model {model} in {self.folder} has {name} {value}, not {getattr(wanted, name)}: "
            f"choose another folder, or {option}"
        )

    def existing_path(self, model: SeedModel[Any]) -> Path:
        """Return the file of a seed model. Raises LearnerError if it does not exist."""
        path = self.path(model)
        if not path.exists():
            raise LearnerError(f"there is no seed model {model} in {self.folder}: {model.advice}")
        return path


@contextmanager
def advise_pretrain() -> Iterator[None]:
    """Add to a ``SnapshotError`` that the damaged file can be trained again."""
    try:
        yield
    except SnapshotError as damage:
        raise SnapshotError(f"{damage}; remove it, and banditmt pretrain trains it again") from None
