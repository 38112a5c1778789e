"""The file format of archives: gzipped JSON lines, each an object with one key, which is the kind of the line.

The first line has the format and its version. The last line has the number of lines before it and their SHA-256, so
that a truncated, damaged or edited file is recognised. An archive appears under its name only when it is complete, and
only its owner may read it.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from lambdas.errors import OrganiserError
from task.atomic_files import PRIVATE, open_staged
from task.bounded_gzip import DecompressionBombError, open_bounded_gzip

FORMAT = "banditmt-archive"
VERSION = 2  # of what is written
READABLE_VERSIONS = (1, 2)  # version 1 has no feedback but one number, no documents and no log-probabilities
HEADER, END = "archive", "end"  # the kinds of the first line and the last
GZIP_LEVEL = 6
MAX_LINE_BYTES = 8_000_000  # enough for the checkpoints of a billion sentences; bounds the memory that a file can take


class ArchiveError(OrganiserError):
    """An archive cannot be written or read, or is not what an export writes."""


class Line(NamedTuple):
    """One line of an archive."""

    number: int  # counted from 1
    kind: str
    fields: Any  # what JSON can hold


class ArchiveWriter:
    """Writes an archive, and leaves no file behind if that fails."""

    def __init__(self, path: Path) -> None:
        self._path, self._staging = path, ExitStack()
        self._digest, self._lines = hashlib.sha256(), 0

    def __enter__(self) -> Self:
        if self._path.exists():
            raise ArchiveError(f"{self._path} exists already; remove it or choose another name")
        try:
            file = self._staging.enter_context(open_staged(self._path, mode=PRIVATE))
        except OSError as failure:
            raise ArchiveError(f"cannot write {self._path}: {failure.strerror}") from None
        self._gzip = gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0)
        return self

    def write(self, kind: str, fields: Any) -> None:
        line = json.dumps({kind: fields}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        self._lines += 1
        self._gzip.write(line)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with self._staging:
            if error is not None:
                raise error
            self.write(END, {"lines": self._lines, "sha256": self._digest.hexdigest()})
            self._gzip.close()


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of an archive, the first and the last included.

    Raises:
        ArchiveError: The file cannot be read, or is not a complete and unchanged archive. Lines may have been yielded
            before: the checksum comes last.
    """
    try:
        with path.open("rb") as file, open_bounded_gzip(file) as unzipped:
            yield from _checked_lines(path, unzipped)
    except DecompressionBombError as bomb:
        raise ArchiveError(f"{path} {bomb}") from None
    except EOFError:
        raise ArchiveError(f"{path} is truncated: copy it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise ArchiveError(f"{path} is damaged, or not a banditmt archive: copy it again") from None
    except OSError as failure:
        raise ArchiveError(f"cannot read {path}: {failure.strerror}") from None


def _checked_lines(path: Path, unzipped: BinaryIO) -> Iterator[Line]:
    digest, number, has_ended = hashlib.sha256(), 0, False
    while text := unzipped.readline(MAX_LINE_BYTES):
        if has_ended:
            raise ArchiveError(f"{path} was changed after it was written: it has lines after its end")
        kind, fields = _parse_line(path, number, text)
        if number == 0:
            _check_header(path, kind, fields)
        has_ended = kind == END
        if has_ended and fields != {"lines": number, "sha256": digest.hexdigest()}:
            raise ArchiveError(f"{path} was changed after it was written: lines are missing, added or edited")
        digest.update(text)
        number += 1
        yield Line(number, kind, fields)
    if not has_ended:
        raise ArchiveError(f"{path} is truncated: copy it again")


def _parse_line(path: Path, number: int, text: bytes) -> tuple[str, Any]:
    try:
        ((kind, fields),) = json.loads(text).items()
    except (ValueError, AttributeError, RecursionError):
        if number == 0:
            raise ArchiveError(f"{path} is not a banditmt archive") from None
        raise ArchiveError(f"{path} is damaged in line {number + 1:,}") from None
    return kind, fields


def _check_header(path: Path, kind: str, fields: Any) -> None:
    if kind != HEADER or not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ArchiveError(f"{path} is not a banditmt archive")
    if fields.get("version") not in READABLE_VERSIONS:
        readable = " and ".join(map(str, READABLE_VERSIONS))
        raise ArchiveError(
            f"{path} has version {fields.get('version')} of the format, but this program reads versions {readable}: "
            "use the program that wrote it"
        )
