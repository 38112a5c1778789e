"""``banditmt admin phase``: opens, freezes, closes, schedules and lists phases."""

from typing import Annotated

import typer

from lambdas.phase_record import PhaseRecord, PhaseSchedule, PhaseState
from lambdas.registry import Registry
from simulator.cli.row_tables import print_rows
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE
from task.times import iso_time, parse_time

app = typer.Typer(help="Open, freeze, close, schedule and list phases.", no_args_is_help=True)

PhaseName = Annotated[str, typer.Argument(help="The name of the phase.")]
Runs = Annotated[int | None, typer.Option(min=0, help="How many runs each participant may open.")]
TIME = "A time in ISO 8601 with its zone, such as 2027-03-01T12:00:00Z or 2027-03-01T13:00+01:00."


def _registry(address: str) -> Registry:
    return Registry(open_existing_store(address))


def _set_state(name: str, state: PhaseState, store: str, runs: int | None = None) -> None:
    registry = _registry(store)
    was_scheduled = registry.require_phase(name).schedule is not None
    record = registry.set_phase_state(name, state, runs=runs)
    typer.echo(f"phase {name} is {state.value}; each participant may open {record.runs:,} runs")
    if was_scheduled:
        typer.echo("this overrides its schedule, which no longer counts; `admin phase schedule` sets a new one")


@app.command("open")
def open_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE, runs: Runs = None) -> None:
    """Let participants open and play runs. Overrides a schedule."""
    _set_state(name, PhaseState.OPEN, store, runs)


@app.command("freeze")
def freeze_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Let participants finish their runs, but open no more. Overrides a schedule."""
    _set_state(name, PhaseState.FROZEN, store)


@app.command("close")
def close_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Accept no more rounds, and publish the leaderboard. Overrides a schedule."""
    _set_state(name, PhaseState.CLOSED, store)


@app.command("schedule")
def schedule_phase(
    name: PhaseName,
    store: StoreOption = DEFAULT_STORE,
    opens: Annotated[str | None, typer.Option(metavar="TIME", help=f"When it opens. {TIME}")] = None,
    closes: Annotated[str | None, typer.Option(metavar="TIME", help=f"When it closes. {TIME}")] = None,
) -> None:
    """Let a phase open and close at these times.

    The schedule counts until the phase is opened, frozen or closed by hand.
    """
    if opens is None and closes is None:
        raise typer.BadParameter("give --opens, --closes or both")
    schedule = PhaseSchedule(*(None if time is None else parse_time(time) for time in (opens, closes)))
    record = _registry(store).schedule_phase(name, schedule)
    typer.echo(f"phase {name} is {record.state.value} now; {_describe(schedule)}")


def _describe(schedule: PhaseSchedule) -> str:
    times = {"opens": iso_time(schedule.opens_at), "closes": iso_time(schedule.closes_at)}
    return "it " + " and ".join(f"{verb} at {time}" for verb, time in times.items() if time)


@app.command("list")
def list_phases(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the phases of the task.

    Times are in UTC. A phase without a schedule is opened and closed by hand. --json also has the signature of the
    reward.
    """
    columns = ["phase", "state", "set_by", "opens_at", "closes_at", "rounds", "repeatable", "runs", "feedback"]
    print_rows([_row(record) for record in _registry(store).phases()], columns, as_json)


def _row(record: PhaseRecord) -> dict[str, object]:
    schedule = record.schedule
    return {
        "phase": record.phase.name,
        "state": record.state.value,
        "set_by": "hand" if schedule is None else "schedule",
        "opens_at": schedule and iso_time(schedule.opens_at),
        "closes_at": schedule and iso_time(schedule.closes_at),
        "rounds": record.phase.layout.total,
        "repeatable": record.phase.repeatable,
        "runs": record.runs,
        "feedback": record.feedback.kind.value,
        "signature": record.feedback.signature,
    }
