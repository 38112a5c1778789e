"""Tab-separated text: source, target and optionally a document id. A header line can give another order."""

import re
from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from corpora.readers.language_codes import list_languages, same_language
from corpora.task import Pair

DOCUMENT_COLUMN = "document"

_CODE = re.compile(r"[a-z]{2}([-_][A-Za-z]{2,4})?")  # stricter than a language code: words have three letters or more


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of one file."""
    (path,) = paths
    columns: tuple[int, ...] = ()
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if not columns:
            columns = _named_columns(cells, languages, path)
            if columns:
                continue
            columns = _plain_columns(cells, languages, path)
        if len(cells) <= max(columns):
            raise InputError(f"has {len(cells)} columns, but the first line has {max(columns) + 1}", path, number)
        yield Pair(*(cells[column] for column in columns))


def _named_columns(cells: list[str], languages: tuple[str, str], path: Path) -> tuple[int, ...]:
    """Return the columns of source, target and document if the first line is a header, else no columns.

    A first line of language codes that lacks a wanted language raises InputError: its columns are in other languages.
    """
    names = [cell.strip() for cell in cells]
    found = [_column_of(language, names) for language in languages]
    if None not in found:
        document = [number for number, name in enumerate(names) if name.lower() == DOCUMENT_COLUMN]
        return (*(column for column in found if column is not None), *document[:1])
    codes = [name for name in names if name.lower() != DOCUMENT_COLUMN]
    if len(set(codes)) == len(codes) > 1 and all(map(_CODE.fullmatch, codes)):
        missing = [language for language, column in zip(languages, found, strict=True) if column is None]
        raise InputError(
            f"its header has no column {' or '.join(map(repr, missing))}; its languages are {list_languages(codes)}",
            path,
            1,
        )
    return ()


def _column_of(language: str, names: list[str]) -> int | None:
    """Return the first column whose name is the language, in any region."""
    return next(
        (number for number, name in enumerate(names) if " " not in name and same_language(language, name)), None
    )


def _plain_columns(cells: list[str], languages: tuple[str, str], path: Path) -> tuple[int, ...]:
    if len(cells) in (2, 3):
        return tuple(range(len(cells)))
    raise InputError(
        f"has {len(cells)} columns, but should have source, target and optionally a document id, or a header that names"
        f" {' and '.join(languages)}",
        path,
        1,
    )
