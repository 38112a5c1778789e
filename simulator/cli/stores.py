"""Which store a command works on, and how its answer is wanted: options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

from lambdas.store import Store, StoreError, open_store

StoreOption = Annotated[
    str, typer.Option("--store", envvar="BANDITMT_STORE", help="sqlite:PATH or dynamodb:REGION-OR-URL[?prefix=STACK].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def stack_region(address: str) -> str | None:
    """The region of a store that is the tables of a stack on AWS, where a function follows the ledger; else None."""
    engine, _, place = address.partition(":")
    region = place.partition("?")[0]
    return region if engine == "dynamodb" and "://" not in region else None


def existing_store(address: str, advice: str = "`banditmt serve` makes one and loads a task into it") -> Store:
    """The store at an address. A SQLite file must exist: a mistyped path would otherwise become an empty store."""
    engine, _, place = address.partition(":")
    path = Path(place.partition("?")[0])
    if engine == "sqlite" and place and not path.is_file():
        raise StoreError(f"there is no store at {path}; {advice}")
    return open_store(address)
