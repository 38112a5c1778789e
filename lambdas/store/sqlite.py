"""The embedded store: one SQLite file in WAL mode, shared by any number of threads and processes.

Durability: with ``synchronous=FULL``, the default, a commit returns after the write-ahead log has reached the disk. So
a score never leaves before its round would survive a power cut. ``sqlite:PATH?synchronous=normal`` leaves the flush to
the operating system. Nothing is lost when the process is killed, but a power cut may undo the last rounds after their
scores were sent. That is good enough for simulations, which can be run again, and much faster
(``benchmarks/service.py`` measures both).

All writers share one connection, and all readers another. In WAL mode a reader never waits for a writer. On a shared
connection it would: for a writer of its own process that waits for another process.

With ``FULL``, writes that arrive while the disk is busy are committed together, with one flush for all of them, and
each is acknowledged after it (see ``group_commit``). With ``normal`` there is no flush to share, and a commit takes
less time than handing it to another thread.

A lock timeout, a full disk and a read-only file are operational errors in SQLite. The organiser can solve them, and the
client can then repeat its request, so they become ``UnavailableError``.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, Self
from weakref import WeakSet

from lambdas.errors import UnavailableError
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.group_commit import TakeGroup, WriteQueue, commit_group
from lambdas.store.interface import StoreAddressError, StoreError, TextSide, parse_document
from lambdas.store.sqlite_schema import check_file, create_or_upgrade
from task.atomic_files import PRIVATE, staged_file
from task.rounds import Round, RoundResult, Run, RunProgress

BUSY_SECONDS = 5.0  # how long a writer waits for another process: half of the time limit of a function
IN_MEMORY = ":memory:"  # the name of a database without a file
PAGE_ROUNDS = 2_000  # rounds read at a time
# Pages of 4 kB in the log before they are moved into the database. A round is one page, and moving them flushes twice.
WAL_CHECKPOINT_PAGES = 10_000
_SYNCHRONOUS_MODES = ("full", "normal")

_RUN_COLUMNS = "runs.id, participant, phase, system, attempt, opened_at, key"
_ROUND_COLUMNS = (
    "position, translation, shown, clean, statistics, shown_ticks, clean_ticks, committed_at, "
    "log_probability, post_edit, coalesce(link, x'')"
)
# One statement is one transaction. The round is written if its run and its predecessor exist, and it does not exist
# itself. (INSERT ... SELECT would read the table that it writes, so SQLite would create a temporary table every time.)
_APPEND = """
INSERT INTO rounds ({columns}) VALUES (
    (SELECT number FROM runs WHERE id = ?1 AND
        (?2 = 0 OR EXISTS (SELECT 1 FROM rounds WHERE run = number AND position = ?2 - 1))),
    {values})
