"""Loads a task on disk into a store, and names the places where commands keep both by default."""

from collections.abc import Callable
from pathlib import Path

from corpora.task import Task
from lambdas.phase_record import PhaseRecord
from lambdas.store import Store
from lambdas.task_loader import load_phase

STATE = Path(".banditmt")  # in the current folder: what commands create unless an option says where
DEMO = STATE / "demo"  # everything that ``banditmt demo`` creates
DEMO_TASK = DEMO / "task"
DEMO_STORE = DEMO / "store.sqlite"
DEFAULT_STORE = f"sqlite:{STATE / 'store.sqlite'}"


def load_task(
    store: Store, path: Path, *, progress: Callable[[str, int, int], None] = lambda _phase, _done, _total: None
) -> list[PhaseRecord]:
    """Load every phase of a task into a store; phases that it has already stay.

    Raises LoadError if the store has a phase of the same name with other text. ``progress`` receives the phase, the
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
    return records
