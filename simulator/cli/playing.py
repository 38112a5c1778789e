"""``banditmt play`` and ``compete``: play one run, or many side by side.

The learners are imported when a command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banditmt_client.client import KEY_VARIABLE, URL_VARIABLE
from banditmt_client.text import printable
from corpora.task import Task
from lambdas.registry import Registry, UnknownPhaseError, check_name
from simulator.cli.folders import DEFAULT_MODELS, DEFAULT_RUNS, ModelsOption, RunsOption
from simulator.cli.progress_bars import load_with_progress, run_bars
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, open_or_create_store
from simulator.tasks import DEFAULT_STORE
from simulator.tracking import check_tracker

if TYPE_CHECKING:
    from simulator.competition import Competition, RunStatus

TASK_ADVICE = "--task FOLDER loads a task first"

SystemName = Annotated[str, typer.Argument(metavar="SYSTEM", help="The system; `banditmt systems` lists them.")]
SystemNames = Annotated[
    list[str], typer.Argument(metavar="SYSTEM...", help="The systems; `banditmt systems` lists them.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting of the system; can be repeated. `banditmt systems --show SYSTEM` lists them.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A TOML file of settings; --set overrides it.", show_default=False)
]
TrackOption = Annotated[
    str | None,
    typer.Option("--track", help="Also log to tensorboard, mlflow or wandb; each needs its extra.", show_default=False),
]
PhaseOption = Annotated[str, typer.Option("--phase", help="The phase: mock, dev or training.")]
TaskOption = Annotated[Path | None, typer.Option("--task", help="Load this task into the store first.")]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar=URL_VARIABLE,
        help="Play over HTTP at this address, instead of in process. --task and --store override the variable.",
    ),
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="ray[:ADDRESS]",
        help="Play on a Ray cluster: HOST:PORT of its head node, or auto on it. Default: one of this machine alone.",
        show_default=False,
    ),
]
ApiKeyOption = Annotated[str | None, typer.Option("--api-key", help=f"The API key for --url. Default: {KEY_VARIABLE}.")]


def play(
    context: typer.Context,
    system: SystemName,
    phase: PhaseOption,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    api_key: ApiKeyOption = None,
    name: Annotated[
        str,
        typer.Option(
            help="The name on the leaderboard. Default: SYSTEM, changed settings, and .sN with another seed than 1."
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="The random seed of the learner.", min=0)] = 1,
    assignments: SetOption = None,
    config: ConfigOption = None,
    track: TrackOption = None,
    models: ModelsOption = DEFAULT_MODELS,
    runs: RunsOption = DEFAULT_RUNS,
    as_json: JsonOption = False,
) -> None:
    """Play one run. If it is interrupted, the same command resumes it."""
    from simulator.competition import PLAYED_BEFORE, Competition, play_run, seeded_run

    competition = Competition(store, phase, models, runs, tracker=_check_tracker(track))
    spec = seeded_run(system, seed, _settings(config, assignments))
    spec = replace(spec, name=name) if name else competition.under_begun_names([spec])[0]
    check_name(spec.label, "system")
    competition = _at_service(context, competition, [system], task, url, api_key)
    with run_bars(competition, [spec]) as watch:
        status = play_run(competition, spec, watch=watch)
    if status.message == PLAYED_BEFORE:
        status = replace(status, message=f"{PLAYED_BEFORE}; another --name plays it again")
    _print_results([status], as_json=as_json)


def compete(
    context: typer.Context,
    systems: SystemNames,
    phase: PhaseOption,
    task: TaskOption = None,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    api_key: ApiKeyOption = None,
    seeds: Annotated[
        int, typer.Option(help="The number of runs of each system with randomness: seeds 1 to N.", min=1)
    ] = 1,
    assignments: SetOption = None,
    config: ConfigOption = None,
    processes: Annotated[
        int | None, typer.Option(help="Runs at a time. Default: the number of cores; with --on, all.", min=1)
    ] = None,
    on: OnOption = None,
    track: TrackOption = None,
    models: ModelsOption = DEFAULT_MODELS,
    runs: RunsOption = DEFAULT_RUNS,
    as_json: JsonOption = False,
) -> None:
    """Play many runs side by side. If it is interrupted, the same command resumes it."""
    from simulator import competition as competitions
    from simulator.cluster.place import check_place, open_place

    check_place(on, tracker=track)
    competition = competitions.Competition(store, phase, models, runs, tracker=_check_tracker(track))
    specs = competition.under_begun_names(competitions.run_specs(systems, seeds, _settings(config, assignments)))
    competition = _at_service(context, competition, systems, task, url, api_key)
    with open_place(on) as start, run_bars(competition, specs) as watch:
        statuses = competitions.compete(competition, specs, processes=processes, watch=watch, start=start)
    _print_results(statuses, as_json=as_json)


def _check_tracker(name: str | None) -> str | None:
    """Return the name of a tracker; raise TrackingError if it cannot be used, before anything is begun."""
    if name is not None:
        check_tracker(name)
    return name


def _settings(config: Path | None, assignments: Sequence[str] | None) -> dict[str, str]:
    """Return the settings of a file and of the command line, which has the last word."""
    from learners.settings import parse_assignments, read_settings

    return {**(read_settings(config) if config else {}), **parse_assignments(assignments or ())}


def _at_service(
    context: typer.Context,
    competition: "Competition",
    systems: Sequence[str],
    task: Path | None,
    url: str | None,
    api_key: str | None,
) -> "Competition":
    """Return the competition at the service to play at: one over HTTP, or one in process on a prepared store."""
    from simulator.competition import ServiceAddress
    from simulator.pretraining import check_models_are_of_task, needed_models

    in_process = [name for name in ("task", "store") if _is_on_command_line(context, name)]
    if not url or (in_process and not _is_on_command_line(context, "url")):
        if api_key:
            raise typer.BadParameter("--api-key is for playing over HTTP, but there is no --url")
        if task and needed_models(systems):
            check_models_are_of_task(competition.models, Task.open(task))
        _prepare_store(competition, task)
        return competition
    if in_process:
        raise typer.BadParameter(f"--{in_process[0]} is for playing in process; the service at --url has its own")
    if not (api_key or os.environ.get(KEY_VARIABLE)):
        raise typer.BadParameter(f"no API key: give --api-key, or set {KEY_VARIABLE} (the organiser issues keys)")
    address = ServiceAddress(url, api_key)
    with address.client() as client:  # reports a wrong address, key or phase once, instead of once per run
        _check_phase(competition, [phase.name for phase in client.phases()])
    return replace(competition, address=address)


def _is_on_command_line(context: typer.Context, option: str) -> bool:
    """Return whether an option was typed for this command, rather than set in the environment."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _prepare_store(competition: "Competition", task: Path | None) -> None:
    """Load the task, if there is one, into the store, and check that the store has the phase."""
    if task:
        Task.open(task)  # reports what is wrong with it before a store is created
    opened = open_or_create_store(competition.store) if task else open_existing_store(competition.store, TASK_ADVICE)
    try:
        if task:
            opened.prepare()
            load_with_progress(opened, task)
        phases = [record.phase.name for record in Registry(opened).phases()]
        _check_phase(competition, phases, "" if task else TASK_ADVICE)
    finally:
        opened.close()


