"""``banditmt admin``: participants and their keys, phases and their gates, runs and their progress.

The board is in ``judging``, archives and backups are in ``archiving``.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from lambdas.erasure import Eraser
from lambdas.registry import PhaseState, Registry, RegistryError
from lambdas.store import Store
from simulator.aws.usage_plan import UsagePlan
from simulator.cli import archiving, judging
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.errors import UsagePlanError
from simulator.tasks import DEFAULT_STORE
from task.rounds import TICKS, Run, RunProgress

app = typer.Typer(help="Look after a task: participants, keys, phases, runs.", no_args_is_help=True)
participant = typer.Typer(help="Who plays.", no_args_is_help=True)
key = typer.Typer(help="The keys of a participant. A key is shown once and kept as its hash.", no_args_is_help=True)
phase = typer.Typer(help="What may be played.", no_args_is_help=True)
run = typer.Typer(help="What was played.", no_args_is_help=True)
tokens = typer.Typer(help="The keys that sign sentence ids.", no_args_is_help=True)
for group, name in ((participant, "participant"), (key, "key"), (phase, "phase"), (run, "run"), (tokens, "tokens")):
    app.add_typer(group, name=name)
app.add_typer(judging.app)
app.add_typer(archiving.app)

Name = Annotated[str, typer.Argument(help="The participant's name.")]
PhaseName = Annotated[str, typer.Argument(help="The phase's name.")]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--usage-plan",
        envvar="BANDITMT_USAGE_PLAN",
        help="In the cloud: the stack's output UsagePlan, so that API Gateway learns of the key too.",
    ),
]
Runs = Annotated[int | None, typer.Option(min=0, help="How many runs each participant may open from now on.")]


def _registry(address: str) -> Registry:
    return Registry(open_existing_store(address))


def _plan(usage_plan: str | None, address: str) -> UsagePlan | None:
    """The usage plan of the stack whose tables are the store, in the store's region."""
    if usage_plan is None:
        return None
    region = stack_region(address)
    if region is None:
        raise UsagePlanError(f"a usage plan goes with the store of its stack, dynamodb:REGION, not with {address}")
    return UsagePlan.open(usage_plan, region)


def _hand_out(name: str, api_key: str, plan: UsagePlan | None, as_json: bool) -> None:
    """Show a key, but only after API Gateway knows it: one that fails there is never seen, and can be rotated away."""
    if plan is not None:
        plan.add_key(name, api_key)
    _print_key(name, api_key, as_json)


def _print_key(name: str, api_key: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"participant": name, "api_key": api_key}))
    else:
        typer.echo(f"API key of {name}, shown this once: {api_key}")


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
    """Who is registered, and which keys are valid."""
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
    """Refuse all keys of a participant until `enable`. Its runs stay."""
    _registry(store).set_disabled(name, True)
    typer.echo(f"{name} is disabled (functions that are warm notice within ten seconds)")


@participant.command("enable")
def enable_participant(name: Name, store: StoreOption = DEFAULT_STORE) -> None:
    """Take the keys of a participant again."""
    _registry(store).set_disabled(name, False)
    typer.echo(f"{name} is enabled")


@participant.command("erase")
def erase_participant(
    name: Name,
    store: StoreOption = DEFAULT_STORE,
    usage_plan: PlanOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Rename a system whose name tells who it is (may be repeated)."),
    ] = None,
) -> None:
    """Replace the name of a disabled participant by a pseudonym, for good. What was played stays, and verifiable."""
    plan, opened, systems = _plan(usage_plan, store), open_existing_store(store), _renamed(system or [])
    Eraser(opened).begin(name, systems)
    if plan is not None:
        plan.remove_keys(name)  # if this fails, the same command can be given again
    pseudonym = Eraser(opened).erase(name)
    typer.echo(f"{name} is {pseudonym} from now on; archives, backups and logs made before still have the name")
    registry = Registry(opened)
    kept = {run.system for record in registry.phases() for run in registry.claims(pseudonym, record.phase.name)}
    if kept:
        typer.echo(f"its systems are called {', '.join(sorted(kept))}")


def _renamed(options: list[str]) -> dict[str, str]:
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
    keep_old: Annotated[bool, typer.Option(help="Let the old keys work until they are revoked.")] = False,
) -> None:
    """Give out a new key, and then revoke the old ones: whatever fails, the participant has a key that works."""
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
    only: Annotated[str | None, typer.Option("--key", help="Only the key that `participant list` shows so.")] = None,
) -> None:
    """Revoke all keys of a participant, or one of them."""
    plan, registry = _plan(usage_plan, store), _registry(store)
    chosen = None if only is None else registry.find_key(name, only)
    revoked = registry.revoke_keys(name, chosen.digest if chosen else None)
    if plan is not None:  # even of keys that were revoked before: API Gateway may not have heard of it
        plan.remove_keys(name, chosen.short_digest if chosen else None)
    if chosen and not revoked:
        raise RegistryError(f"{name} has no valid key {only}; `participant list` shows the valid keys")
    typer.echo(f"{revoked} keys of {name} revoked (functions that are warm notice within ten seconds)")


# phases


def _set_phase(name: str, state: PhaseState, store: str, runs: int | None = None) -> None:
    record = _registry(store).set_phase_state(name, state, runs=runs)
    typer.echo(f"phase {name} is {state.value}; each participant may open {record.runs:,} runs")


@phase.command("open")
def open_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE, runs: Runs = None) -> None:
    """Let runs begin and be played."""
    _set_phase(name, PhaseState.OPEN, store, runs)


@phase.command("freeze")
def freeze_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Let runs that were begun be finished, but none begin."""
    _set_phase(name, PhaseState.FROZEN, store)


@phase.command("close")
def close_phase(name: PhaseName, store: StoreOption = DEFAULT_STORE) -> None:
    """Let nothing more be played."""
    _set_phase(name, PhaseState.CLOSED, store)


@phase.command("list")
def list_phases(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """The phases of the task."""
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
    only_participant: Annotated[str | None, typer.Option("--participant", help="Only runs of this one.")] = None,
    only_phase: Annotated[str | None, typer.Option("--phase", help="Only runs of this one.")] = None,
) -> None:
    """All runs and how far they are. Rewards are clean, whatever the learner was shown."""
    opened = open_existing_store(store)
    registry = Registry(opened)
    records = registry.phases() if only_phase is None else [registry.require_phase(only_phase)]
    players = registry.participants() if only_participant is None else [registry.require_participant(only_participant)]
    wanted = [each for record in records for who in players for each in registry.claims(who.name, record.phase.name)]
    columns = ["run", "participant", "phase", "system", "rounds", "total", "reward"]
    _print_rows(_rows(opened, wanted), columns, as_json)


@run.command("show")
def show_run(
    identity: Annotated[str, typer.Argument(metavar="RUN", help="The run, as `run list` names it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """One run in full."""
    opened = open_existing_store(store)
    found = opened.opening(identity)
    if found is None:
        raise RegistryError(f"there is no run {identity}; `run list` tells which there are")
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
        bool, typer.Option(help="Void every sentence id issued so far: after a leak, or a restored backup.")
    ] = False,
) -> None:
    """Sign the sentence ids of new runs with a new key."""
    ring = _registry(store).rotate_key_ring(keep=not void)
    consequence = "clients must ask for their sentence again" if void else "runs under way keep their key"
    typer.echo(f"token key {ring.newest} signs from now on; {consequence}")
