"""Group commit: writes that arrive while the disk is busy are committed together, in one transaction.

A flush takes as long for many writes as for one. So the first of the writes that wait (the leader) commits all of them
in its thread, and each returns only after that commit. A write that finds the disk idle commits at once and alone, so
no write waits in the hope of company.

If anything in a group fails, the whole transaction is rolled back, and each write is committed alone: a write can fail
only by itself.

Every write is in the queue until it is done. A leader that is interrupted has taken nothing out of the queue but
itself: the next write leads, and commits the others. A commit that took effect just before the interrupt is then
repeated, which statements that are conditional or idempotent, as all statements here are, survive.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from threading import Lock
from typing import Any

from lambdas.errors import UnavailableError

MAX_GROUP_WRITES = 256  # in one transaction; a server has no more connections than that
RECHECK_SECONDS = 1.0  # how long a waiting write trusts that it will be woken


class PendingWrite:
    """One statement, and when it is done its number of rows or its failure."""

    __slots__ = ("failure", "rows", "statement", "values", "wake")

    def __init__(self, statement: str, values: Sequence[Any]) -> None:
        self.statement, self.values = statement, values
        self.rows: int | None = None  # that were written
        self.failure: Exception | None = None
        self.wake: Lock | None = None  # held until the write is done or leads, if it has to wait

    @property
    def is_done(self) -> bool:
        return self.rows is not None or self.failure is not None


TakeGroup = Callable[[], list[PendingWrite]]


class WriteQueue:
    """The writes that are not committed yet. One of them leads: its thread commits the group.

    ``commit`` is called by one thread at a time. It takes the group when it is ready to commit, and sets the rows or
    the failure of each write. If it raises an exception instead, only the leader gets it, and the next write leads.
    """

    def __init__(self, commit: Callable[[TakeGroup], None]) -> None:
        self._commit = commit
        self._lock = Lock()
        self._writes: deque[PendingWrite] = deque()
        self._leader: PendingWrite | None = None

    def __len__(self) -> int:
        return len(self._writes)

    def commit(self, statement: str, values: Sequence[Any]) -> int:
        """Commit one statement, alone or with others, and return the number of rows that it wrote.

        Raises the failure of this statement, and of no other.
        """
        write = PendingWrite(statement, values)
        try:
            self._join(write)
            if write.wake is not None:
                self._wait(write, write.wake)
            if not write.is_done:
                self._commit(self._group)
        finally:
            if self._leader is write or not write.is_done:
                self._leave(write)
        if write.failure is not None:
            raise write.failure
        assert write.rows is not None, "a commit sets the rows or the failure of each write"
        return write.rows

    def _join(self, write: PendingWrite) -> None:
        with self._lock:
            if self._leader is None:
                self._leader = write
            else:
                write.wake = Lock()
                write.wake.acquire()
            self._writes.append(write)

    def _wait(self, write: PendingWrite, wake: Lock) -> None:
        """Wait until the write is done, or leads."""
        while not write.is_done and self._leader is not write:
            wake.acquire(timeout=RECHECK_SECONDS)

    def _group(self) -> list[PendingWrite]:
        with self._lock:
            return list(islice(self._writes, MAX_GROUP_WRITES))

    def _leave(self, write: PendingWrite) -> None:
        """Take a write out of the queue. If it led, wake the writes that are done, and let the next one lead."""
        with self._lock:
            if not write.is_done and write in self._writes:  # interrupted
                self._writes.remove(write)
            if self._leader is not write:
                return
            while self._writes and self._writes[0].is_done:
                _wake(self._writes.popleft())
            self._leader = self._writes[0] if self._writes else None
            if self._leader is not None:
                _wake(self._leader)


def _wake(write: PendingWrite) -> None:
    if write.wake is not None and write.wake.locked():
        write.wake.release()


def commit_group(connection: sqlite3.Connection, group: Sequence[PendingWrite]) -> None:
    """Commit a group of writes in one transaction, or each alone if that fails; set the outcome of each."""
    if len(group) > 1 and _commit_together(connection, group):
        return
    for write in group:
        _commit_alone(connection, write)


def _commit_together(connection: sqlite3.Connection, group: Sequence[PendingWrite]) -> bool:
    """Commit a group in one transaction; return False if it was rolled back."""
    try:
        if not _begin(connection, group):
            return True
        rows = [connection.execute(write.statement, write.values).rowcount for write in group]
        connection.execute("COMMIT")
    except Exception:
        return False
    finally:  # even after an interrupt: nothing else is committed while a transaction is open
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    for write, count in zip(group, rows, strict=True):
        write.rows = count
    return True


def _begin(connection: sqlite3.Connection, group: Sequence[PendingWrite]) -> bool:
    """Begin the transaction of a group; return False, with a failure in every write, if that is not possible.

    None of them is then tried alone: each would wait as long as this one for the process that has the lock.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as failure:
        for write in group:
            write.failure = _unavailable(failure)
        return False
    return True


def _commit_alone(connection: sqlite3.Connection, write: PendingWrite) -> None:
    try:
        write.rows = connection.execute(write.statement, write.values).rowcount
    except sqlite3.OperationalError as failure:
        write.failure = _unavailable(failure)
    except Exception as failure:
        write.failure = failure


def _unavailable(failure: sqlite3.OperationalError) -> UnavailableError:
    unavailable = UnavailableError()
    unavailable.__cause__ = failure
    return unavailable