def _check_phase(competition: "Competition", known: Sequence[str], advice: str = "") -> None:
    if competition.phase not in known:
        raise UnknownPhaseError(competition.phase, known, advice)


def _print_results(statuses: Sequence["RunStatus"], *, as_json: bool) -> None:
    """Print how each run ended, and exit with the code that says whether all of them finished."""
    from simulator.competition import PlayState

    if as_json:
        typer.echo(json.dumps([_as_json(status) for status in statuses], indent=2))
    else:
        for status in statuses:
            mean = "" if status.mean_reward is None else f", mean reward {status.mean_reward:.4f}"
            message = f"; {status.message}" if status.message else ""
            typer.echo(printable(f"{status.spec.label}: {status.state}, {status.rounds:,} rounds{mean}{message}"))
    states = {status.state for status in statuses}
    if PlayState.FAILED in states:
        raise typer.Exit(1)
    if PlayState.INTERRUPTED in states:
        raise KeyboardInterrupt


def _as_json(status: "RunStatus") -> dict[str, object]:
    return {
        "system": status.spec.system,
        "name": status.spec.label,
        "seed": status.spec.seed,
        "settings": dict(status.spec.settings),
        "state": status.state,
        "rounds": status.rounds,
        "total": status.total,
        "reward": status.reward,
        "mean_reward": status.mean_reward,
        "message": status.message,
    }
