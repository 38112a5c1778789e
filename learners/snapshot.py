"""A learner's whole state in one file: named arrays and ordinary values.

Arrays are stored as raw bytes behind a JSON header. Nothing in a snapshot is ever executed, unlike a pickle, and a
checksum tells a damaged file from a sound one. The file is replaced as a whole or not at all.

Version 1 of the format holds the values that JSON has. Version 2 also holds the types of ``learners.value_encoding``;
it is written only where one of them occurs, so that files of other learners stay as they were.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learners.errors import SnapshotError
from learners.value_encoding import ARRAY_KINDS, Array, Encoder, check_numeric, decode
from task.atomic_files import write_bytes

MAGIC = b"banditmt-snapshot-1\n"
MAGIC_2 = b"banditmt-snapshot-2\n"
DIGEST_BYTES = 32
LENGTH_BYTES = 8  # of the number of bytes in the header
_DTYPE = re.compile(rf"[<>|=]?[{''.join(sorted(ARRAY_KINDS))}]\d{{1,2}}")  # numpy itself would take whole expressions


@dataclass
class Snapshot:
    """The state of a learner, or of a part of it.

    Attributes:
        arrays: Arrays of numbers, by name.
        values: Ordinary values, by name: numbers, text, lists, tuples, sets, dicts, arrays, tensors, random generators.
            They come back with their types.
    """

    arrays: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def put(self, name: str, part: "Snapshot") -> None:
        """Add the snapshot of a part under a name."""
        self.arrays |= {f"{name}/{key}": array for key, array in part.arrays.items()}
        self.values[name] = part.values

    def part(self, name: str) -> "Snapshot":
        """Return the snapshot of a part, as ``put`` added it.

        Raises:
            SnapshotError: There is no part of that name.
        """
        if name not in self.values:
            raise SnapshotError(f"the snapshot has no part {name!r}: it is of another system or another version")
        prefix = f"{name}/"
        arrays = {key.removeprefix(prefix): array for key, array in self.arrays.items() if key.startswith(prefix)}
        return Snapshot(arrays, self.values[name])

    def write(self, path: Path) -> None:
        """Write the snapshot to a file, in place of what is there.

        Raises:
            SnapshotError: A value cannot be stored; the message names it. The old file stays.
        """
        for name, array in self.arrays.items():
            check_numeric(array, name)
        encoded_values, encoder = _encode(self.values)
        header: dict[str, Any] = {"values": encoded_values, "arrays": _describe(self.arrays.items())}
        if not encoder.plain:
            header["value_arrays"] = _describe(("", array) for array in encoder.arrays)
        try:
            encoded = json.dumps(header).encode()
        except ValueError as reason:  # numbers of thousands of digits
            raise SnapshotError(f"a snapshot cannot hold these values: {reason}") from None
        data = (array.tobytes() for array in (*self.arrays.values(), *encoder.arrays))
        body = b"".join([len(encoded).to_bytes(LENGTH_BYTES, "little"), encoded, *data])
        write_bytes(path, (MAGIC if encoder.plain else MAGIC_2) + hashlib.sha256(body).digest() + body)

    @classmethod
    def read(cls, path: Path) -> "Snapshot":
        """Read what ``write`` wrote.

        Raises:
            SnapshotError: The file is no snapshot, or it is damaged.
        """
        content = path.read_bytes()
        start = len(MAGIC) + DIGEST_BYTES
        if not content.startswith((MAGIC, MAGIC_2)):
            raise SnapshotError(f"{path} is not a snapshot of this version of banditmt")
        body = memoryview(content)[start:]
        if hashlib.sha256(body).digest() != content[len(MAGIC) : start]:
            raise SnapshotError(f"{path} is damaged or truncated: its checksum does not fit")
        end = LENGTH_BYTES + int.from_bytes(body[:LENGTH_BYTES], "little")
        try:
            header = json.loads(bytes(body[LENGTH_BYTES:end]))
            arrays = _read_arrays(body[end:], header["arrays"] + header.get("value_arrays", []))
            named = {name: next(arrays) for name, *_ in header["arrays"]}
            if content.startswith(MAGIC):
                return cls(named, dict(header["values"]))
            return cls(named, dict(decode(header["values"], list(arrays))))
        except (ValueError, LookupError, TypeError, OverflowError, RuntimeError):
            raise SnapshotError(f"{path} has the checksum of a snapshot, but not its content") from None


def _encode(values: dict[str, Any]) -> tuple[Any, Encoder]:
    encoder = Encoder()
    try:
        return encoder.encode(values, "values"), encoder
    except RecursionError:
        raise SnapshotError("a snapshot cannot hold values that are nested so deeply") from None


def _describe(arrays: Iterable[tuple[str, Array]]) -> list[Any]:
    return [[name, array.dtype.str, list(array.shape)] for name, array in arrays]


def _read_arrays(data: memoryview, described: list[tuple[str, str, list[int]]]) -> Iterator[Array]:
    position = 0
    for _, kind, shape in described:
        if not isinstance(kind, str) or not _DTYPE.fullmatch(kind) or min(shape, default=0) < 0:
            raise ValueError(f"no snapshot holds {kind} of shape {shape}")
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        yield np.frombuffer(data, dtype, count, position).reshape(shape).copy()
        position += count * dtype.itemsize
