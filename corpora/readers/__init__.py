"""Real corpora come in here: one module per format, all of which give pairs and say where a file is wrong.

Any file may be gzipped. An input is one path, or two (three with document ids) joined by commas where each language has
its own file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from corpora.errors import CorpusError, InputError
from corpora.readers import gettext, jsonl, sgm, text, tmx, tsv, wmt_xml
from corpora.task import Pair

Languages = tuple[str, str]  # source and target codes
Reader = Callable[[list[Path], Languages], Iterator[Pair]]

ONE_FILE: dict[str, Reader] = {
    ".tsv": tsv.read,
    ".jsonl": jsonl.read,
    ".tmx": tmx.read,
    ".po": gettext.read,
    ".mo": gettext.read,
    ".gmo": gettext.read,
    ".xml": wmt_xml.read,
}
SEVERAL_FILES: dict[str, Reader] = {".sgm": sgm.read, ".sgml": sgm.read}

KNOWN = f"{', '.join(ONE_FILE)} or a directory of gettext catalogues; or two files of text or .sgm joined by a comma"


def read_input(given: str, languages: Languages) -> Iterator[Pair]:
    """The pairs of one input as it is given on the command line."""
    parts = [given] if given and Path(given).exists() else given.split(",")
    if not all(parts):
        raise CorpusError(f"an input is a path, or several joined by commas, but {given!r} has an empty one")
    paths = [Path(part) for part in parts]
    for path in paths:
        if not path.exists():
            raise InputError("no such file or directory", path)
    return _reader(paths)(paths, languages)


def _reader(paths: list[Path]) -> Reader:
    if len(paths) > 1:
        return SEVERAL_FILES.get(_suffix(paths[0]), text.read)
    if paths[0].is_dir():
        return gettext.read
    try:
        return ONE_FILE[_suffix(paths[0])]
    except KeyError:
        raise InputError(f"cannot tell its format from its name; known are {KNOWN}", paths[0]) from None


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
