"""The commands of ``banditmt admin`` that verify a store: ``verify``, ``seal`` and ``ledger-key``."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lambdas.audit import Auditor, Discrepancy
from lambdas.audit.inventory import find_strays
from lambdas.audit.published import compare_with_board, read_board
from lambdas.audit.runs import LinkCounts
from lambdas.audit.texts import audit_text
from lambdas.chain import KEY_VARIABLE, LedgerKey, LedgerKeyError
from lambdas.phase_record import PhaseRecord
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.seal import SealedDocuments
from lambdas.store import Store
from lambdas.withdrawals import Withdrawals
from simulator.cli.progress_bars import progress_bars
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.tasks import DEFAULT_STORE
from task.atomic_files import PRIVATE, open_staged
from task.rounds import Run

MAX_PRINTED_DISCREPANCIES = 20  # the others are only counted

app = typer.Typer()

OnlyPhase = Annotated[str | None, typer.Option("--phase", help="Only this phase.")]
LedgerKeyOption = Annotated[
    str,
    typer.Option(
        "--ledger-key",
        envvar=KEY_VARIABLE,
        help="The file with the ledger key, or the key itself. Default: none.",
    ),
]


def phase_records(store: Store, only: str | None) -> list[PhaseRecord]:
    registry = Registry(store)
    return registry.phases() if only is None else [registry.require_phase(only)]


def claimed_runs(store: Store, records: list[PhaseRecord]) -> list[tuple[PhaseRecord, Run]]:
    return [(record, run) for record in records for run in Registry(store).runs(record.phase.name)]


def run_bar() -> Progress:
    return progress_bars(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())


@app.command()
def verify(
    store: StoreOption = DEFAULT_STORE,
    phase: OnlyPhase = None,
    as_json: JsonOption = False,
    ledger_key: LedgerKeyOption = "",
    published: Annotated[
        list[Path] | None,
        typer.Option(help="A leaderboard that was published, from `banditmt leaderboard --json` (may be repeated)."),
    ] = None,
) -> None:
    """Verify the texts, the ledger, the leaderboard, and the organiser's decisions.

    Scores every round again. The last line says what is proven, and what has to be trusted.
    """
    key, boards = LedgerKey.parse(ledger_key), [read_board(path) for path in published or ()]
    opened = open_existing_store(store)
    seal = SealedDocuments(opened, key)
    auditor, records = Auditor(opened, key, keyed_since=seal.keyed_since), phase_records(opened, phase)
    runs = claimed_runs(opened, records)
    withdrawn = [run for record in records for run in Withdrawals(opened).withdrawn(record.phase.name)]
    found = [Discrepancy(None, None, problem) for problem in seal.problems()]
    found += [each for record in records for each in audit_text(opened, record)]
    found += [*find_strays(opened, records), *(stray for record in records for stray in auditor.unclaimed(record))]
    found += _audit_runs(auditor, runs, None if stack_region(store) else Scoreboard(opened))
    found += [each for board in boards for each in compare_with_board(opened, board)]
    trust = describe_trust(auditor.links, is_sealed=seal.keyed_since is not None, is_published=bool(boards))
    if as_json:
        report = {
            "runs": len(runs),
            "rounds": auditor.rounds,
            "rounds_behind": auditor.rounds_behind,
            "links": asdict(auditor.links),
            "withdrawn": withdrawn,
            "discrepancies": [asdict(each) for each in found],
            "trust": trust,
        }
        typer.echo(json.dumps(report))
    else:
        for discrepancy in found[:MAX_PRINTED_DISCREPANCIES]:
            typer.echo(str(discrepancy))
        if auditor.rounds_behind:
            typer.echo(f"{auditor.rounds_behind:,} rounds of runs in progress are not on the leaderboard yet")
        if withdrawn:
            typer.echo(f"withdrawn from the leaderboard, but verified like any other: {', '.join(withdrawn)}")
        typer.echo(f"{auditor.rounds:,} rounds of {len(runs):,} runs verified, {len(found):,} discrepancies")
        typer.echo(trust)
    if found:
        raise typer.Exit(1)


def _audit_runs(
    auditor: Auditor, runs: Sequence[tuple[PhaseRecord, Run]], scoreboard: Scoreboard | None
) -> list[Discrepancy]:
    """Audit runs. Without a stream, the leaderboard is brought up to date only when it is read: so also here."""
    found: list[Discrepancy] = []
    with run_bar() as bars:
        for each in bars.track(runs, description="verifying"):
            if scoreboard is not None:
                with suppress(LookupError, TypeError, ValueError):  # damaged rounds, which the audit reports in detail
                    scoreboard.catch_up_run(*each)
            found += auditor.audit(*each)
    return found + auditor.unlinked()


def describe_trust(links: LinkCounts, *, is_sealed: bool, is_published: bool) -> str:
    """Return in one line what a verification proves if it finds no discrepancies, and what has to be trusted."""
    proven = ["scores, sums and texts belong together"]
    trusted = []
    if links.keyed:
        proven.append(f"nothing in {links.keyed:,} rounds was changed since they were committed (ledger key)")
    if is_sealed:
        proven.append("phases, participants, roles and withdrawals are as commands left them")
        trusted.append("that these were not set back to an earlier state together with their seal")
    else:
        trusted.append("phases, participants, roles and withdrawals")
    if links.unkeyed:
        trusted.append(f"{links.unkeyed:,} rounds that are linked without a ledger key")
    if links.foreign:
        trusted.append(f"{links.foreign:,} rounds that are linked with another ledger key")
    if links.absent:
        trusted.append(f"{links.absent:,} rounds of runs that version 0.1 began")
    if is_published:
        proven.append("no published run or round is missing or changed")
    deleted = "after the published leaderboard" if is_published else "at all (compare with --published)"
    trusted += [
        f"that no run, and no end of an unfinished run, was deleted {deleted}",
        "API keys, token keys, profiles and the description of the task",
        "the clock of the service",
    ]
    return f"proven, unless discrepancies are listed: {'; '.join(proven)}. Trusted: {'; '.join(trusted)}."


@app.command()
def seal(store: StoreOption = DEFAULT_STORE, ledger_key: LedgerKeyOption = "") -> None:
    """Seal phases, participants, roles and withdrawals as they are now. Look at all of them first."""
    opened = open_existing_store(store)
    count = SealedDocuments(opened, LedgerKey.parse(ledger_key)).renew()
    typer.echo(f"{count:,} documents sealed" + ("" if ledger_key else f", without a key ({KEY_VARIABLE} is not set)"))


@app.command("ledger-key")
def create_ledger_key(file: Annotated[Path, typer.Argument(help="The file to write, outside of the store.")]) -> None:
    """Create a ledger key. The service and `verify` need it; keep a copy where no server can read it."""
    if file.exists():
        raise LedgerKeyError(f"{file} exists already; choose another name, or use the key in it")
    with open_staged(file, mode=PRIVATE) as staged:
        staged.write(f"{LedgerKey.generate().secret.hex()}\n".encode())
    typer.echo(f"ledger key written to {file}; set {KEY_VARIABLE}={file} for the service and for `banditmt admin`")
