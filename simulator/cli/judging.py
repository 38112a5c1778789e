"""The part of ``banditmt admin`` that looks after the leaderboard: roles of systems, rebuilding, verifying."""

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lambdas.audit import Auditor, Discrepancy
from lambdas.registry import PhaseRecord, Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store
from leaderboard.families import Role, RoleKind, family_from_name
from simulator.cli.progress_bars import progress_bars
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.tasks import DEFAULT_STORE
from task.rounds import Run

MOST_COMPLAINTS = 20  # printed; the rest is counted

app = typer.Typer()
oracle = typer.Typer(help="Systems that were trained on what others have to learn.", no_args_is_help=True)
baseline = typer.Typer(help="Systems that do not learn, and that learners start from.", no_args_is_help=True)
family = typer.Typer(help="Which oracle and baseline a system is measured against.", no_args_is_help=True)
for group, name in ((oracle, "oracle"), (baseline, "baseline"), (family, "family")):
    app.add_typer(group, name=name)

Participant = Annotated[str, typer.Argument(help="Whose system it is.")]
System = Annotated[str, typer.Argument(help="The system's name.")]
Family = Annotated[
    str | None, typer.Option(help="Its family; without, what its name begins with (BNMT-oracle is of BNMT).")
]
OnlyPhase = Annotated[str | None, typer.Option("--phase", help="Only this phase.")]


# roles


def _designate(store: str, participant: str, system: str, kind: RoleKind, name: str | None = None) -> None:
    role = Registry(open_existing_store(store)).set_role(participant, system, kind, name)
    typer.echo(f"{system} of {participant} is of family {_family(role)}, as {kind.value}")


def _release(store: str, participant: str, system: str, kind: RoleKind) -> None:
    """Take a role away from a system that has it."""
    registry = Registry(open_existing_store(store))
    owner = registry.require_participant(participant).name
    if (owner, system, kind) not in {(role.participant, role.system, role.kind) for role in registry.roles()}:
        raise RegistryError(f"{system} of {participant} is no {kind.value}; `banditmt admin roles` tells which are")
    _designate(store, participant, system, RoleKind.CONTESTANT)


def _family(role: Role) -> str:
    return role.family or family_from_name(role.system)


@oracle.command("set")
def set_oracle(
    participant: Participant, system: System, store: StoreOption = DEFAULT_STORE, family: Family = None
) -> None:
    """Measure the regret of a family against this system."""
    _designate(store, participant, system, RoleKind.ORACLE, family)


@oracle.command("unset")
def unset_oracle(participant: Participant, system: System, store: StoreOption = DEFAULT_STORE) -> None:
    """Rank it with the others again."""
    _release(store, participant, system, RoleKind.ORACLE)


@baseline.command("mark")
def mark_baseline(
    participant: Participant, system: System, store: StoreOption = DEFAULT_STORE, family: Family = None
) -> None:
    """Show this system beside the ranked ones; the share of the gap that others close begins here."""
    _designate(store, participant, system, RoleKind.BASELINE, family)


@baseline.command("unmark")
def unmark_baseline(participant: Participant, system: System, store: StoreOption = DEFAULT_STORE) -> None:
    """Rank it with the others again."""
    _release(store, participant, system, RoleKind.BASELINE)


@family.command("set")
def set_family(
    participant: Participant,
    system: System,
    name: Annotated[str, typer.Argument(metavar="FAMILY", help="The family to measure it in.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Measure a system in this family, whatever its name says."""
    known = {(role.participant, role.system): role.kind for role in Registry(open_existing_store(store)).roles()}
    _designate(store, participant, system, known.get((participant, system), RoleKind.CONTESTANT), name)


@app.command("roles")
def list_roles(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """What was said about which system."""
    roles = Registry(open_existing_store(store)).roles()
    if as_json:
        typer.echo(json.dumps([{**asdict(role), "family": _family(role)} for role in roles]))
        return
    for role in roles:
        typer.echo(f"{role.kind.value:10}  {_family(role):10}  {role.system} of {role.participant}")


# the board and the ledger


def _records(store: Store, only: str | None) -> list[PhaseRecord]:
    registry = Registry(store)
    return registry.phases() if only is None else [registry.require_phase(only)]


def _runs(store: Store, records: list[PhaseRecord]) -> list[tuple[PhaseRecord, Run]]:
    return [(record, run) for record in records for run in Registry(store).runs(record.phase.name)]


def _bars() -> Progress:
    return progress_bars(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())


@app.command()
def rebuild(store: StoreOption = DEFAULT_STORE, phase: OnlyPhase = None) -> None:
    """Make the board anew from the ledger. Can be interrupted and begun again."""
    opened = open_existing_store(store)
    scoreboard, records = Scoreboard(opened), _records(opened, phase)
    runs = _runs(opened, records)
    for record in records:
        scoreboard.delete_unclaimed(record)
    with _bars() as bars:
        rounds = sum(scoreboard.rebuild(*each).rounds for each in bars.track(runs, description="rebuilding"))
    typer.echo(f"{len(runs):,} runs summarised from {rounds:,} rounds")


@app.command()
def verify(store: StoreOption = DEFAULT_STORE, phase: OnlyPhase = None, as_json: JsonOption = False) -> None:
    """Score every round of the ledger again, and check that the board shows what the ledger holds."""
    opened = open_existing_store(store)
    auditor, scoreboard, records = Auditor(opened), Scoreboard(opened), _records(opened, phase)
    runs, is_streamed = _runs(opened, records), stack_region(store) is not None
    found: list[Discrepancy] = [stray for record in records for stray in auditor.unclaimed(record)]
    with _bars() as bars:
        for each in bars.track(runs, description="verifying"):
            if not is_streamed:  # nobody has followed the ledger since somebody last asked for the board
                with suppress(ValueError):  # of a ledger that cannot be folded, which the audit tells more about
                    scoreboard.catch_up_run(*each)
            found += auditor.audit(*each)
    if as_json:
        complaints = [asdict(each) for each in found]
        report = {"runs": len(runs), "rounds": auditor.rounds, "behind": auditor.behind, "complaints": complaints}
        typer.echo(json.dumps(report))
    else:
        for complaint in found[:MOST_COMPLAINTS]:
            typer.echo(str(complaint))
        if auditor.behind:
            typer.echo(f"{auditor.behind:,} rounds of runs under way are not on the board yet")
        typer.echo(f"{auditor.rounds:,} rounds of {len(runs):,} runs checked, {len(found):,} complaints")
    if found:
        raise typer.Exit(1)
