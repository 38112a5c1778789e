"""Files of lines, gzipped or not: reading is bounded, and writing the same lines gives the same bytes."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self

from corpora.errors import InputError
from task.bounded_gzip import DecompressionBombError, open_bounded_gzip
from task.description import FileSummary

MAX_LINE_BYTES = 1 << 20  # no sentence is longer
GZIP_LEVEL = 6

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked if it is gzipped under any name. A damaged gzip file raises InputError."""
    with path.open("rb") as raw:
        packed = raw.peek(2)[:2] == _GZIP_MAGIC
        try:
            yield open_bounded_gzip(raw) if packed else raw
        except DecompressionBombError as bomb:
            raise InputError(str(bomb), path) from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
            raise InputError(f"is a damaged or truncated gzip file ({broken})", path) from None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their line ends. Raises InputError with the line number.

    Only a line feed ends a line, and a carriage return before it is dropped. The other separators of
    ``str.splitlines`` would misalign two files.
    """
    with open_bytes(path) as stream:
        number = 0
        while True:
            number += 1
            try:
                raw = stream.readline(MAX_LINE_BYTES + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
                raise InputError(f"is a damaged or truncated gzip file ({broken})", path, number) from None
            if not raw:
                return
            if len(raw) > MAX_LINE_BYTES:
                raise InputError(f"is longer than {MAX_LINE_BYTES:,} bytes; is this a text file?", path, number)
            yield decode(raw.removeprefix(_BOM) if number == 1 else raw, path, number).rstrip("\r\n")


def decode(raw: bytes, path: Path, line: int) -> str:
    """Decode UTF-8. Raises InputError naming the first wrong byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        byte = raw[wrong.start]
        raise InputError(
            f"is not UTF-8 (byte 0x{byte:02x} at position {wrong.start + 1}); convert it with iconv", path, line
        ) from None


class LineWriter:
    """Writes lines to a gzip file. The same lines give the same bytes: the header has no name and no time."""

    def __init__(self, path: Path) -> None:
        self._raw = path.open("xb")
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=self._raw, mtime=0)
        self._packed = packed
        self._digest = hashlib.sha256()
        self._pending: list[str] = []
        self._lines = 0
        self._bytes = 0

    def write(self, line: str) -> None:
        """Append a line, given without its line end."""
        self._pending.append(line)
        if len(self._pending) == 1024:
            self._flush()

    def _flush(self) -> None:
        data = "".join(f"{line}\n" for line in self._pending).encode("utf-8")
        self._lines += len(self._pending)
        self._bytes += len(data)
        self._digest.update(data)
        self._packed.write(data)
        self._pending.clear()

    @property
    def summary(self) -> FileSummary:
        """What the file holds; complete after closing."""
        return FileSummary(self._lines, self._bytes, self._digest.hexdigest())

    def close(self) -> None:
        """Flush the lines to disk."""
        self._flush()
        self._packed.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()

    def _abandon(self) -> None:
        self._packed.fileobj = None  # type: ignore[assignment]  # else the garbage collector writes the trailer
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._abandon()
