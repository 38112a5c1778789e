"""Rows of named values, printed as a table for people or as JSON for programs."""

import json
from typing import Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text


def print_rows(rows: list[dict[str, Any]], columns: list[str], as_json: bool) -> None:
    """Print these columns of rows as a table, or all of the rows as JSON."""
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(*(Column(column, overflow="fold", no_wrap=column == columns[0]) for column in columns), box=None)
    for row in rows:
        table.add_row(*(Text(_text(row[column])) for column in columns))
    Console().print(table)


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
