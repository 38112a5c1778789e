"""``banditmt pretrain``, ``systems``, ``play`` and ``compete``: make seed models, and let systems play.

The learners are imported when a command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lambdas.store import open_store
from simulator.cli.loading import bars_on_terminal, load
from simulator.tasks import DEFAULT_STORE, STATE

if TYPE_CHECKING:
    from learners.seed_models import SeedModel, Standing
    from simulator.competition import Status

MODELS = STATE / "models"
RUNS = STATE / "runs"

SystemName = Annotated[str, typer.Argument(metavar="SYSTEM", help="A system; `banditmt systems` lists them.")]
SystemNames = Annotated[list[str], typer.Argument(metavar="SYSTEM...", help="Systems; `banditmt systems` lists them.")]
Phase = Annotated[str, typer.Option(help="mock, dev or training.")]
TaskOption = Annotated[Path | None, typer.Option("--task", help="A task to load into the store first.")]
StoreOption = Annotated[str, typer.Option("--store", help="sqlite:PATH or dynamodb:URL.")]
Models = Annotated[Path, typer.Option(help="The folder of the seed models.")]
Runs = Annotated[Path, typer.Option(help="The folder for journals and snapshots of runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def systems(as_json: Json = False) -> None:
    """List the systems that can be played, and what each is."""
    from learners.systems import ALL

    if as_json:
        listed = [
            {"name": one.name, "summary": one.summary, "source": one.source, "needs": list(one.needs)} for one in ALL
        ]
        typer.echo(json.dumps(listed, indent=2))
        return
    table = Table("system", "what it is", "from", "seed model")
    for one in ALL:
        table.add_row(one.name, one.summary, one.source, ", ".join(one.needs) or "-")
    Console().print(table, highlight=False)


def pretrain(
    task: Annotated[Path, typer.Option(help="The task whose text to train on.")],
    systems: Annotated[
        list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="Only what these need.", show_default=False)
    ] = None,
    models: Models = MODELS,
    size: Annotated[
        str, typer.Option(help="tiny (a test), small (a CPU) or paper (as published; wants a GPU).")
    ] = "small",
    steps: Annotated[int, typer.Option(help="Training steps per model, at most.", min=1)] = 5_000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same models.", min=0)] = 0,
) -> None:
    """Make the seed models that systems start from; interrupted, the same command goes on."""
    from learners.nmt.pretraining import Schedule
    from learners.seed_models import SeedModel, Size
    from simulator.pretraining import make_seed_models, needed_models

    if size not in list(Size):
        raise typer.BadParameter(f"--size is one of {', '.join(Size)}, not {size!r}")
    wanted = needed_models(systems) if systems else list(SeedModel)
    with _training_bars(wanted) as report:
        make_seed_models(
            task, models, wanted, size=Size(size), schedule=Schedule(steps=steps, seed=seed), report=report
        )
    typer.echo(f"{models}: {', '.join(wanted) or 'nothing is needed'}")


def play(
    system: SystemName,
    phase: Phase,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    url: Annotated[str | None, typer.Option(help="Play over HTTP at this address instead of in process.")] = None,
    api_key: Annotated[str | None, typer.Option(help="The key for --url, unless BANDITMT_API_KEY has it.")] = None,
    name: Annotated[str, typer.Option(help="The name on the leaderboard; the system's by default.")] = "",
    seed: Annotated[int, typer.Option(help="Of everything random in the learner.", min=0)] = 1,
    models: Models = MODELS,
    runs: Runs = RUNS,
    as_json: Json = False,
) -> None:
    """Play one run, or go on with the one that was interrupted."""
    from banditmt_client import Client
    from learners.systems import find_system
    from simulator.competition import Arena, Contestant, play_here, play_with

    if url and task:
        raise typer.BadParameter("--task is for playing in process; the service at --url has its own")
    find_system(system)
    contestant = Contestant(system, seed, name)
    arena = Arena(store, phase, models, runs)
    with _playing_bars() as watch:
        if url:
            with Client(api_key, url) as client:
                status = play_with(client, arena, contestant, watch=watch)
        else:
            _prepare(store, task)
            status = play_here(arena, contestant, watch=watch)
    _print_ends([status], as_json=as_json)


def compete(
    systems: SystemNames,
    phase: Phase,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    seeds: Annotated[int, typer.Option(help="Runs per system that draws at random.", min=1)] = 1,
    processes: Annotated[int | None, typer.Option(help="Runs at a time; as many as cores by default.", min=1)] = None,
    models: Models = MODELS,
    runs: Runs = RUNS,
    as_json: Json = False,
) -> None:
    """Play many runs side by side; interrupted, the same command goes on."""
    from simulator import competition

    listed = competition.contestants(systems, seeds)
    _prepare(store, task)
    with _playing_bars() as watch:
        ends = competition.compete(
            competition.Arena(store, phase, models, runs), listed, processes=processes, watch=watch
        )
    _print_ends(ends, as_json=as_json)


def _prepare(store: str, task: Path | None) -> None:
    """See that the store is there, with the task in it."""
    if store == DEFAULT_STORE:
        STATE.mkdir(exist_ok=True)
    opened = open_store(store)
    try:
        opened.prepare()
        if task:
            load(opened, task)
    finally:
        opened.close()


def _print_ends(ends: list["Status"], *, as_json: bool) -> None:
    """Say how each run ended; the exit code tells whether all did well."""
    from simulator.competition import State

    if as_json:
        keys = ("system", "name", "seed", "state", "rounds", "total", "reward", "mean_reward", "message")
        typer.echo(json.dumps([dict(zip(keys, _row(end), strict=True)) for end in ends], indent=2))
    else:
        for end in ends:
            mean = f"mean reward {_mean(end):.4f}" if end.rounds else ""
            words = [f"{end.contestant.label}:", f"{end.state},", f"{end.rounds:,} rounds", mean, end.message]
            typer.echo(" ".join(word for word in words if word))
    states = {end.state for end in ends}
    if State.FAILED in states:
        raise typer.Exit(1)
    if State.INTERRUPTED in states:
        raise KeyboardInterrupt


def _row(end: "Status") -> tuple[object, ...]:
    who = end.contestant
    return (who.system, who.label, who.seed, end.state, end.rounds, end.total, end.reward, _mean(end), end.message)


def _mean(end: "Status") -> float | None:
    return end.reward / end.rounds if end.rounds else None


@contextmanager
def _playing_bars() -> Iterator[Callable[["Status"], None]]:
    """A line for each run: reward, rounds per second, time left."""
    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,}"),
        TextColumn("reward {task.fields[mean]:.4f}"),
        TextColumn("{task.fields[speed]:.0f}/s"),
        TimeRemainingColumn(),
    )
    with bars_on_terminal(*columns) as bars:
        shown: dict[str, TaskID] = {}

        def watch(status: "Status") -> None:
            label = status.contestant.label
            if label not in shown:
                shown[label] = bars.add_task(label, total=status.total, completed=status.rounds, mean=0.0, speed=0.0)
            speed = next(one for one in bars.tasks if one.id == shown[label]).speed or 0.0
            bars.update(shown[label], completed=status.rounds, mean=_mean(status) or 0.0, speed=speed)

        yield watch


@contextmanager
def _training_bars(wanted: list["SeedModel"]) -> Iterator[Callable[["SeedModel", "Standing | None"], None]]:
    """A line for each model, there from the beginning: steps, loss on the held-out part, time."""
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.fields[standing]}"),
        TimeElapsedColumn(),
    )
    with bars_on_terminal(*columns) as bars:
        shown = {model: bars.add_task(model, total=None, standing="") for model in wanted}

        def report(model: "SeedModel", progress: "Standing | None") -> None:
            if model not in shown:  # what a wanted one needs in turn
                shown[model] = bars.add_task(model, total=None, standing="")
            if progress is None:
                bars.update(shown[model], visible=False)
                return
            bars.update(shown[model], total=progress.steps or None, completed=progress.step, standing=progress.standing)

        yield report
