"""Progress bars, shown only on a terminal, and loading a task into a store with a bar for each phase."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn

from lambdas.store import Store
from simulator.tasks import load_task


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Return progress bars for standard error: shown only on a terminal, and removed when the work is done.

    Nothing is written where standard error is a log.
    """
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def load_with_progress(store: Store, task: Path) -> None:
    """Load every phase of a task into a store; phases that are loaded already stay as they are."""
    columns = (TextColumn("loading {task.description}"), BarColumn(), MofNCompleteColumn())
    with progress_bars(*columns) as bars:
        bar_of: dict[str, TaskID] = {}

        def advance(phase: str, done: int, total: int) -> None:
            if phase not in bar_of:
                bar_of[phase] = bars.add_task(phase, total=total)
            bars.update(bar_of[phase], completed=done)

        load_task(store, task, progress=advance)
