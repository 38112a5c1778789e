"""From a task to the seed models of its systems."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from corpora.task import DESCRIPTION_FILE, Task
from learners.errors import LearnerError
from learners.nmt.pretraining import PretrainingConfig
from learners.nmt.processor import denormals_as_zero
from learners.seed_models import ORACLES, Build, Report, SeedModel, Shelf, Texts
from learners.systems import find_system

ORIGIN = "task.sha256"  # whose models a folder holds


def needed_models(systems: Sequence[str]) -> list[SeedModel]:
    """What these systems start from."""
    needed = {model for name in systems for model in find_system(name).needs}
    return [model for model in SeedModel if model in needed]


def make_seed_models(
    task: Path,
    folder: Path,
    wanted: Sequence[SeedModel],
    *,
    build: Build = Build(),  # noqa: B008 (it cannot be changed)
    schedule: PretrainingConfig | None = None,
    report: Report = lambda _model, _progress: None,
) -> list[SeedModel]:
    """Make what is missing and return it; a folder that holds models of another task or build is refused."""
    opened = Task.open(task)
    _claim(folder, task)
    shelf = Shelf(folder)
    shelf.check(wanted, build)
    if all(shelf.has(model) for model in wanted):
        return []
    out_of_domain = [(pair.source, pair.target) for pair in opened.pairs("out-of-domain")]
    phases = [part for part in opened.parts if part != "out-of-domain"] if set(ORACLES) & set(wanted) else []
    in_domain = [(pair.source, pair.target) for part in phases for pair in opened.distinct_pairs(part)]
    with denormals_as_zero():
        return shelf.make(wanted, Texts(out_of_domain, in_domain), build=build, schedule=schedule, report=report)


def refuse_models_of_another_task(folder: Path, task: Path) -> None:
    """An oracle has read the references of its own task only, and a seed model its own words."""
    origin = folder / ORIGIN
    if origin.exists() and origin.read_bytes() != _digest(task).encode():
        raise LearnerError(f"the models in {folder} are of another task than {task}: choose another folder")


def _claim(folder: Path, task: Path) -> None:
    """Models are of one task, which is written down."""
    refuse_models_of_another_task(folder, task)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f"{ORIGIN}.{os.getpid()}"  # renamed once it is whole: an empty one would fit no task
    aside.write_text(_digest(task), encoding="ascii")
    aside.replace(folder / ORIGIN)


def _digest(task: Path) -> str:
    return hashlib.sha256((Task.open(task).path / DESCRIPTION_FILE).read_bytes()).hexdigest()
