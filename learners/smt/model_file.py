"""Model files: named arrays and plain values in one file that is memory-mapped, so that processes share its pages.

A snapshot (``learners.snapshot``) would copy the hundreds of megabytes of a grammar into every process. Nothing in a
model file is ever executed. A checksum detects damage.

Layout: ``MAGIC``, checksum of everything after the header (4 bytes), size of the description (8 bytes), description as
JSON, arrays.
"""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from learners.errors import SnapshotError
from learners.smt.hashing import Array
from task.atomic_files import open_staged

MAGIC = b"banditmt-archive-1\n"
ARRAY_ALIGNMENT = 64  # bytes: arrays start at multiples of it
DTYPE_KINDS = frozenset("iuf")  # integers and floats: never objects
HEADER_BYTES = len(MAGIC) + 4 + 8  # magic, checksum, size of the description


def write_model_file(path: Path, arrays: dict[str, Array], values: dict[str, Any]) -> None:
    """Write a model file; a crash leaves the old file or the new one."""
    described, position = [], 0
    for name, array in arrays.items():
        described.append([name, array.dtype.str, list(array.shape), position])
        position += _padded(array.nbytes)
    description = json.dumps({"values": values, "arrays": described, "bytes": position}, allow_nan=False).encode()
    description += b" " * (_padded(HEADER_BYTES + len(description)) - HEADER_BYTES - len(description))
    with open_staged(path) as file:
        file.write(MAGIC + bytes(4) + len(description).to_bytes(8, "little"))
        checksum = _write(file, description, 0)
        for array in arrays.values():
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            checksum = _write(file, bytes(_padded(len(data)) - len(data)), _write(file, data, checksum))
        file.seek(len(MAGIC))
        file.write(checksum.to_bytes(4, "little"))


def read_model_file(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays, memory-mapped, and the values of a model file.

    Raises:
        SnapshotError: the file is damaged, or is not a model file of this version.
    """
    with path.open("rb") as file:
        start = file.read(HEADER_BYTES)
    if not start.startswith(MAGIC):
        raise SnapshotError(f"{path} is not a statistical model of this version of banditmt")
    if len(start) < HEADER_BYTES or path.stat().st_size == HEADER_BYTES:
        raise SnapshotError(f"{path} is cut short")
    # Copy on write: compiled code then sees an ordinary writable array, the type that it was compiled for.
    data = np.asarray(np.memmap(path, np.uint8, "c"))
    if zlib.crc32(data[HEADER_BYTES:].data) != int.from_bytes(start[len(MAGIC) : len(MAGIC) + 4], "little"):
        raise SnapshotError(f"{path} is damaged or cut short: its checksum does not match")
    body = HEADER_BYTES + int.from_bytes(start[-8:], "little")
    try:
        header = json.loads(data[HEADER_BYTES:body].tobytes())
        return {name: _array(data[body:], *place) for name, *place in header["arrays"]}, dict(header["values"])
    except (ValueError, KeyError, TypeError, OverflowError):  # no description that ``write_model_file`` writes
        raise SnapshotError(f"{path} is not a statistical model, though it looks like one") from None


def _padded(size: int) -> int:
    return -(-size // ARRAY_ALIGNMENT) * ARRAY_ALIGNMENT


def _write(file: Any, data: bytes | memoryview, checksum: int) -> int:
    """Write data to an open file; return the checksum continued by it."""
    file.write(data)
    return zlib.crc32(data, checksum)


def _array(data: Array, kind: str, shape: list[int], position: int) -> Array:
    dtype = np.dtype(kind)
    if dtype.kind not in DTYPE_KINDS or min(shape, default=0) < 0 or position < 0:
        raise ValueError(f"no model file holds arrays of type {kind} and shape {shape}")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return data[position : position + size].view(dtype).reshape(shape)
