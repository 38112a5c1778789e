"""Line-aligned text: one file for each language, and optionally a file of document ids."""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from corpora.task import Pair, zip_aligned


def read(paths: list[Path], _languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of a source file, a target file and optionally a file of document ids, in this order."""
    if len(paths) > 3:
        raise InputError(f"is one of {len(paths)} files; give source, target and optionally document ids", paths[0])
    for lines in zip_aligned(map(read_lines, paths), paths):
        yield Pair(*lines)
