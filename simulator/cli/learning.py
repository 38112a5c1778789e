"""``banditmt pretrain``, ``systems``, ``play`` and ``compete``: make seed models, and let systems play.

The learners are imported when a command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from banditmt_client.client import KEY_VARIABLE, URL_VARIABLE
from corpora.task import Task
from lambdas.registry import Registry, UnknownPhaseError, check_name
from lambdas.store import open_store
from simulator.cli.progress_bars import load_with_progress, progress_bars
from simulator.cli.stores import StoreOption, open_existing_store, open_or_create_store
from simulator.tasks import DEFAULT_STORE, STATE

if TYPE_CHECKING:
    from learners.seed_models.progress import TrainingProgress
    from learners.seed_models.seed_model import SeedModel
    from simulator.competition import Competition, RunSpec, RunStatus
    from simulator.regret import BaselineRun

MODELS = STATE / "models"
RUNS = STATE / "runs"
TASK_ADVICE = "--task FOLDER loads a task first"
UNFOLDED = 1_000  # columns where there is no terminal: whoever searches the list wants a line for each system


def _folder(path: Path) -> Path:
    """Refuse what cannot be a folder, before it becomes an error from deep inside."""
    there = next(one for one in (path, *path.parents) if one.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"{there} is a file; name a folder, which is made if it is missing")
    return path


SystemName = Annotated[str, typer.Argument(metavar="SYSTEM", help="A system; `banditmt systems` lists them.")]
SystemNames = Annotated[list[str], typer.Argument(metavar="SYSTEM...", help="Systems; `banditmt systems` lists them.")]
Phase = Annotated[str, typer.Option(help="mock, dev or training.")]
TaskOption = Annotated[Path | None, typer.Option("--task", help="A task to load into the store first.")]
Url = Annotated[
    str | None,
    typer.Option(
        envvar=URL_VARIABLE,
        help="Play over HTTP at this address instead of in process. The environment's gives way to --task and --store.",
    ),
]
ApiKey = Annotated[str | None, typer.Option(help="The key for --url, unless BANDITMT_API_KEY has it.")]
Models = Annotated[Path, typer.Option(callback=_folder, help="The folder of the seed models.")]
Runs = Annotated[Path, typer.Option(callback=_folder, help="The folder for journals and snapshots of runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def systems(as_json: Json = False) -> None:
    """List the systems that can be played, and what each is."""
    from learners.systems.registry import SYSTEMS

    rows = [
        (system.name, system.description, system.origin, [model.name for model in system.seed_models])
        for system in SYSTEMS.values()
    ]
    if as_json:
        keys = ("name", "summary", "source", "needs")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    table = Table("system", "what it is", "from", "seed model")
    for name, description, origin, seed_models in rows:
        table.add_row(name, description, origin, ", ".join(seed_models) or "-")
    console = Console()
    if not console.is_terminal:
        console.width = UNFOLDED
    console.print(table, highlight=False)


def pretrain(
    task: Annotated[Path, typer.Option(help="The task whose text to train on.")],
    systems: Annotated[
        list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="Only what these need.", show_default=False)
    ] = None,
    models: Models = MODELS,
    size: Annotated[
        str, typer.Option(help="tiny (a test), small (a CPU) or paper (as published; wants a GPU).")
    ] = "small",
    architecture: Annotated[str, typer.Option(help="gru (as in the task) or transformer.")] = "gru",
    steps: Annotated[
        int | None, typer.Option(help="Training steps per model, at most; by size by default.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same models.", min=0)] = 0,
) -> None:
    """Make the seed models that systems start from; interrupted, the same command goes on."""
    from learners.nmt.pretraining import PretrainingConfig
    from learners.seed_models.catalogue import SEED_MODELS, with_requirements
    from learners.seed_models.settings import MAX_STEPS, Architecture, BuildSettings, Size
    from learners.seed_models.store import ModelStore
    from simulator.pretraining import needed_models, train_seed_models

    if size not in list(Size):
        raise typer.BadParameter(f"--size is one of {', '.join(Size)}, not {size!r}")
    if architecture not in list(Architecture):
        raise typer.BadParameter(f"--architecture is one of {', '.join(Architecture)}, not {architecture!r}")
    settings = BuildSettings(Size(size), Architecture(architecture))
    pretraining = PretrainingConfig(steps=steps or MAX_STEPS[settings.size], seed=seed)
    wanted = needed_models(systems) if systems else list(SEED_MODELS)
    with _training_bars(wanted) as report:
        trained = train_seed_models(task, models, wanted, settings=settings, pretraining=pretraining, report=report)
    store = ModelStore(models)
    kept = [model for model in with_requirements(wanted) if model not in trained and store.has(model)]
    if trained:
        typer.echo(f"{models}: made {', '.join(map(str, trained))}")
    if kept:
        typer.echo(f"{models}: kept {', '.join(map(str, kept))}, there already, whatever --steps and --seed say now")
    if not wanted:
        typer.echo(f"{models}: nothing is needed")


def play(
    context: typer.Context,
    system: SystemName,
    phase: Phase,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    url: Url = None,
    api_key: ApiKey = None,
    name: Annotated[str, typer.Option(help="The name on the leaderboard; the system's by default.")] = "",
    seed: Annotated[int, typer.Option(help="Of everything random in the learner.", min=0)] = 1,
    models: Models = MODELS,
    runs: Runs = RUNS,
    as_json: Json = False,
) -> None:
    """Play one run, or go on with the one that was interrupted."""
    from learners.systems.registry import find_system
    from simulator.competition import Competition, RunSpec, play_run

    find_system(system)
    spec = RunSpec(system, seed, name)
    check_name(spec.label, "system")
    competition = _ready(context, Competition(store, phase, models, runs), [system], task, url, api_key)
    with _playing_bars(competition, [spec]) as watch:
        status = play_run(competition, spec, watch=watch)
    _print_ends([status], as_json=as_json)


def compete(
    context: typer.Context,
    systems: SystemNames,
    phase: Phase,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    url: Url = None,
    api_key: ApiKey = None,
    seeds: Annotated[int, typer.Option(help="Runs per system that draws at random.", min=1)] = 1,
    processes: Annotated[int | None, typer.Option(help="Runs at a time; as many as cores by default.", min=1)] = None,
    models: Models = MODELS,
    runs: Runs = RUNS,
    as_json: Json = False,
) -> None:
    """Play many runs side by side; interrupted, the same command goes on."""
    from simulator import competition as competitions

    listed = competitions.run_specs(systems, seeds)
    competition = _ready(context, competitions.Competition(store, phase, models, runs), systems, task, url, api_key)
    with _playing_bars(competition, listed) as watch:
        ends = competitions.compete(competition, listed, processes=processes, watch=watch)
    _print_ends(ends, as_json=as_json)


def _ready(
    context: typer.Context,
    competition: "Competition",
    systems: Sequence[str],
    task: Path | None,
    url: str | None,
    api_key: str | None,
) -> "Competition":
    """The competition at its address, if it has one, else with a store that is prepared."""
    from simulator.competition import ServiceAddress
    from simulator.pretraining import check_models_are_of_task, needed_models

    in_process = [name for name in ("task", "store") if _typed(context, name)]
    if not url or (in_process and not _typed(context, "url")):
        if api_key:
            raise typer.BadParameter("--api-key is for playing over HTTP, but there is no --url")
        if task and needed_models(systems):
            check_models_are_of_task(competition.models, Task.open(task))
        _prepare(competition, task)
        return competition
    if in_process:
        raise typer.BadParameter(f"--{in_process[0]} is for playing in process; the service at --url has its own")
    if not (api_key or os.environ.get(KEY_VARIABLE)):
        raise typer.BadParameter(f"no API key: give --api-key, or set {KEY_VARIABLE} (the organiser hands it out)")
    address = ServiceAddress(url, api_key)
    with address.client() as client:  # what is wrong with the address, key or phase is said once for all runs
        _check_phase(competition, [phase.name for phase in client.phases()])
    return replace(competition, address=address)


def _typed(context: typer.Context, option: str) -> bool:
    """Is an option on the command line, which is meant for this command alone, rather than in the environment?"""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _prepare(competition: "Competition", task: Path | None) -> None:
    """See that the store is there, with the task in it if one is given, and has the phase."""
    if task:
        Task.open(task)  # what is wrong with it is said before a store is made for it
    opened = open_or_create_store(competition.store) if task else open_existing_store(competition.store, TASK_ADVICE)
    try:
        if task:
            opened.prepare()
            load_with_progress(opened, task)
        _check_phase(
            competition, [record.phase.name for record in Registry(opened).phases()], "" if task else TASK_ADVICE
        )
    finally:
        opened.close()


def _check_phase(competition: "Competition", known: Sequence[str], advice: str = "") -> None:
    if competition.phase not in known:
        raise UnknownPhaseError(competition.phase, known, advice)


def _print_ends(ends: list["RunStatus"], *, as_json: bool) -> None:
    """Say how each run ended; the exit code tells whether all did well."""
    from simulator.competition import RunState

    if as_json:
        keys = ("system", "name", "seed", "state", "rounds", "total", "reward", "mean_reward", "message")
        typer.echo(json.dumps([dict(zip(keys, _row(end), strict=True)) for end in ends], indent=2))
    else:
        for end in ends:
            mean = _mean(end)
            told = "" if mean is None else f"mean reward {mean:.4f}"
            words = [f"{end.spec.label}:", f"{end.state},", f"{end.rounds:,} rounds", told, end.message]
            typer.echo(" ".join(word for word in words if word))
    states = {end.state for end in ends}
    if RunState.FAILED in states:
        raise typer.Exit(1)
    if RunState.INTERRUPTED in states:
        raise KeyboardInterrupt


def _row(end: "RunStatus") -> tuple[object, ...]:
    who = end.spec
    return (who.system, who.label, who.seed, end.state, end.rounds, end.total, end.reward, _mean(end), end.message)


def _mean(end: "RunStatus") -> float | None:
    return None if end.reward is None or not end.rounds else end.reward / end.rounds


@contextmanager
def _playing_bars(competition: "Competition", runs: Sequence["RunSpec"]) -> Iterator[Callable[["RunStatus"], None]]:
    """A line for each run: reward, regret if it is known, rounds per second, time left.

    A failure is said at once, terminal or not: others may play for hours before all of them are listed.
    """
    from simulator.competition import RunState

    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,}"),
        TextColumn("reward {task.fields[mean]:.4f}{task.fields[regret]}"),
        TextColumn("{task.fields[speed]:.0f}/s"),
        TimeRemainingColumn(),
    )
    with progress_bars(*columns) as bars:
        shown: dict[str, TaskID] = {}
        oracles = {} if bars.disable else _oracles(competition, [run.label for run in runs])

        def watch(status: "RunStatus") -> None:
            label = status.spec.label
            if label not in shown:
                shown[label] = bars.add_task(
                    label, total=status.total, completed=status.rounds, mean=0.0, regret="", speed=0.0
                )
            speed = next(one for one in bars.tasks if one.id == shown[label]).speed or 0.0
            known = None
            if label in oracles and status.reward is not None:
                known = oracles[label].regret(status.rounds, status.reward)
            regret = "" if known is None else f" regret {known:z.4f}"
            bars.update(shown[label], completed=status.rounds, mean=_mean(status) or 0.0, regret=regret, speed=speed)
            if status.state is RunState.FAILED:
                said = f"banditmt: {label} failed: {' '.join(status.message.split())}"
                bars.console.print(said, markup=False, highlight=False, soft_wrap=True)

        yield watch


def _oracles(competition: "Competition", systems: Sequence[str]) -> dict[str, "BaselineRun"]:
    """By what regret is measured, if that is on this machine: in the cloud every round that is read costs money."""
    from simulator.regret import baseline_runs

    if competition.address or not competition.store.startswith("sqlite:"):
        return {}
    store = open_store(competition.store)
    try:
        return baseline_runs(store, competition.phase, competition.participant, systems)
    finally:
        store.close()


@contextmanager
def _training_bars(
    wanted: list["SeedModel[Any]"],
) -> Iterator[Callable[["SeedModel[Any]", "TrainingProgress | None"], None]]:
    """A line for each model, there from the beginning: steps, loss on the held-out part, time."""
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
    )
    with progress_bars(*columns) as bars:
        shown = {model: bars.add_task(model.name, total=None, status="") for model in wanted}

        def report(model: "SeedModel[Any]", progress: "TrainingProgress | None") -> None:
            if model not in shown:  # what a wanted one needs in turn
                shown[model] = bars.add_task(model.name, total=None, status="")
            if progress is None:
                bars.update(shown[model], visible=False)
                return
            bars.update(shown[model], total=progress.steps or None, completed=progress.step, status=progress.status)

        yield report
