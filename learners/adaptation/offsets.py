"""Offsets: everything that distinguishes a user's adapted model from the base model, in one compact file.

Embedding tables are stored by row, because post-edits touch few of them; other tensors are stored whole. Tensors and
rows that did not move are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from learners.value_encoding import Array

KIND = "offsets 1"  # changes when an older file can no longer be read
ROW_NUMBERS, ROWS = "row numbers", "rows"  # the names of both arrays of a table, after the table's


@dataclass(frozen=True)
class Table:
    """The rows of an embedding table that moved."""

    numbers: Array  # [rows]
    rows: Array  # [rows, width]


@dataclass(frozen=True)
class Offsets:
    """What is added to the parameters of a base model."""

    base: str  # the SHA-256 of the base model's parameters
    tensors: Mapping[str, Array] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)

    @property
    def parameters(self) -> int:
        """The number of parameters that may differ from the base model's."""
        return sum(array.size for array in self._values())

    @property
    def nbytes(self) -> int:
        """The size of all arrays in bytes; a file has a header of some hundred bytes besides."""
        numbers = sum(table.numbers.nbytes for table in self.tables.values())
        return numbers + sum(array.nbytes for array in self._values())

    def _values(self) -> list[Array]:
        return [*self.tensors.values(), *(table.rows for table in self.tables.values())]

    def save(self, path: Path) -> None:
        """Write the offsets to a file, in place of what is there."""
        self.snapshot().write(path)

    @classmethod
    def load(cls, path: Path) -> "Offsets":
        """Read what ``save`` wrote; raise SnapshotError for any other file."""
        try:
            return cls.from_snapshot(Snapshot.read(path))
        except KeyError:
            raise SnapshotError(f"{path} lacks a part of the offsets") from None

    def snapshot(self) -> Snapshot:
        """Return everything that ``from_snapshot`` needs."""
        arrays = {f"tensor/{name}": array for name, array in self.tensors.items()}
        for name, table in self.tables.items():
            arrays |= {f"table/{name}/{ROW_NUMBERS}": table.numbers, f"table/{name}/{ROWS}": table.rows}
        values = {"kind": KIND, "base": self.base, "tensors": list(self.tensors), "tables": list(self.tables)}
        return Snapshot(arrays, values)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> "Offsets":
        """Return the offsets that ``snapshot`` was taken of."""
        if snapshot.values.get("kind") != KIND:
            raise SnapshotError("this is not a file of offsets")
        arrays, values = snapshot.arrays, snapshot.values
        return cls(
            values["base"],
            {name: arrays[f"tensor/{name}"] for name in values["tensors"]},
            {
                name: Table(arrays[f"table/{name}/{ROW_NUMBERS}"], arrays[f"table/{name}/{ROWS}"])
                for name in values["tables"]
            },
        )
