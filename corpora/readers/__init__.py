"""Readers of real corpora, one module for each format. All yield pairs, and their errors name the file and line.

Any file may be gzipped. An input is one path, or two joined by a comma where each language has its own file; a third
path has the document ids.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from corpora.errors import CorpusError, InputError
from corpora.readers import gettext, jsonl, sgm, text, tmx, tsv, wmt_xml
from corpora.task import Pair

Languages = tuple[str, str]  # source and target codes
Reader = Callable[[list[Path], Languages], Iterator[Pair]]

ONE_FILE_READERS: dict[str, Reader] = {
    ".tsv": tsv.read,
    ".jsonl": jsonl.read,
    ".tmx": tmx.read,
    ".po": gettext.read,
    ".mo": gettext.read,
    ".gmo": gettext.read,
    ".xml": wmt_xml.read,
}
ALIGNED_FILE_READERS: dict[str, Reader] = {".sgm": sgm.read, ".sgml": sgm.read}

SUPPORTED_INPUTS = (
    f"{', '.join(ONE_FILE_READERS)}, a directory of gettext catalogues, or two files of text or .sgm joined by a comma"
)


def read_input(given: str, languages: Languages) -> Iterator[Pair]:
    """Return the pairs of one input, given as on the command line."""
    parts = [given] if given and Path(given).exists() else given.split(",")
    if not all(parts):
        raise CorpusError(f"the input {given!r} has an empty path; give one path, or several joined by commas")
    paths = [Path(part) for part in parts]
    for path in paths:
        if not path.exists():
            raise InputError("no such file or directory", path)
    return _reader(paths)(paths, languages)


def _reader(paths: list[Path]) -> Reader:
    if len(paths) > 1:
        return ALIGNED_FILE_READERS.get(_suffix(paths[0]), text.read)
    if paths[0].is_dir():
        return gettext.read
    try:
        return ONE_FILE_READERS[_suffix(paths[0])]
    except KeyError:
        raise InputError(f"its name does not tell its format; supported are {SUPPORTED_INPUTS}", paths[0]) from None


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
