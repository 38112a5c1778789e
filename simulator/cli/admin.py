"""``banditmt admin``: participants, their profiles and keys, and token keys.

``admin_phases`` has the commands for phases, ``admin_runs`` those for runs, ``admin_leaderboard`` those for the
leaderboard, ``admin_verification`` those that verify a store, ``admin_audit`` those that look for
probes, and ``admin_archives`` those for archives and backups.
"""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from lambdas.erasure import SETTLING_SECONDS, Eraser
from lambdas.profile_store import ProfileStore
from lambdas.registry import Registry, RegistryError
from leaderboard.profiles import SystemProfile, TeamProfile
from simulator.aws.usage_plan import UsagePlan
from simulator.cli import admin_archives, admin_audit, admin_leaderboard, admin_phases, admin_runs, admin_verification
from simulator.cli.evaluate_contrastive import HigherIsBetter, Models, Programs, Scores, Sets, losses_of_systems
from simulator.cli.row_tables import print_rows
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.errors import UsagePlanError
from simulator.tasks import DEFAULT_STORE
from task.times import iso_time

app = typer.Typer(help="Manage participants, keys, phases, runs and archives.", no_args_is_help=True)
participant = typer.Typer(help="Manage participants.", no_args_is_help=True)
key = typer.Typer(
    help="Manage the API keys of a participant. A key is shown once, and stored as its hash.", no_args_is_help=True
)
system = typer.Typer(help="Describe systems.", no_args_is_help=True)
tokens = typer.Typer(help="Manage the keys that sign sentence ids.", no_args_is_help=True)
for group, name in (
    (participant, "participant"),
    (system, "system"),
    (key, "key"),
    (admin_phases.app, "phase"),
    (admin_runs.app, "run"),
    (tokens, "tokens"),
    (admin_audit.app, "audit"),
):
    app.add_typer(group, name=name)
app.add_typer(admin_leaderboard.app)
app.add_typer(admin_verification.app)
app.add_typer(admin_archives.app)

Name = Annotated[str, typer.Argument(help="The name of the participant.")]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--usage-plan",
        envvar="BANDITMT_USAGE_PLAN",
        help="On AWS: the stack's output UsagePlan. Keys are then added and removed in API Gateway, too.",
    ),
]


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


def _register_and_print_key(name: str, api_key: str, plan: UsagePlan | None, as_json: bool) -> None:
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


# participants


@participant.command("add")
def add_participant(
    name: Name, store: StoreOption = DEFAULT_STORE, usage_plan: PlanOption = None, as_json: JsonOption = False
) -> None:
    """Register a participant and print the API key."""
    plan = _plan(usage_plan, store)
    _register_and_print_key(name, _registry(store).add_participant(name), plan, as_json)


@participant.command("list")
def list_participants(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the participants and their valid keys."""
    opened = open_existing_store(store)
    registry, profiles = Registry(opened), ProfileStore(opened).profiles()
    rows = [
        {
            "participant": each.name,
            "display_name": profiles.team(each.name).display_name,
            "since": iso_time(each.created_at),
            "state": "disabled" if each.disabled else "enabled",
            "keys": [kept.short_digest for kept in registry.keys(each.name) if not kept.revoked],
        }
        for each in registry.participants()
    ]
    print_rows(rows, ["participant", "display_name", "since", "state", "keys"], as_json)


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


@participant.command("describe")
def describe_participant(
    name: Name,
    store: StoreOption = DEFAULT_STORE,
    display_name: Annotated[str | None, typer.Option(help="How the team is called, in any script.")] = None,
    affiliation: Annotated[str | None, typer.Option(help="The university or company of the team.")] = None,
    url: Annotated[str | None, typer.Option(help="A page about the team: https://...")] = None,
) -> None:
    """Set the profile of a team on the leaderboard.

    Prints the whole profile. An empty text removes an entry.
    """
    said = {"display_name": display_name, "affiliation": affiliation, "url": url}
    profiles = ProfileStore(open_existing_store(store))
    _print_profile(profiles.describe_team(name, {entry: text for entry, text in said.items() if text is not None}))


@system.command("describe")
def describe_system(
    name: Name,
    system: Annotated[str, typer.Argument(help="The name of the system.")],
    store: StoreOption = DEFAULT_STORE,
    description: Annotated[str | None, typer.Option(help="What the system is, in a sentence.")] = None,
    link: Annotated[str | None, typer.Option(help="A paper or code: https://...")] = None,
) -> None:
    """Set the profile of a system on the leaderboard.

    Prints the whole profile. An empty text removes an entry.
    """
    said = {"description": description, "link": link}
    profiles = ProfileStore(open_existing_store(store))
    entries = {entry: text for entry, text in said.items() if text is not None}
    _print_profile(profiles.describe_system(name, system, entries))


def _print_profile(profile: TeamProfile | SystemProfile) -> None:
    entries = asdict(profile)
    accuracies = entries.pop("consistency", None) or {}
    for entry, text in entries.items():
        typer.echo(f"{entry.replace('_', ' '):12} {'-' if text is None else text}")
    for name, (accuracy, *_) in accuracies.items():
        typer.echo(f"{'consistency':12} {name} {accuracy:.1f}")


@system.command("consistency")
def measure_consistency(
    name: Name,
    system: Annotated[str, typer.Argument(help="The name of the system.")],
    sets: Sets,
    store: StoreOption = DEFAULT_STORE,
    scores: Scores = None,
    programs: Programs = None,
    models: Models = None,
    higher_is_better: HigherIsBetter = False,
) -> None:
    """Measure the accuracy of a system on contrastive test sets, and show its mean on the leaderboard.

    Development sets (NAME_dev) are left out. Prints the whole profile. Measuring again replaces what was measured.
    """
    from leaderboard.evaluation.contrastive import TOTAL, accuracies  # numpy takes a moment to load
    from simulator.contrastive_sets import read_sets

    found = [each for each in read_sets(sets) if not each.name.endswith("_dev")]
    if not found:
        raise typer.BadParameter("all of these sets are for development (_dev): give a test set")
    profiles = ProfileStore(open_existing_store(store))
    losses = losses_of_systems(found, scores, programs, models, higher_is_better=higher_is_better)
    if len(losses) != 1:
        raise typer.BadParameter("give one of --scores, --program and --model")
    ((scorer, by_set),) = losses.items()
    measured = {}
    for test_set, own in zip(found, by_set, strict=True):
        accuracy = accuracies(test_set, {scorer: own})[scorer][TOTAL]
        measured[test_set.name] = [accuracy.value, *(accuracy.interval or ())]
    _print_profile(profiles.describe_system(name, system, {"consistency": measured}))


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
    typer.echo(f"waiting up to {SETTLING_SECONDS:.0f} seconds, until no function can write the name", err=True)
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
    _register_and_print_key(name, registry.add_key(name), plan, as_json)
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
