"""Reads a log of feedback: a released one, or any JSON lines with the same columns."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from corpora.line_files import read_lines
from learners.offline.logged_round import LogError, LoggedRound, logged_round
from simulator.feedback_log.files import import_pyarrow


def read_log(path: Path, systems: Iterable[str] = ()) -> list[LoggedRound]:
    """Return the rounds of a log, in its order.

    Args:
        path: JSON lines, gzipped or not, or a Parquet file by its suffix.
        systems: Only the rounds of these systems; all by default.

    Raises:
        LogError: A row is wrong, or no row is left.
        InputError: The file is not UTF-8, or is damaged.
    """
    wanted = frozenset(systems)
    rounds = [logged_round(row, f"{path}, row {number}") for number, row in enumerate(_rows(path), 1)]
    known = sorted({each.system for each in rounds if each.system})
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise LogError(f"{path} has no rounds of {unknown[0]}; its systems are {', '.join(known) or 'not named'}")
    chosen = [each for each in rounds if not wanted or each.system in wanted]
    if not chosen:
        raise LogError(f"{path} has no rounds")
    return chosen


def _rows(path: Path) -> Iterator[Any]:
    return _parquet_rows(path) if path.name.endswith(".parquet") else _json_rows(path)


def _json_rows(path: Path) -> Iterator[Any]:
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise LogError(f"{path}, row {number} is not JSON: a log has one object per line") from None


def _parquet_rows(path: Path) -> Iterator[Any]:
    pyarrow = import_pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(path)
        for batch in file.iter_batches():
            yield from batch.to_pylist()
    except pyarrow.ArrowException as broken:
        raise LogError(f"{path} cannot be read as Parquet: {' '.join(str(broken).split())[:200]}") from None
