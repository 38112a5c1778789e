"""Loads a task on disk into a store, and names the places where commands keep both by default."""

from collections.abc import Callable
from pathlib import Path

from corpora.task import Task
from lambdas.phase_record import PhaseRecord
from lambdas.store import Store
from lambdas.task_loader import load_phase
from lambdas.task_record import TaskRecord, read_task_record, write_task_record
from task.description import OUT_OF_DOMAIN, file_name

STATE = Path(".banditmt")  # in the current folder: what commands create unless an option says where
DEMO = STATE / "demo"  # everything that ``banditmt demo`` creates
DEMO_TASK = DEMO / "task"
DEMO_STORE = DEMO / "store.sqlite"
DEFAULT_STORE = f"sqlite:{STATE / 'store.sqlite'}"


def out_of_domain_files(path: Path) -> dict[str, Path]:
    """Return the gzip files of a task's out-of-domain text by language; none if it has no such text."""
    description = Task.open(path).description
    names = {language: file_name(OUT_OF_DOMAIN, language) for language in description.languages}
    return {language: path / name for language, name in names.items() if name in description.files}


def is_loaded(store: Store, path: Path) -> bool:
    """Return whether a store says of its task what a task directory says."""
    return read_task_record(store) == TaskRecord.from_description(Task.open(path).description)


def load_task(
    store: Store, path: Path, *, progress: Callable[[str, int, int], None] = lambda _phase, _done, _total: None
) -> list[PhaseRecord]:
    """Load every phase of a task into a store; phases that it has already stay.

    What the task says about itself is written last, in the words of the task that was loaded last. Raises LoadError if
    the store has a phase of the same name with other text. ``progress`` receives the phase, the
    number of pairs that are done, and their total.
    """
    task = Task.open(path)
    records = []
    language = task.description.languages.target
    for name, layout in task.description.phases.items():

        def report(done: int, name: str = name, total: int = layout.distinct) -> None:
            progress(name, done, total)

        phase, pairs = task.description.phase(name), task.distinct_pairs(name)
        records.append(load_phase(store, phase, pairs, language=language, progress=report))
    write_task_record(store, TaskRecord.from_description(task.description))
    return records
