"""``banditmt admin audit``: looks for signs that participants use systems as probes."""

from dataclasses import asdict
from typing import Annotated

import typer

from lambdas.probing import conduct
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from simulator.cli.row_tables import print_rows
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, stack_region
from simulator.tasks import DEFAULT_STORE

app = typer.Typer(help="Look for signs that references are being extracted.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Keep ``participants`` a command of its own, although it is the only one."""


@app.command("participants")
def audit_participants(
    store: StoreOption = DEFAULT_STORE,
    only_phase: Annotated[str | None, typer.Option("--phase", help="Only this phase.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how each participant plays: unfinished runs, one-word and repeated answers, weak first held-out passes.

    Signs are where to look, and prove nothing.
    """
    opened = open_existing_store(store)
    registry = Registry(opened)
    records = registry.phases() if only_phase is None else [registry.require_phase(only_phase)]
    rows = []
    for record in records:
        if stack_region(store) is None:  # elsewhere a function keeps the summaries up to date
            Scoreboard(opened).catch_up(record)
        rows += [{**asdict(each), "signs": each.signs} for each in conduct(opened, record)]
    columns = ["participant", "phase", "runs", "unfinished", "single_words", "repeated", "first_pass_gap", "look_at"]
    shown = rows if as_json else [{**row, "look_at": ", ".join(row["signs"]) or None} for row in rows]
    print_rows(shown, columns, as_json)
