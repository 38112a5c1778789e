"""From a task to the seed models of its systems."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from corpora.task import DESCRIPTION_FILE, Task
from learners.errors import LearnerError
from learners.nmt.pretraining import Schedule
from learners.nmt.processor import denormals_as_zero
from learners.seed_models import ORACLES, Report, SeedModel, Shelf, Size, Texts
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
    size: Size = Size.SMALL,
    schedule: Schedule | None = None,
    report: Report = lambda _model, _progress: None,
) -> Shelf:
    """Make what is missing; a folder that holds models of another task is refused."""
    opened = Task.open(task)
    _claim(folder, task)
    shelf = Shelf(folder)
    if all(shelf.has(model) for model in wanted):
        return shelf
    out_of_domain = [(pair.source, pair.target) for pair in opened.pairs("out-of-domain")]
    phases = [part for part in opened.parts if part != "out-of-domain"] if set(ORACLES) & set(wanted) else []
    in_domain = [(pair.source, pair.target) for part in phases for pair in opened.distinct_pairs(part)]
    with denormals_as_zero():
        shelf.make(wanted, Texts(out_of_domain, in_domain), size=size, schedule=schedule, report=report)
    return shelf


def _claim(folder: Path, task: Path) -> None:
    """Models are of one task, which is written down."""
    digest = hashlib.sha256((task / DESCRIPTION_FILE).read_bytes()).hexdigest()
    origin = folder / ORIGIN
    folder.mkdir(parents=True, exist_ok=True)
    if not origin.exists():
        origin.write_text(digest, encoding="ascii")
    elif origin.read_text(encoding="ascii") != digest:
        raise LearnerError(f"the models in {folder} are of another task than {task}: choose another folder")
