"""``banditmt admin``: participants and their keys, phases and their states, runs and their progress, token keys.

The commands for the leaderboard are in ``admin_leaderboard``, those for archives and backups in ``admin_archives``.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from lambdas.erasure import Eraser
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry, RegistryError
from lambdas.store import Store
from simulator.aws.usage_plan import UsagePlan
from simulator.cli import admin_archives, admin_leaderboard
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.errors import UsagePlanError
from simulator.tasks import DEFAULT_STORE
from task.rounds import TICKS, Run, RunProgress

app = typer.Typer(
    help="Manage a task: participants, keys, phases, runs, the leaderboard, archives.", no_args_is_help=True
)
participant = typer.Typer(help="Manage participants.", no_args_is_help=True)
key = typer.Typer(
    help="Manage the API keys of a participant. A key is shown once, and stored as its hash.", no_args_is_help=True
)
phase = typer.Typer(help="Open, freeze, close and list phases.", no_args_is_help=True)
run = typer.Typer(help="Show runs and their progress.", no_args_is_help=True)
tokens = typer.Typer(help="Manage the keys that sign sentence ids.", no_args_is_help=True)
for group, name in ((participant, "participant"), (key, "key"), (phase, "phase"), (run, "run"), (tokens, "tokens")):
    app.add_typer(group, name=name)
app.add_typer(admin_leaderboard.app)
app.add_typer(admin_archives.app)

Name = Annotated[str, typer.Argument(help="The name of the participant.")]
PhaseName = Annotated[str, typer.Argument(help="The name of the phase.")]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--usage-plan",
        envvar="BANDITMT_USAGE_PLAN",
        help="On AWS: the stack's output UsagePlan. The key is then registered with API Gateway too.",
    ),
]
Runs = Annotated[int | None, typer.Option(min=0, help="How many runs each participant may open.")]


def _registry(address: str) -> Registry:
    return Registry(open_existing_store(address))


def _plan(usage_plan: str | None, address: str) -> UsagePlan | None:
    """Return the usage plan of the stack whose tables are the store, if one is given."""
    if usage_plan is None:
        return None
    region = stack_region(address)
    if region is None:
        raise UsagePlanError(f"a usage plan needs the store of its stack, dynamodb:REGION, but the store is {address}")
    return UsagePlan.open(usage_plan, region)


def _hand_out(name: str, api_key: str, plan: UsagePlan | None, as_json: bool) -> None:
    """Register a key with API Gateway, then print it.

    If that fails, the key is never printed, and `key rotate` replaces it.
    """
    if plan is not None:
        plan.add_key(name, api_key)
    _print_key(name, api_key, as_json)


def _print_key(name: str, api_key: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"participant": name, "api_key": api_key}))
    else:
        typer.echo(f"API key of {name}, shown only this once: {api_key}")


def _print_rows(rows: list[dict[str, Any]], columns: list[str], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(*(Column(column, no_wrap=column == columns[0]) for column in columns), box=None)
    for row in rows:
        table.add_row(*(_text(row[column]) for column in columns))
    Console().print(table)


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def _when(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


# participants


@participant.command("add")
def add_participant(
    name: Name, store: StoreOption = DEFAULT_STORE, usage_plan: PlanOption = None, as_json: JsonOption = False
) -> None:
    """Register a participant and print the API key."""
    plan = _plan(usage_plan, store)
    _hand_out(name, _registry(store).add_participant(name), plan, as_json)


@participant.command("list")
def list_participants(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the participants and their valid keys."""
    registry = _registry(store)
    rows = [
        {
            "participant": each.name,
            "since": _when(each.created_at),
            "state": "disabled" if each.disabled else "enabled",
            "keys": [kept.short_digest for kept in registry.keys(each.name) if not kept.revoked],
        }
        for each in registry.participants()
    ]
    _print_rows(rows, ["participant", "since", "state", "keys"], as_json)


@participant.command("disable")
def disable_participant(name: Name, store: StoreOption = DEFAULT_STORE) -> None:
    """Refuse all keys of a participant until `enable`. The runs stay."""
    _registry(store).set_disabled(name, True)
    typer.echo(f"{name} is disabled (warm functions apply this within ten seconds)")


@participant.command("enable")
def enable_participant(name: Name, store: StoreOption = DEFAULT_STORE) -> None:
    """Accept the keys of a disabled participant again."""
    _registry(store).set_disabled(name, False)
    typer.echo(f"{name} is enabled")


@participant.command("erase")
def erase_participant(
    name: Name,
    store: StoreOption = DEFAULT_STORE,
    usage_plan: PlanOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW", help="Rename a system whose name identifies the participant (may be repeated)."
        ),
    ] = None,
) -> None:
    """Replace the name of a disabled participant by a pseudonym. Rounds stay and can be verified. Cannot be undone."""
    plan, opened, systems = _plan(usage_plan, store), open_existing_store(store), _parse_renames(system or [])
    Eraser(opened).begin(name, systems)
    if plan is not None:
        plan.remove_keys(name)  # if this fails, the same command can be given again
    pseudonym = Eraser(opened).erase(name)
    typer.echo(f"{name} is {pseudonym} from now on; earlier archives, backups and logs still contain the name")
    registry = Registry(opened)
    kept = {run.system for record in registry.phases() for run in registry.claims(pseudonym, record.phase.name)}
    if kept:
        typer.echo(f"names of its systems: {', '.join(sorted(kept))}")


