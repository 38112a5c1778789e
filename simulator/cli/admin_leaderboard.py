"""The commands of ``banditmt admin`` for the leaderboard: roles of systems, and rebuilding."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from lambdas.registry import Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from leaderboard.families import HOUSE_PARTICIPANT, Role, RoleKind, Roles, family_from_name
from simulator.cli.admin_verification import OnlyPhase, claimed_runs, phase_records, run_bar
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE

app = typer.Typer()
oracle = typer.Typer(help="Mark oracles: systems trained on the text of the task.", no_args_is_help=True)
baseline = typer.Typer(help="Mark baselines: systems from which learners start.", no_args_is_help=True)
family = typer.Typer(
    help="Set the family of a system. It is compared with the oracle and the baseline of its family.",
    no_args_is_help=True,
)
for group, name in ((oracle, "oracle"), (baseline, "baseline"), (family, "family")):
    app.add_typer(group, name=name)
# Further runs for comparison: what the system does, and what marking it changes on the leaderboard.
COMPARISONS = {
    RoleKind.CONTROL: (
        "Mark controls: systems that do not learn, but search or train as learners do.",
        "Show this system without a rank, as a control. Gaps and gains are still measured from the baseline.",
    ),
    RoleKind.FULL_INFORMATION: (
        "Mark full-information runs: learners that see the reference after each round.",
        "Show which share of this system's gain over the baseline each learner of the family has.",
    ),
    RoleKind.K_BEST_ORACLE: (
        "Mark k-best oracles: systems that choose among their candidates by the reference.",
        "Show this system without a rank, as the most that a choice among candidates can earn.",
    ),
}

Participant = Annotated[str, typer.Argument(help="The participant whose system it is.")]
System = Annotated[str, typer.Argument(help="The name of the system.")]
Family = Annotated[
    str | None,
    typer.Option(help="The family. By default, the beginning of its name (the family of BNMT-oracle is BNMT)."),
]


# roles


def _set_role(store: str, participant: str, system: str, kind: RoleKind, name: str | None = None) -> None:
    registry = Registry(open_existing_store(store))
    role = registry.set_role(participant, system, kind, name)
    typer.echo(f"{system} of {participant}: {kind.value}, family {_family(role)}")
    runs = [run for record in registry.phases() for run in registry.claims(participant, record.phase.name)]
    systems = sorted({run.system for run in runs})
    if kind is not RoleKind.CONTESTANT and system not in systems:
        played = ", ".join(systems) or "no system at all"
        typer.echo(f"note: {participant} has not played {system} yet (but {played}); check the name", err=True)


def _unset_role(store: str, participant: str, system: str, kind: RoleKind) -> None:
    """Make a system a contestant again; raise RegistryError unless it has the role."""
    registry = Registry(open_existing_store(store))
    owner = registry.require_participant(participant).name
    if Roles(registry.roles()).of(owner, system).kind is not kind:
        raise RegistryError(
            f"{system} of {participant} is not marked as {kind.value}; `banditmt admin roles` lists all roles"
        )
    _set_role(store, participant, system, RoleKind.CONTESTANT)


def _family(role: Role) -> str:
    return role.family or family_from_name(role.system)


@oracle.command("set")
def set_oracle(
    participant: Participant, system: System, store: StoreOption = DEFAULT_STORE, family: Family = None
) -> None:
    """Compute the regret of a family against this system."""
    _set_role(store, participant, system, RoleKind.ORACLE, family)


@oracle.command("unset")
def unset_oracle(participant: Participant, system: System, store: StoreOption = DEFAULT_STORE) -> None:
    """Rank the system as a contestant again."""
    _unset_role(store, participant, system, RoleKind.ORACLE)


@baseline.command("mark")
def mark_baseline(
    participant: Participant, system: System, store: StoreOption = DEFAULT_STORE, family: Family = None
) -> None:
    """Show this system without a rank. The gap that contestants close lies between the baseline and the oracle."""
    _set_role(store, participant, system, RoleKind.BASELINE, family)


@baseline.command("unmark")
def unmark_baseline(participant: Participant, system: System, store: StoreOption = DEFAULT_STORE) -> None:
    """Rank the system as a contestant again."""
    _unset_role(store, participant, system, RoleKind.BASELINE)


@family.command("set")
def set_family(
    participant: Participant,
    system: System,
    name: Annotated[str, typer.Argument(metavar="FAMILY", help="The name of the family.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Set the family of a system, whatever its name begins with."""
    known = Roles(Registry(open_existing_store(store)).roles())
    _set_role(store, participant, system, known.of(participant, system).kind, name)


def _add_comparison(kind: RoleKind, group_help: str, set_help: str) -> None:
    """Add the commands that mark the systems of one role, and undo it."""
    commands = typer.Typer(help=group_help, no_args_is_help=True)

    @commands.command("set", help=set_help)
    def set_comparison(
        participant: Participant, system: System, store: StoreOption = DEFAULT_STORE, family: Family = None
    ) -> None:
        _set_role(store, participant, system, kind, family)

    @commands.command("unset", help="Rank the system as a contestant again.")
    def unset_comparison(participant: Participant, system: System, store: StoreOption = DEFAULT_STORE) -> None:
        _unset_role(store, participant, system, kind)

    app.add_typer(commands, name=kind.value)


for _kind, _helps in COMPARISONS.items():
    _add_comparison(_kind, *_helps)


@app.command("roles")
def list_roles(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the systems that have a role or a family.

    The systems of this repository, which play as the participant banditmt, have roles by their names.
    """
    registry = Registry(open_existing_store(store))
    stored = registry.roles()
    by_name = _roles_by_name(registry, stored)
    if as_json:
        roles = [*((role, False) for role in stored), *((role, True) for role in by_name)]
        typer.echo(json.dumps([{**asdict(role), "family": _family(role), "by_name": known} for role, known in roles]))
        return
    width = max(map(len, RoleKind))
    for role in (*stored, *by_name):
        note = " (by its name)" if role in by_name else ""
        typer.echo(f"{role.kind.value:{width}}  {_family(role):10}  {role.system} of {role.participant}{note}")


def _roles_by_name(registry: Registry, stored: list[Role]) -> list[Role]:
    """Return the default roles of the systems that have been played, without contestants."""
    roles, known = Roles(stored), {(role.participant, role.system) for role in stored}
    runs = (run for record in registry.phases() for run in registry.claims(HOUSE_PARTICIPANT, record.phase.name))
    systems = sorted({run.system for run in runs if (run.participant, run.system) not in known})
    found = [roles.of(HOUSE_PARTICIPANT, system) for system in systems]
    return [role for role in found if role.kind is not RoleKind.CONTESTANT]


# rebuilding


@app.command()
def rebuild(store: StoreOption = DEFAULT_STORE, phase: OnlyPhase = None) -> None:
    """Rebuild the leaderboard from the ledger. If it is interrupted, start it again."""
    opened = open_existing_store(store)
    scoreboard, records = Scoreboard(opened), phase_records(opened, phase)
    runs = claimed_runs(opened, records)
    for record in records:
        scoreboard.delete_unclaimed(record)
    with run_bar() as bars:
        rounds = sum(scoreboard.rebuild(*each).rounds for each in bars.track(runs, description="rebuilding"))
    typer.echo(f"{len(runs):,} runs summarised from {rounds:,} rounds")
