"""``banditmt admin run``: shows runs and their progress, takes runs off the leaderboard and puts them back."""

import json
from typing import Annotated, Any

import typer

from lambdas.registry import Registry, RegistryError
from lambdas.store import Store
from lambdas.withdrawals import Withdrawal, Withdrawals
from simulator.cli.row_tables import print_rows
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE
from task.rounds import TICKS, Run, RunProgress
from task.times import iso_time

app = typer.Typer(help="Show runs and their progress, withdraw and restore runs.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run, as `run list` shows it.")]
Why = Annotated[str, typer.Option(help="The reason, for the record. Participants do not see it.")]


def _row(progress: RunProgress, total: int, decision: Withdrawal | None) -> dict[str, Any]:
    opened, last = progress.run, progress.last
    return {
        "run": opened.id,
        "participant": opened.participant,
        "phase": opened.phase,
        "system": opened.system,
        "attempt": opened.attempt,
        "rounds": progress.pending,
        "total": total,
        "reward": last.true_ticks / TICKS if last else 0.0,
        "opened": iso_time(opened.opened_at),
        "last": iso_time(last.committed_at) if last else None,
        "withdrawn": decision.why if decision else None,
    }


def _rows(store: Store, wanted: list[Run]) -> list[dict[str, Any]]:
    totals = {record.phase.name: record.phase.layout.total for record in Registry(store).phases()}
    decisions = {run: each for phase in totals for run, each in Withdrawals(store).withdrawn(phase).items()}
    return [
        _row(store.progress(each.id) or RunProgress(each, None), totals[each.phase], decisions.get(each.id))
        for each in wanted
    ]


@app.command("list")
def list_runs(
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    only_participant: Annotated[
        str | None, typer.Option("--participant", help="Only runs of this participant.")
    ] = None,
    only_phase: Annotated[str | None, typer.Option("--phase", help="Only runs of this phase.")] = None,
) -> None:
    """List all runs with their progress. Rewards are true rewards, without feedback noise."""
    opened = open_existing_store(store)
    registry = Registry(opened)
    records = registry.phases() if only_phase is None else [registry.require_phase(only_phase)]
    players = registry.participants() if only_participant is None else [registry.require_participant(only_participant)]
    wanted = [each for record in records for who in players for each in registry.claims(who.name, record.phase.name)]
    rows = _rows(opened, wanted)
    columns = ["run", "participant", "phase", "system", "rounds", "total", "reward"]
    print_rows(rows, [*columns, "withdrawn"] if any(row["withdrawn"] for row in rows) else columns, as_json)


@app.command("show")
def show_run(identity: RunId, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show one run in full."""
    opened = open_existing_store(store)
    found = opened.opening(identity)
    if found is None:
        raise RegistryError(f"there is no run {identity}; `run list` shows all runs")
    (row,) = _rows(opened, [found])
    if as_json:
        typer.echo(json.dumps(row))
        return
    for name, value in row.items():
        typer.echo(f"{name:12} {value}")


@app.command("withdraw")
def withdraw_run(identity: RunId, why: Why, store: StoreOption = DEFAULT_STORE) -> None:
    """Take a run off the leaderboard.

    Its rounds stay, and can still be verified. `run restore` undoes it.
    """
    run = Withdrawals(open_existing_store(store)).withdraw(identity, why)
    typer.echo(f"run {identity} ({run.system} of {run.participant}) is off the leaderboard of {run.phase}")


@app.command("restore")
def restore_run(identity: RunId, why: Why, store: StoreOption = DEFAULT_STORE) -> None:
    """Put a withdrawn run back on the leaderboard."""
    run = Withdrawals(open_existing_store(store)).restore(identity, why)
    typer.echo(f"run {identity} ({run.system} of {run.participant}) is back on the leaderboard of {run.phase}")
