"""What came of the runs of a study, kept beside its table: others can be compared with it without playing it again.

Only runs of one origin can be compared: the same stream, and the same seed models. The same recipe makes another model
on another kind of processor, so their digests are kept, too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.studies.study_run import SUFFIX, StudyRun
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.seed_model import SeedModel
from simulator.competition import RunSpec
from simulator.pretraining import needed_models
from task.layout import Layout

ORIGIN = "origin.json"


@dataclass(frozen=True)
class TaskIdentity:
    """What is played: the options that a task was made with, and its digest."""

    options: Mapping[str, object]
    task: str


class SavedRuns:
    """A folder with a file for each run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[StudyRun]:
        return [StudyRun.read(path) for path in sorted(self._folder.glob(f"*{SUFFIX}"))]

    def find(self, runs: Sequence[RunSpec], stream: TaskIdentity, layout: Layout) -> list[StudyRun]:
        """Those of these runs that are here; refused if they are of another stream, not whole, or do not tell."""
        found = [StudyRun.read(path) for run in runs if (path := self._path(run)).exists()]
        if found and (there := self._origin()[0]) != stream:
            raise SystemExit(f"the runs in {self._folder} are of {there}, not of {stream}: give another --out")
        if found and (untold := [model for model in _models_of(found) if model.name not in self._origin()[1]]):
            self._refuse(f"an unknown seed model {untold[0]}")
        for run in found:
            if (len(run.rewards), len(run.passes)) != (layout.total, layout.blocks):
                raise SystemExit(f"{self._path(run.spec)} is not a whole run: remove it, and it is played again")
        return found

    def join(self, kept: Sequence[StudyRun], models: Mapping[str, str]) -> dict[str, str]:
        """All seed models that kept runs and new ones began with; refused if they did not begin alike."""
        known = {model.name: self._origin()[1][model.name] for model in _models_of(kept)}
        for name, digest in models.items():
            if known.get(name, digest) != digest:
                self._refuse(f"another seed model {name} than is here")
        return {**known, **models}

    def save(self, played: Sequence[StudyRun], stream: TaskIdentity, models: Mapping[str, str]) -> None:
        """Keep these runs and no others: nobody should find here what is not in the table."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for stale in self._folder.glob(f"*{SUFFIX}"):
            stale.unlink()
        origin = {"stream": asdict(stream), "models": dict(models)}
        (self._folder / ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
        for run in played:
            run.write(self._path(run.spec))

    def _refuse(self, what: str) -> NoReturn:
        raise SystemExit(f"the runs in {self._folder} began with {what}: play all of them again, without --keep")

    def _path(self, run: RunSpec) -> Path:
        return self._folder / f"{run.label}{SUFFIX}"

    def _origin(self) -> tuple[TaskIdentity, dict[str, str]]:
        """The stream, and the digests of seed models by name."""
        path = self._folder / ORIGIN
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return TaskIdentity(**values["stream"]), dict(values["models"])
        except (OSError, ValueError, LookupError, TypeError):
            raise SystemExit(
                f"{path} does not tell where these runs are from: play them again, without --keep"
            ) from None


def _models_of(runs: Sequence[StudyRun]) -> list[SeedModel[Any]]:
    """What these runs began with, and what that was made of."""
    return with_requirements(needed_models([run.spec.system for run in runs]))