def _parse_renames(options: list[str]) -> dict[str, str]:
    pairs = [option.partition("=") for option in options]
    for option, (old, sign, new) in zip(options, pairs, strict=True):
        if not (old and sign and new):
            raise typer.BadParameter(f"{option!r} is not OLD=NEW, such as acme-el=system-1")
    return {old: new for old, _, new in pairs}


# keys


@key.command("rotate")
def rotate_key(
    name: Name,
    store: StoreOption = DEFAULT_STORE,
    usage_plan: PlanOption = None,
    as_json: JsonOption = False,
    keep_old: Annotated[bool, typer.Option(help="Keep the old keys valid until they are revoked.")] = False,
) -> None:
    """Create a new key, then revoke the old ones. Whatever fails, the participant has a valid key."""
    plan, registry = _plan(usage_plan, store), _registry(store)
    old = [] if keep_old else registry.keys(name)
    _hand_out(name, registry.add_key(name), plan, as_json)
    for kept in old:
        registry.revoke_keys(name, kept.digest)
        if plan is not None:
            plan.remove_keys(name, kept.short_digest)


@key.command("revoke")
def revoke_key(
    name: Name,
    store: StoreOption = DEFAULT_STORE,
    usage_plan: PlanOption = None,
    only: Annotated[
        str | None, typer.Option("--key", help="Revoke only this key, as `participant list` shows it.")
    ] = None,
) -> None:
    """Revoke all keys of a participant, or one of them."""
    plan, registry = _plan(usage_plan, store), _registry(store)
    chosen = None if only is None else registry.find_key(name, only)
    revoked = registry.revoke_keys(name, chosen.digest if chosen else None)
    if plan is not None:  # even if it was revoked before: API Gateway may not know of it
        plan.remove_keys(name, chosen.short_digest if chosen else None)
    if chosen and not revoked:
        raise RegistryError(f"{name} has no valid key {only}; `participant list` shows the valid keys")
    typer.echo(f"{revoked} keys of {name} revoked (warm functions apply this within ten seconds)")


# phases


def _set_phase(name: str, state: PhaseState, store: str, runs: int | None = None) -> None:
    record = _registry(store).set_phase_state(name, state, runs=runs)
    typer.echo(f"phase {name} is {state.value}; each participant may open {record.runs:,} runs")


@phase.command("open")
def open_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE, runs: Runs = None) -> None:
    """Let participants open and play runs."""
    _set_phase(name, PhaseState.OPEN, store, runs)


@phase.command("freeze")
def freeze_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Let participants finish their runs, but open no more."""
    _set_phase(name, PhaseState.FROZEN, store)


@phase.command("close")
def close_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Accept no more rounds, and publish the leaderboard."""
    _set_phase(name, PhaseState.CLOSED, store)


@phase.command("list")
def list_phases(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the phases of the task."""
    rows = [
        {
            "phase": record.phase.name,
            "state": record.state.value,
            "rounds": record.phase.layout.total,
            "repeatable": record.phase.repeatable,
            "runs": record.runs,
            "feedback": record.feedback.signature,
        }
        for record in _registry(store).phases()
    ]
    _print_rows(rows, ["phase", "state", "rounds", "repeatable", "runs", "feedback"], as_json)


# runs


def _row(progress: RunProgress, total: int) -> dict[str, Any]:
    opened, last = progress
    return {
        "run": opened.id,
        "participant": opened.participant,
        "phase": opened.phase,
        "system": opened.system,
        "attempt": opened.attempt,
        "rounds": progress.pending,
        "total": total,
        "reward": last.true_ticks / TICKS if last else 0.0,
        "opened": _when(opened.opened_at),
        "last": _when(last.committed_at) if last else None,
    }


def _rows(store: Store, wanted: list[Run]) -> list[dict[str, Any]]:
    totals = {record.phase.name: record.phase.layout.total for record in Registry(store).phases()}
    return [_row(store.progress(each.id) or RunProgress(each, None), totals[each.phase]) for each in wanted]


@run.command("list")
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
    columns = ["run", "participant", "phase", "system", "rounds", "total", "reward"]
    _print_rows(_rows(opened, wanted), columns, as_json)


@run.command("show")
def show_run(
    identity: Annotated[str, typer.Argument(metavar="RUN", help="The id of the run, as `run list` shows it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
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


# token keys


@tokens.command("rotate")
def rotate_tokens(
    store: StoreOption = DEFAULT_STORE,
    void: Annotated[
        bool,
        typer.Option(help="Void every sentence id issued so far. Use it after a leak, or after restoring a backup."),
    ] = False,
) -> None:
    """Sign the sentence ids of new runs with a new key."""
    ring = _registry(store).rotate_key_ring(keep=not void)
    consequence = "clients must ask for their sentence again" if void else "runs in progress keep their key"
    typer.echo(f"token key {ring.newest} signs new runs from now on; {consequence}")
