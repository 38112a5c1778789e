"""The finished runs of a study, saved beside its table, so that new systems can be compared without playing them again.

Only runs of one origin can be compared: the same task, and the same seed models. The same settings train another model
on another kind of processor, so the digests of the models are saved, too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.studies.study_run import FILE_SUFFIX, StudyRun
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.seed_model import SeedModel
from simulator.competition import RunSpec
from simulator.pretraining import needed_models
from task.atomic_files import write_bytes
from task.layout import Layout

ORIGIN_FILE = "origin.json"


@dataclass(frozen=True)
class TaskIdentity:
    """Which task runs were played on: the options that it was made with, and the digest of its description."""

    options: Mapping[str, object]
    task: str

    def __str__(self) -> str:
        return f"the task {self.task} with the options {dict(self.options)}"


class SavedRuns:
    """A folder with a file for each run, and one for their origin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read_all(self) -> list[StudyRun]:
        return [StudyRun.read(path) for path in sorted(self._folder.glob(f"*{FILE_SUFFIX}"))]

    def find(self, specs: Sequence[RunSpec], task: TaskIdentity, layout: Layout) -> list[StudyRun]:
        """Return the saved ones of these runs, which may have been saved under other names.

        Exit if they are of another task, incomplete, or began with an unknown seed model.
        """
        wanted = {(spec.system, spec.seed): spec for spec in specs}
        saved = {(run.spec.system, run.spec.seed): run for run in self.read_all()}
        found = [saved[key] for key in wanted if key in saved]
        if not found:
            return []
        saved_task, saved_models = self._origin()
        if saved_task != task:
            raise SystemExit(f"the runs in {self._folder} are of {saved_task}, not of {task}: give another --out")
        for model in _models_of(found):
            if model.name not in saved_models:
                self._refuse(f"an unknown seed model {model}")
        for run in found:
            if (len(run.rewards), len(run.passes)) != (layout.total, layout.blocks):
                raise SystemExit(f"{self._path(run.spec)} is incomplete: remove it, and the run is played again")
        return [replace(run, spec=wanted[run.spec.system, run.spec.seed]) for run in found]

    def merge_models(self, kept: Sequence[StudyRun], models: Mapping[str, str]) -> dict[str, str]:
        """Return the digests of all seed models of saved and new runs; exit if a model has two digests."""
        known = {model.name: self._origin()[1][model.name] for model in _models_of(kept)}
        for name, digest in models.items():
            if known.get(name, digest) != digest:
                self._refuse(f"another seed model {name} than the one here")
        return {**known, **models}

    def save(self, runs: Sequence[StudyRun], task: TaskIdentity, models: Mapping[str, str]) -> None:
        """Save these runs, and remove all others, which are not in the table."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for stale in self._folder.glob(f"*{FILE_SUFFIX}"):
            stale.unlink()
        origin = {"stream": asdict(task), "models": dict(models)}
        write_bytes(self._folder / ORIGIN_FILE, (json.dumps(origin, indent=1) + "\n").encode())
        for run in runs:
            run.write(self._path(run.spec))

    def _refuse(self, model: str) -> NoReturn:
        raise SystemExit(f"the runs in {self._folder} began with {model}: play all of them again, without --keep")

    def _path(self, spec: RunSpec) -> Path:
        return self._folder / f"{spec.label}{FILE_SUFFIX}"

    def _origin(self) -> tuple[TaskIdentity, dict[str, str]]:
        """Return the task, and the digests of seed models by name."""
        path = self._folder / ORIGIN_FILE
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return TaskIdentity(**values["stream"]), dict(values["models"])
        except (OSError, ValueError, LookupError, TypeError):
            raise SystemExit(
                f"{path} does not say which task these runs are of: play them again, without --keep"
            ) from None


def _models_of(runs: Sequence[StudyRun]) -> list[SeedModel[Any]]:
    """Return the seed models that these runs began with, and the models that those were made from."""
    return with_requirements(needed_models([run.spec.system for run in runs]))
