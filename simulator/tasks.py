"""From a task on disk to a store that can be played."""

from collections.abc import Callable
from pathlib import Path

from corpora.task import Task
from lambdas.registry import PhaseRecord
from lambdas.store import Store
from lambdas.task_loader import load_phase
from task.feedback import FeedbackSpec
from task.layout import Layout
from task.phases import PHASES, Phase

STATE = Path(".banditmt")  # what commands make when they are not told where, in the current folder
DEMO = STATE / "demo"  # of ``banditmt demo``, with all that belongs to it
DEMO_TASK = DEMO / "task"
DEMO_STORE = DEMO / "store.sqlite"
DEFAULT_STORE = f"sqlite:{STATE / 'store.sqlite'}"


def load_task(
    store: Store, path: Path, *, progress: Callable[[str, int, int], None] = lambda _phase, _done, _total: None
) -> list[PhaseRecord]:
    """Load every phase of a task; what is there already stays, and another text in its place is refused.

    ``progress`` is told the phase, and how many of how many pairs are done.
    """
    task = Task.open(path)
    feedback = FeedbackSpec(task.description.perturbation, task.description.seed)
    records = []
    for name, cut in task.description.phases.items():
        layout = Layout(cut.blocks, cut.block, cut.gap)
        phase = Phase(name, layout, repeatable=PHASES[name].repeatable)
        pairs = ((pair.source, pair.target) for pair in task.distinct_pairs(name))

        def report(done: int, name: str = name, total: int = layout.distinct) -> None:
            progress(name, done, total)

        records.append(load_phase(store, phase, pairs, feedback=feedback, progress=report))
    return records
