"""An archive as a file: gzipped JSON lines, each an object with one key, which says of what kind the line is.

The first line names format and version. The last tells how many lines came before it and their SHA-256, so that a file
that was cut, damaged or edited is recognised as such. An archive is written aside, for its owner's eyes only, and gets
its name when it is whole.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from lambdas.errors import OrganiserError
from task.atomic_files import PRIVATE, open_staged

FORMAT = "banditmt-archive"
VERSION = 1
HEADER, END = "archive", "end"
MAX_LINE_BYTES = 8_000_000  # the checkpoints of a phase of a billion sentences; no more of a file is ever in memory

Line = tuple[int, str, Any]  # its number, its kind, and what it says


class ArchiveError(OrganiserError):
    """A file that cannot be written, read or believed."""


class Writer:
    """Writes an archive; leaves nothing behind if that fails."""

    def __init__(self, path: Path) -> None:
        self._path, self._staging = path, ExitStack()
        self._digest, self._lines = hashlib.sha256(), 0

    def __enter__(self) -> Self:
        if self._path.exists():
            raise ArchiveError(f"{self._path} exists already; remove it or choose another name")
        try:
            file = self._staging.enter_context(open_staged(self._path, mode=PRIVATE))
        except OSError as wrong:
            raise ArchiveError(f"cannot write {self._path}: {wrong.strerror}") from None
        self._packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
        return self

    def write(self, kind: str, says: Any) -> None:
        line = json.dumps({kind: says}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        self._lines += 1
        self._packed.write(line)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with self._staging:
            if error is not None:
                raise error
            self.write(END, {"lines": self._lines, "sha256": self._digest.hexdigest()})
            self._packed.close()


def read(path: Path) -> Iterator[Line]:
    """The lines of an archive, header and end included; what is not a whole and sound archive is refused."""
    try:
        with path.open("rb") as file, gzip.GzipFile(fileobj=file, mode="rb") as packed:
            yield from _checked(path, packed)
    except EOFError:
        raise ArchiveError(f"{path} is cut short: copy it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise ArchiveError(f"{path} is damaged, or no archive of banditmt at all: copy it again") from None
    except OSError as wrong:
        raise ArchiveError(f"cannot read {path}: {wrong.strerror}") from None


def _checked(path: Path, packed: gzip.GzipFile) -> Iterator[Line]:
    digest, number, ended = hashlib.sha256(), 0, False
    while text := packed.readline(MAX_LINE_BYTES):
        if ended:
            raise ArchiveError(f"{path} goes on after its end: it is not as it was written")
        kind, says = _parsed(path, number, text)
        if number == 0:
            _check_header(path, kind, says)
        ended = kind == END
        if ended and says != {"lines": number, "sha256": digest.hexdigest()}:
            raise ArchiveError(f"{path} is not as it was written: lines are missing, added or changed")
        digest.update(text)
        number += 1
        yield number, kind, says
    if not ended:
        raise ArchiveError(f"{path} is cut short: copy it again")


def _parsed(path: Path, number: int, text: bytes) -> tuple[str, Any]:
    try:
        ((kind, says),) = json.loads(text).items()
    except (ValueError, AttributeError, RecursionError):
        if number == 0:
            raise ArchiveError(f"{path} is no archive of banditmt") from None
        raise ArchiveError(f"{path} is damaged in line {number + 1:,}") from None
    return kind, says


def _check_header(path: Path, kind: str, says: Any) -> None:
    if kind != HEADER or not isinstance(says, dict) or says.get("format") != FORMAT:
        raise ArchiveError(f"{path} is no archive of banditmt")
    if says.get("version") != VERSION:
        raise ArchiveError(
            f"{path} is in version {says.get('version')} of the format, but this program reads version {VERSION}: "
            "use the program that wrote it"
        )
