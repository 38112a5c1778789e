"""The files that a log is written to: JSON lines, compressed or not, or Parquet; the suffix decides.

Rows are written as they come, so a log of any length needs little memory.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from simulator.feedback_log.rows import LoggedRound, ReleaseError

GZIP_LEVEL = 6
ROWS_PER_BATCH = 20_000  # of a Parquet file

Writer = Callable[[Path, Iterable[LoggedRound]], None]


def writer_for(path: Path) -> Writer:
    """Return the function that writes rows to a path, by the suffix of the path.

    Raises:
        ReleaseError: The suffix is not that of a log, or pyarrow is not installed.
    """
    if path.name.endswith(".jsonl"):
        return _write_json_lines
    if path.name.endswith(".jsonl.gz"):
        return _write_gzip
    if path.name.endswith(".parquet"):
        import_pyarrow()
        return _write_parquet
    raise ReleaseError(f"{path} should end with .jsonl, .jsonl.gz or .parquet")


def _lines(rows: Iterable[LoggedRound]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(row._asdict(), ensure_ascii=False).encode() + b"\n"


def _write_json_lines(path: Path, rows: Iterable[LoggedRound]) -> None:
    with path.open("wb") as file:
        file.writelines(_lines(rows))


def _write_gzip(path: Path, rows: Iterable[LoggedRound]) -> None:
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0) as zipped,
    ):
        zipped.writelines(_lines(rows))


def _write_parquet(path: Path, rows: Iterable[LoggedRound]) -> None:
    pyarrow = import_pyarrow()
    schema = pyarrow.schema(
        [
            pyarrow.field("run", pyarrow.string(), nullable=False),
            pyarrow.field("system", pyarrow.string(), nullable=False),
            pyarrow.field("seed", pyarrow.int64()),
            pyarrow.field("round", pyarrow.int64(), nullable=False),
            pyarrow.field("source", pyarrow.string(), nullable=False),
            pyarrow.field("document", pyarrow.string()),
            pyarrow.field("position", pyarrow.int64()),
            pyarrow.field("translation", pyarrow.string(), nullable=False),
            pyarrow.field("observed_reward", pyarrow.float64(), nullable=False),
            pyarrow.field("log_probability", pyarrow.float64()),
        ]
    )
    pending = iter(rows)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := [row._asdict() for row in islice(pending, ROWS_PER_BATCH)]:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def import_pyarrow() -> Any:
    """Return pyarrow, which is an optional dependency: it is larger than all of this program."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ReleaseError(
            "Parquet needs pyarrow, which is not installed: pip install 'banditmt[parquet]', or write .jsonl.gz"
        ) from None
    return pyarrow
