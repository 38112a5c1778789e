"""Lines of text on disk, gzipped or not: read within bounds, and written so that the same lines give the same bytes."""

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self, cast

from corpora.errors import InputError
from task.description import FileSummary

MAX_LINE = 1 << 20  # bytes; nothing that anybody translates as one sentence is longer
BOMB_RATIO = 200  # text shrinks by 3 to 20 in gzip; from here on it is a decompression bomb
BOMB_ALLOWANCE = 64 << 20  # bytes that any file may unpack to, whatever the ratio
COMPRESSION_LEVEL = 6

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, refused from the byte on at which it turns out to be a bomb."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        self._path = path
        self._unpacked = gzip.GzipFile(fileobj=packed, mode="rb")
        self._bound = max(BOMB_ALLOWANCE, BOMB_RATIO * path.stat().st_size)
        self._seen = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        data = self._unpacked.read1(len(buffer))  # whatever can be unpacked comes before the complaint about the rest
        self._seen += len(data)
        if self._seen > self._bound:
            raise InputError(f"unpacks to more than {self._bound:,} bytes: a decompression bomb?", self._path)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if it is gzipped (whatever its name says); a broken gzip file is an InputError."""
    with path.open("rb") as raw:
        packed = raw.peek(2)[:2] == _GZIP_MAGIC
        stream = io.BufferedReader(_Unpacked(path, raw), 1 << 16) if packed else raw
        try:
            yield cast(BinaryIO, stream)
        except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
            raise InputError(f"broken or truncated gzip file ({broken})", path) from None


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends; whatever is wrong is said with its line number.

    Only a line feed ends a line (and a carriage return before it is dropped): the exotic separators that
    ``str.splitlines`` also honours would put two files out of step.
    """
    with open_bytes(path) as stream:
        number = 0
        while True:
            number += 1
            try:
                raw = stream.readline(MAX_LINE + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
                raise InputError(f"broken or truncated gzip file ({broken})", path, number) from None
            if not raw:
                return
            if len(raw) > MAX_LINE:
                raise InputError(f"longer than {MAX_LINE:,} bytes: is this a text file?", path, number)
            yield decode(raw.removeprefix(_BOM) if number == 1 else raw, path, number).rstrip("\r\n")


def decode(raw: bytes, path: Path, line: int) -> str:
    """UTF-8 to text, or an error that names the byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        byte = raw[wrong.start]
        raise InputError(
            f"not UTF-8 (byte 0x{byte:02x} at position {wrong.start + 1}); convert it with iconv first", path, line
        ) from None


class LineWriter:
    """Writes lines to a gzip file: the same lines give the same bytes, with no name or time in the header."""

    def __init__(self, path: Path) -> None:
        self._raw = path.open("xb")
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION_LEVEL, fileobj=self._raw, mtime=0)
        self._packed = packed
        self._digest = hashlib.sha256()
        self._pending: list[str] = []
        self._lines = 0
        self._bytes = 0

    def write(self, line: str) -> None:
        """Add one line, which has no end of its own."""
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
        """What has been written; to be asked after closing."""
        return FileSummary(self._lines, self._bytes, self._digest.hexdigest())

    def close(self) -> None:
        """Make the lines durable."""
        self._flush()
        self._packed.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()

    def _abandon(self) -> None:
        self._packed.fileobj = None  # type: ignore[assignment]  # else the garbage collector would try to write the trailer
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._abandon()
