"""A table of numbers in memory that forked processes share.

Each process of a server counts requests for the same limits. A process that is killed at any moment leaves the table
usable: the kernel releases its lock, and a record that it had half written belongs to one client only.
"""

import fcntl
import mmap
import os
import struct
import tempfile
import time
from functools import cache
from threading import Lock
from typing import Any

WAYS = 16  # places of a name in a large table


class SharedLock:
    """A lock between all threads of a process and of those that are forked from it; see ``shared_lock``.

    As long as there is no other process, it is an ordinary lock.
    """

    def __init__(self) -> None:
        self._threads = Lock()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._number = self._file.fileno()
        self._has_forked = False
        os.register_at_fork(before=self._note_fork)

    def __enter__(self) -> None:
        self._threads.acquire()
        if self._has_forked:
            fcntl.lockf(self._number, fcntl.LOCK_EX)  # released by the kernel when the process dies

    def __exit__(self, *_: object) -> None:
        if self._has_forked:
            fcntl.lockf(self._number, fcntl.LOCK_UN)
        self._threads.release()

    def _note_fork(self) -> None:
        self._has_forked = True


@cache
def shared_lock() -> SharedLock:
    """Return the lock of all tables. One is enough, because it is held for microseconds.

    With two, the kernel could take processes whose threads wait for both of them for a deadlock.
    """
    return SharedLock()


class SharedTable:
    """Records of numbers by name. A new record takes the place of one that was not used for long.

    A name has some places (``ways``), so that it is found quickly. A new record takes the one of its places whose
    record was used longest ago. The caller holds ``shared_lock()``.
    """

    def __init__(self, capacity: int, fields: str, *, ways: int = WAYS) -> None:
        """Make an empty table.

        Args:
            capacity: How many records there is room for.
            fields: The types of the numbers in a record, as in ``struct``.
            ways: How many places each name has.
        """
        self._name = struct.Struct("=q")  # the hash of the name, which is the same in all forked processes
        self._record = struct.Struct(f"=d{fields}")  # when it was last used, or 0 for an empty one, and the numbers
        self._place_bytes = self._name.size + self._record.size
        self._sets, self._set_bytes, self._capacity = -(-capacity // ways), ways * self._place_bytes, capacity
        self._memory = mmap.mmap(-1, self._sets * self._set_bytes)
        self._places: dict[str, int] = {}  # where this process last found each name

    def __len__(self) -> int:
        """Return the number of records."""
        return sum(1 for place in range(0, len(self._memory), self._place_bytes) if self.read(place))

    def place(self, name: str) -> int:
        """Return the place of a name. One that has no record yet gets an empty one."""
        place, digest = self._places.get(name), hash(name)
        if place is not None and self._name.unpack_from(self._memory, place)[0] == digest:
            return place
        if len(self._places) >= self._capacity:
            self._places.clear()
        place = self._places[name] = self._find(digest)
        return place

    def read(self, place: int) -> tuple[Any, ...] | None:
        """Return the numbers at a place, or None if its record is empty."""
        record = self._record.unpack_from(self._memory, place + self._name.size)
        return record[1:] if record[0] else None

    def write(self, place: int, *numbers: float) -> None:
        """Write the numbers at a place, whose record is now the one that was used last."""
        self._record.pack_into(self._memory, place + self._name.size, time.monotonic(), *numbers)

    def _find(self, digest: int) -> int:
        start = digest % self._sets * self._set_bytes
        places = range(start, start + self._set_bytes, self._place_bytes)
        for place in places:
            if self.read(place) and self._name.unpack_from(self._memory, place)[0] == digest:
                return place
        oldest = min(places, key=lambda place: self._record.unpack_from(self._memory, place + self._name.size)[0])
        self._memory[oldest : oldest + self._place_bytes] = self._name.pack(digest) + bytes(self._record.size)
        return oldest
