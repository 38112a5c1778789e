"""Tab-separated text: source, target and optionally a document id. A header line can give another order."""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from corpora.task import Pair

DOCUMENT_COLUMN = "document"


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of one file."""
    (path,) = paths
    columns: tuple[int, ...] = ()
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if not columns:
            columns = _named_columns(cells, languages)
            if columns:
                continue
            columns = _plain_columns(cells, languages, path)
        if len(cells) <= max(columns):
            raise InputError(f"has {len(cells)} columns, but the first line has {max(columns) + 1}", path, number)
        yield Pair(*(cells[column] for column in columns))


def _named_columns(cells: list[str], languages: tuple[str, str]) -> tuple[int, ...]:
    """Return the columns of source, target and document if the first line is a header."""
    names = [cell.strip().lower() for cell in cells]
    if not set(languages) <= set(names):
        return ()
    return tuple(names.index(name) for name in (*languages, DOCUMENT_COLUMN) if name in names)


def _plain_columns(cells: list[str], languages: tuple[str, str], path: Path) -> tuple[int, ...]:
    if len(cells) in (2, 3):
        return tuple(range(len(cells)))
    raise InputError(
        f"has {len(cells)} columns, but should have source, target and optionally a document id, or a header that names"
        f" {' and '.join(languages)}",
        path,
        1,
    )
