"""Progress bars, shown only on a terminal: of generating and loading tasks, of training models, of playing runs.

Training takes longest: without a terminal, it writes a line now and then instead.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lambdas.store import Store
from simulator.tasks import load_task

if TYPE_CHECKING:
    from learners.seed_models.progress import TrainingProgress
    from learners.seed_models.seed_model import SeedModel
    from simulator.competition import Competition, RunSpec, RunStatus

SECONDS_BETWEEN_LINES = 30  # of a log, at least


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Return progress bars for standard error: shown only on a terminal, and removed when the work is done."""
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


@contextmanager
def training_report(
    wanted: Sequence["SeedModel[Any]"],
) -> Iterator[Callable[["SeedModel[Any]", "TrainingProgress | None"], None]]:
    """Yield a callback that shows the training of each seed model: its steps, its held-out loss and its time.

    On a terminal, these are bars; in a log, lines, at least half a minute apart. When a model is trained, a line says
    why its training ended, on either.
    """
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
    )
    with progress_bars(*columns) as bars:
        bar_of = {model: bars.add_task(model.name, total=None, status="") for model in wanted}
        log = TrainingLog(lambda line: bars.console.print(line, markup=False, highlight=False, soft_wrap=True))

        def report(model: "SeedModel[Any]", progress: "TrainingProgress | None") -> None:
            if model not in bar_of:  # one that a wanted model is made from
                bar_of[model] = bars.add_task(model.name, total=None, status="")
            bar = bar_of[model]
            if progress is None:
                bars.update(bar, visible=False)
                log.finish(model.name)
            else:
                bars.update(bar, total=progress.steps or None, completed=progress.step, status=progress.status)
                log.update(model.name, progress.status, quiet=not bars.disable)

        yield report


class TrainingLog:
    """Lines about the training of one model after another, with the time that each has taken."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._start = self._last_line = clock()  # of the model that is being trained
        self._status = ""

    def update(self, model: str, status: str, *, quiet: bool = False) -> None:
        """Remember the status; write it unless ``quiet``, or if the last line is too recent."""
        self._status = status
        now = self._clock()
        if not quiet and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._write(f"{model}: {status} ({_duration(now - self._start)})")

    def finish(self, model: str) -> None:
        """Write the last status of a trained model; the next model begins."""
        now = self._clock()
        status = f", {self._status}" if self._status else ""
        self._write(f"{model}: trained{status} ({_duration(now - self._start)})")
        self._start, self._last_line, self._status = now, now, ""


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


@contextmanager
def run_bars(competition: "Competition", specs: Sequence["RunSpec"]) -> Iterator[Callable[["RunStatus"], None]]:
    """Yield a callback that shows each run: its mean reward, its regret where that is known, its speed, the time left.

    A failure is printed at once, terminal or not: other runs may take hours until the results are listed.
    """
    from simulator.competition import PlayState
    from simulator.regret import local_baseline_runs

    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,}"),
        TextColumn("reward {task.fields[mean]:.4f}{task.fields[regret]}"),
        TextColumn("{task.fields[speed]:.0f}/s"),
        TimeRemainingColumn(),
    )
    with progress_bars(*columns) as bars:
        bar_of: dict[str, TaskID] = {}
        oracles = {} if bars.disable else local_baseline_runs(competition, [spec.label for spec in specs])

        def regret(status: "RunStatus") -> str:
            oracle = oracles.get(status.spec.label)
            if oracle is None or status.reward is None:
                return ""
            per_round = oracle.regret(status.rounds, status.reward)
            return "" if per_round is None else f" regret {per_round:z.4f}"

        def watch(status: "RunStatus") -> None:
            label = status.spec.label
            if label not in bar_of:
                bar_of[label] = bars.add_task(
                    label, total=status.total, completed=status.rounds, mean=0.0, regret="", speed=0.0
                )
            speed = next(bar for bar in bars.tasks if bar.id == bar_of[label]).speed or 0.0
            mean = status.mean_reward or 0.0
            bars.update(bar_of[label], completed=status.rounds, mean=mean, regret=regret(status), speed=speed)
            if status.state is PlayState.FAILED:
                line = f"banditmt: {label} failed: {' '.join(status.message.split())}"
                bars.console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield watch


@contextmanager
def count_bar(job: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a callback that receives the number of further pairs or rounds that are done, and shows them."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with progress_bars(*columns) as bars:
        bar = bars.add_task(job, total=total)
        yield lambda pairs: bars.advance(bar, pairs)


@contextmanager
def download_bar(total: int) -> Iterator[Callable[[int], None]]:
    """Yield a callback that receives the number of further bytes that are downloaded, and shows them."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with progress_bars(*columns) as bars:
        bar = bars.add_task("downloading", total=total)
        yield lambda size: bars.advance(bar, size)
