"""Line-aligned text: a file per language, line k of one translates line k of the other; optionally a file of ids."""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.lines import read_lines
from corpora.task import Pair, zip_aligned


def read(paths: list[Path], _languages: tuple[str, str]) -> Iterator[Pair]:
    """Pairs of two files, in the order source, target and, if there is a third, document ids."""
    if len(paths) > 3:
        raise InputError(f"expected source, target and perhaps document ids, but got {len(paths)} files", paths[0])
    for lines in zip_aligned(map(read_lines, paths), paths):
        yield Pair(*lines)
