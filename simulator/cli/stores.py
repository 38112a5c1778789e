"""The options that many commands share, and how a command opens its store."""

from pathlib import Path
from typing import Annotated

import typer

from lambdas.store import Store, StoreError, open_store
from simulator.tasks import DEFAULT_STORE, STATE

StoreOption = Annotated[
    str,
    typer.Option(
        "--store", envvar="BANDITMT_STORE", help="The store: sqlite:PATH or dynamodb:REGION-OR-URL[?prefix=STACK]."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def stack_region(address: str) -> str | None:
    """Return the AWS region of a deployed stack's store, or None for a SQLite store or a DynamoDB server at a URL.

    Only in a deployed stack does a function keep the leaderboard up to date from the ledger's stream.
    """
    engine, _, place = address.partition(":")
    region = place.partition("?")[0]
    return region if engine == "dynamodb" and "://" not in region else None


def open_existing_store(address: str, advice: str = "`banditmt serve` makes one and loads a task into it") -> Store:
    """Open the store at an address.

    A SQLite file must exist: otherwise a mistyped path would become an empty store.
    """
    engine, _, place = address.partition(":")
    path = Path(place.partition("?")[0])
    if engine == "sqlite" and place and not path.is_file():
        raise StoreError(f"there is no store at {path}; {advice}")
    return open_store(address)


def open_or_create_store(address: str) -> Store:
    """Open the store at an address; a SQLite file that does not exist is created.

    The folder of the default store is created too. Any other folder must exist.
    """
    if address == DEFAULT_STORE:
        STATE.mkdir(exist_ok=True)
    return open_store(address)
