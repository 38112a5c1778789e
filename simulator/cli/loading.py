"""Bars on the terminal, and loading a task into a store with a bar for each phase."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn

from lambdas.store import Store
from simulator.tasks import load_task


def bars_on_terminal(*columns: ProgressColumn) -> Progress:
    """Bars that are seen while somebody looks, and leave nothing behind: not a line in a log."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def load(store: Store, task: Path) -> None:
    """Load every phase of a task; what is there already stays."""
    columns = (TextColumn("loading {task.description}"), BarColumn(), MofNCompleteColumn())
    with bars_on_terminal(*columns) as bars:
        shown: dict[str, TaskID] = {}

        def advance(phase: str, done: int, total: int) -> None:
            if phase not in shown:
                shown[phase] = bars.add_task(phase, total=total)
            bars.update(shown[phase], completed=done)

        load_task(store, task, progress=advance)
