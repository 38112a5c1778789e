"""Loads a task on disk into a store, and names the places where commands keep both by default."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from corpora.task import Task
from lambdas.registry import PhaseRecord
from lambdas.store import Store
from lambdas.task_loader import load_phase
from task.phases import PHASES

STATE = Path(".banditmt")  # in the current folder: what commands create unless they are told where
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
    for name, layout in task.description.phases.items():
        phase = replace(PHASES[name], layout=layout)
        pairs = ((pair.source, pair.target) for pair in task.distinct_pairs(name))

        def report(done: int, name: str = name, total: int = layout.distinct) -> None:
            progress(name, done, total)

        records.append(load_phase(store, phase, pairs, feedback=task.description.feedback, progress=report))
    return records