ON CONFLICT DO NOTHING
"""
_CLASSIC_COLUMNS = "run, position, translation, shown, clean, statistics, shown_ticks, clean_ticks, committed_at, link"
_CLASSIC_VALUES = "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"
# Nearly all rounds have neither a log-probability nor a post-edit, and binding two empty values costs time.
_APPEND_CLASSIC = _APPEND.format(columns=_CLASSIC_COLUMNS, values=_CLASSIC_VALUES)
_APPEND_WHOLE = _APPEND.format(
    columns=f"{_CLASSIC_COLUMNS}, log_probability, post_edit", values=f"{_CLASSIC_VALUES}, ?11, ?12"
)
_RUN_OR_PREDECESSOR_MISSING = "NOT NULL constraint failed: rounds.run"
_RESTORE = """
INSERT INTO rounds SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11, ?12, ?10 FROM runs WHERE id = ?1
ON CONFLICT DO NOTHING
"""


class SQLiteStore:
    """A store in one SQLite file; see ``Store`` for its methods."""

    def __init__(self, path: Path, *, synchronous: str = "full") -> None:
        if synchronous not in _SYNCHRONOUS_MODES:
            raise StoreAddressError(f"synchronous is {' or '.join(_SYNCHRONOUS_MODES)}, but got {synchronous!r}")
        self.path, self.synchronous = path, synchronous
        self.is_file = str(path) != IN_MEMORY  # without one, a second connection would be a second database
        self._write_lock = RLock()  # SQLite has one writer at a time anyway
        self._read_lock = RLock() if self.is_file else self._write_lock
        self._writes = WriteQueue(self._commit)
        self._groups_commits = synchronous == "full"
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._parent_connections: list[sqlite3.Connection | None] = []
        _FORK_GUARD.add(self)

    @classmethod
    def open(cls, place: str) -> Self:
        """Open ``PATH`` or ``PATH?synchronous=normal``; create the tables, or upgrade those of an older version."""
        path, question, option = place.partition("?")
        name, _, value = option.partition("=")
        if question and name != "synchronous":
            raise StoreAddressError(f"the only option of a SQLite store is synchronous=full|normal, but got {option!r}")
        store = cls(Path(path), synchronous=value if question else "full")
        store.prepare()
        return store

    def prepare(self) -> None:
        if not self.path.parent.is_dir():
            raise StoreError(f"the folder of the store does not exist: {self.path.parent}")
        if self.is_file and self._writer is None:
            check_file(self.path)
        # The file holds references and token keys, so only its owner may read it. SQLite gives its log the mode of the
        # file, so the file must exist first.
        if self.is_file and not self.path.exists():
            with suppress(OSError):  # the statement below reports what is wrong with the path
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with self._write_lock:
            try:
                create_or_upgrade(self._writer_connection())
            except sqlite3.DatabaseError as failure:
                raise StoreError(f"cannot use {self.path} as a SQLite store: {failure}") from failure

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            for connection in (self._writer, self._reader):
                if connection is not None:
                    connection.close()
            self._writer = self._reader = None

    def backup(self, path: Path) -> None:
        """Copy the store as it is at this moment into a new file, while others read and write.

        Raises:
            StoreError: The file exists already, or cannot be written.
        """
        if path.exists():
            raise StoreError(f"{path} exists already; remove it or choose another name")
        try:
            with staged_file(path, mode=PRIVATE) as staged, closing(self._connect()) as connection:
                # its own connection: a copy takes long, and no caller should wait for it
                connection.execute("VACUUM INTO ?", (str(staged),))
        except (OSError, sqlite3.DatabaseError) as failure:
            raise StoreError(f"cannot write the backup {path}: {failure}") from failure

    # documents

    def document(self, kind: DocumentKind, name: str) -> Document | None:
        rows = self._fetch_all("SELECT json FROM documents WHERE kind = ? AND name = ?", (kind, name))
        return parse_document(kind, rows[0][0]) if rows else None

    def documents(self, kind: DocumentKind) -> list[Document]:
        rows = self._fetch_all("SELECT json FROM documents WHERE kind = ? ORDER BY name", (kind,))
        return [parse_document(kind, text) for (text,) in rows]

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        insert = "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        return self._execute(insert, (kind, name, json.dumps(document))) == 1

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        self._execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (kind, name, json.dumps(document)))

    def delete(self, kind: DocumentKind, name: str) -> None:
        self._execute("DELETE FROM documents WHERE kind = ? AND name = ?", (kind, name))

    def compare_and_swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        update = "UPDATE documents SET json = ? WHERE kind = ? AND name = ? AND json = ?"
        return self._execute(update, (json.dumps(document), kind, name, json.dumps(known))) == 1

    # blocks

    def block(self, side: TextSide, phase: str, number: int) -> bytes | None:
        rows = self._fetch_all(f'SELECT block FROM "{side.value}" WHERE phase = ? AND number = ?', (phase, number))
        return rows[0][0] if rows else None

    def put_blocks(self, side: TextSide, phase: str, blocks: Iterable[tuple[int, bytes]]) -> None:
        rows = [(phase, number, block) for number, block in blocks]
        self._execute_many(f'INSERT OR REPLACE INTO "{side.value}" VALUES (?, ?, ?)', rows)

    # the ledger

    def open_run(self, run: Run) -> None:
        columns = "id, participant, phase, system, attempt, opened_at, key"
        insert = f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self._execute(insert, astuple(run))

    def append(self, played: Round) -> bool:
        try:
            if played.log_probability is None and played.post_edit is None:
                return self._execute(_APPEND_CLASSIC, _classic_values(played)) == 1
            return self._execute(_APPEND_WHOLE, _round_values(played)) == 1
        except sqlite3.IntegrityError as failure:
            if str(failure) == _RUN_OR_PREDECESSOR_MISSING:
                return False
            raise

    def opening(self, run: str) -> Run | None:
        rows = self._fetch_all(f"SELECT {_RUN_COLUMNS} FROM runs WHERE id = ?", (run,))
        return Run(*rows[0]) if rows else None

    def round(self, run: str, index: int) -> Round | None:
        return next(self._select_rounds(run, "AND position = ?", (index,)), None)

    def progress(self, run: str) -> RunProgress | None:
        newest = list(self._select_rounds(run, "ORDER BY position DESC LIMIT 2"))
        if newest:
            return RunProgress(newest[0].run, newest[0], newest[1].link if len(newest) > 1 else b"")
        opened = self.opening(run)
        return None if opened is None else RunProgress(opened, None)

    def rounds(self, run: str, start: int = 0) -> Iterator[Round]:
        while True:  # page by page, so that no lock is held while the caller works on a round
            page = list(self._select_rounds(run, "AND position >= ? ORDER BY position LIMIT ?", (start, PAGE_ROUNDS)))
            yield from page
            if len(page) < PAGE_ROUNDS:
                return
            start = page[-1].index + 1

    def results(self, run: str, start: int = 0) -> Iterator[RoundResult]:
        query = """SELECT position, clean, statistics, committed_at, coalesce(link, x'') FROM rounds
            WHERE run = (SELECT number FROM runs WHERE id = ?) AND position >= ? ORDER BY position LIMIT ?"""
        while True:
            page = self._fetch_all(query, (run, start, PAGE_ROUNDS))
            yield from map(RoundResult._make, page)
            if len(page) < PAGE_ROUNDS:
                return
            start = page[-1][0] + 1

    def openings(self) -> Iterator[tuple[str, Run | None]]:
        for row in self._fetch_all(f"SELECT {_RUN_COLUMNS} FROM runs", ()):
            yield row[0], Run(*row)
        orphans = "SELECT DISTINCT run FROM rounds WHERE run NOT IN (SELECT number FROM runs)"
        for (number,) in self._fetch_all(orphans, ()):
            yield f"number {number}", None  # only the opening tells its id

    def restore_rounds(self, rounds: Iterable[Round]) -> None:
        pending = iter(rounds)
        while page := list(islice(pending, PAGE_ROUNDS)):
            self._execute_many(_RESTORE, [_round_values(played) for played in page])

    def reassign(self, run: Run) -> None:
        self._execute("UPDATE runs SET participant = ?, system = ? WHERE id = ?", (run.participant, run.system, run.id))

    def _select_rounds(self, run: str, condition: str, values: Sequence[Any] = ()) -> Iterator[Round]:
        joined = "runs JOIN rounds ON rounds.run = runs.number"
        query = f"SELECT {_RUN_COLUMNS}, {_ROUND_COLUMNS} FROM {joined} WHERE runs.id = ? {condition}"
        for row in self._fetch_all(query, (run, *values)):
            yield Round(Run(*row[:7]), *row[7:])

    # forked processes

    def acquire_locks(self) -> None:
        """Wait until no thread uses the store, and keep all threads out."""
        self._write_lock.acquire()
        self._read_lock.acquire()

    def release_locks(self) -> None:
        self._read_lock.release()
        self._write_lock.release()

    def reset_after_fork(self) -> None:
        """Let a forked child open its own connections.

        It keeps those of its parent open, because closing them could release the parent's locks.
        """
        self._parent_connections += [self._writer, self._reader]
        self._writer = self._reader = None
        self._writes = WriteQueue(self._commit)  # those of the parent's threads are not the child's to commit

    # the connections

    def _writer_connection(self) -> sqlite3.Connection:
        """Return the connection of all writers, which is opened on first use and is in no transaction."""
        if self._writer is None:
            self._writer = self._connect()
        elif self._writer.in_transaction:  # an interrupt came during the rollback after an interrupt
            self._writer.rollback()
        return self._writer

    def _reader_connection(self) -> sqlite3.Connection:
        if not self.is_file:
            return self._writer_connection()
        if self._reader is None:
            self._reader = self._connect()
        return self._reader

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self.synchronous}")
            connection.execute("PRAGMA secure_delete = ON")  # an erased name must not stay in unused pages
            connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_CHECKPOINT_PAGES}")
        except sqlite3.DatabaseError as failure:
            raise StoreError(f"cannot open {self.path} as a SQLite store: {failure}") from failure
        return connection

    def _fetch_all(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._read_lock:
            try:
                return self._reader_connection().execute(query, values).fetchall()
            except sqlite3.OperationalError as failure:
                raise UnavailableError from failure
            except sqlite3.DatabaseError as failure:
                raise self._damage_error(failure) from failure

    def _execute(self, statement: str, values: Sequence[Any]) -> int:
        """Execute and commit one statement; return its number of rows."""
        try:
            if self._groups_commits:
                return self._writes.commit(statement, values)
            with self._write_lock:
                return self._writer_connection().execute(statement, values).rowcount
        except sqlite3.OperationalError as failure:
            raise UnavailableError from failure
        except sqlite3.IntegrityError:  # of the data, not of the file
            raise
        except sqlite3.DatabaseError as failure:
            raise self._damage_error(failure) from failure

    def _commit(self, take_group: TakeGroup) -> None:
        with self._write_lock:
            commit_group(self._writer_connection(), take_group())

    def _execute_many(self, statement: str, rows: list[Any]) -> None:
        """Execute one statement for many rows, in one transaction."""
        with self._write_lock:
            connection = self._writer_connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(statement, rows)
                connection.commit()
            except sqlite3.OperationalError as failure:
                raise UnavailableError from failure
            except sqlite3.IntegrityError:
                raise
            except sqlite3.DatabaseError as failure:
                raise self._damage_error(failure) from failure
            finally:  # even after an interrupt: nothing else is committed while a transaction is open
                if connection.in_transaction:
                    connection.rollback()

    def _damage_error(self, failure: sqlite3.DatabaseError) -> StoreError:
        return StoreError(f"the store {self.path} is damaged ({failure}): restore a backup")


def _round_values(played: Round) -> tuple[Any, ...]:
    return (*_classic_values(played), played.log_probability, played.post_edit)


def _classic_values(played: Round) -> tuple[Any, ...]:
    return (
        played.run.id,
        played.index,
        played.translation,
        played.observed_reward,
        played.true_reward,
        played.statistics,
        played.observed_ticks,
        played.true_ticks,
        played.committed_at,
        played.link or None,
    )


class _ForkGuard:
    """Lets a process fork only while no thread uses a store.

    A forked child has a copy of every lock, but not the thread that would release it. It would wait for ever, at our
    locks or at one within SQLite.
    """

    def __init__(self) -> None:
        self._stores: WeakSet[SQLiteStore] = WeakSet()
        self._fork_lock = RLock()
        self._locked_stores: list[SQLiteStore] = []
        os.register_at_fork(
            before=self._lock_stores, after_in_parent=self._unlock_stores, after_in_child=self._reset_stores
        )

    def add(self, store: SQLiteStore) -> None:
        self._stores.add(store)

    def _lock_stores(self) -> None:
        self._fork_lock.acquire()
        self._locked_stores = list(self._stores)
        for store in self._locked_stores:
            store.acquire_locks()

    def _unlock_stores(self) -> None:
        for store in self._locked_stores:
            store.release_locks()
        self._locked_stores = []
        self._fork_lock.release()

    def _reset_stores(self) -> None:
        for store in self._locked_stores:
            store.reset_after_fork()
        self._unlock_stores()


_FORK_GUARD = _ForkGuard()
