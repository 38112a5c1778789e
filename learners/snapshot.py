"""A learner's whole state as named arrays and plain values, in one file that is written whole or not at all.

Arrays are stored as raw bytes behind a JSON header: nothing in a snapshot is ever executed, unlike a pickle. A checksum
tells a damaged file from a good one.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from learners.errors import SnapshotError

MAGIC = b"banditmt-snapshot-1\n"
DIGEST_BYTES = 32
KINDS = frozenset("biuf")  # booleans, integers, floats: never objects
_KIND = re.compile(rf"[<>|=]?[{''.join(sorted(KINDS))}]\d{{1,2}}")  # numpy itself would take whole expressions


@dataclass
class Snapshot:
    """Named arrays, and values that JSON can hold."""

    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def put(self, name: str, part: "Snapshot") -> None:
        """Take in the snapshot of a part under its name."""
        self.arrays |= {f"{name}/{key}": array for key, array in part.arrays.items()}
        self.values[name] = part.values

    def part(self, name: str) -> "Snapshot":
        """The snapshot of a part, as it was put in."""
        if name not in self.values:
            raise SnapshotError(f"the snapshot has no part {name!r}: it is of another system or another version")
        prefix = f"{name}/"
        arrays = {key.removeprefix(prefix): array for key, array in self.arrays.items() if key.startswith(prefix)}
        return Snapshot(arrays, self.values[name])

    def write(self, path: Path) -> None:
        """Write aside, flush to disk, then rename: a crash leaves the old file or the new one."""
        parts = [np.ascontiguousarray(array) for array in self.arrays.values()]
        if any(part.dtype.kind not in KINDS for part in parts):
            raise SnapshotError("a snapshot holds numbers only")
        described = [
            [name, part.dtype.str, list(array.shape)]
            for (name, array), part in zip(self.arrays.items(), parts, strict=True)
        ]
        try:
            header = json.dumps({"values": self.values, "arrays": described}, allow_nan=False).encode()
        except ValueError:
            raise SnapshotError("a snapshot's values are finite; this learner's are not: has it diverged?") from None
        body = b"".join([len(header).to_bytes(8, "little"), header, *(part.tobytes() for part in parts)])
        aside = path.with_name(path.name + ".new")
        with aside.open("wb") as file:
            file.write(MAGIC + hashlib.sha256(body).digest() + body)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Snapshot":
        """Read what ``write`` wrote; anything else is refused with the reason."""
        data = path.read_bytes()
        start = len(MAGIC) + DIGEST_BYTES
        if not data.startswith(MAGIC):
            raise SnapshotError(f"{path} is not a snapshot of this version of banditmt")
        body = memoryview(data)[start:]
        if hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
            raise SnapshotError(f"{path} is damaged or cut short: its checksum does not fit")
        size = int.from_bytes(body[:8], "little")
        try:
            header = json.loads(bytes(body[8 : 8 + size]))
            return cls(_read_arrays(body[8 + size :], header["arrays"]), dict(header["values"]))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):  # the checksum fits, but not the rest
            raise SnapshotError(f"{path} is not a snapshot, though it looks like one") from None


def _read_arrays(data: memoryview, described: list[tuple[str, str, list[int]]]) -> dict[str, npt.NDArray[Any]]:
    arrays, position = {}, 0
    for name, kind, shape in described:
        if not isinstance(kind, str) or not _KIND.fullmatch(kind) or min(shape, default=0) < 0:
            raise ValueError(f"no snapshot holds {kind} of shape {shape}")
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, dtype, count, position).reshape(shape).copy()
        position += count * dtype.itemsize
    return arrays
