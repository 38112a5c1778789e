"""Gzip files that unpack to a bounded size: what a file may take is known from its own size."""

import gzip
import io
import os
from typing import BinaryIO, cast

MAX_COMPRESSION_RATIO = 200  # gzip compresses text by 3 to 20; beyond this it is a decompression bomb
MIN_UNPACKED_BOUND = 64 << 20  # bytes that any file may unpack to, at any ratio
BUFFER_BYTES = 1 << 16


class DecompressionBombError(ValueError):
    """A gzip file unpacks to more than its size allows."""


class _BoundedGzip(io.RawIOBase):
    """The content of a gzip file. Reading raises DecompressionBombError once it has unpacked to more than the bound."""

    def __init__(self, packed: BinaryIO) -> None:
        self._unpacked = gzip.GzipFile(fileobj=packed, mode="rb")
        self._bound = max(MIN_UNPACKED_BOUND, MAX_COMPRESSION_RATIO * os.fstat(packed.fileno()).st_size)
        self._unpacked_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        data = self._unpacked.read1(len(buffer))  # what can be unpacked comes before the error
        self._unpacked_bytes += len(data)
        if self._unpacked_bytes > self._bound:
            raise DecompressionBombError(f"unpacks to more than {self._bound:,} bytes: a decompression bomb?")
        buffer[: len(data)] = data
        return len(data)


def open_bounded_gzip(packed: BinaryIO) -> BinaryIO:
    """Return a stream of what a gzip file contains.

    Reading it raises DecompressionBombError when the content is larger than the file's size allows, and the errors of
    ``gzip`` and ``zlib`` when the file is damaged.
    """
    return cast(BinaryIO, io.BufferedReader(_BoundedGzip(packed), BUFFER_BYTES))
