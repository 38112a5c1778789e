"""The embedded store: one SQLite file in WAL mode, shared by any number of threads and processes.

Durability: with ``synchronous=FULL``, the default, a commit returns after the log has reached the disk, so that a score
never leaves before its round would survive a power cut. ``sqlite:PATH?synchronous=normal`` leaves the flush to the
operating system: nothing is lost when the process dies or is killed, but a power cut may take the last rounds back,
after their scores were told. That is good enough for simulations, which can be run again, and much faster
(``benchmarks/service.py`` measures both).

Writers take turns on one connection, readers on another: in WAL mode a reader never waits for a writer, and must not
wait for one of its own process that waits for another process.

Locked for too long, disk full, read-only: SQLite calls these operational errors. Somebody can mend them, and the
request can then be sent again, so they become ``UnavailableError``.
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
from lambdas.store.interface import Shelf, StoreAddressError, StoreError
from task.atomic_files import PRIVATE, staged_file
from task.rounds import Round, RoundResult, Run, RunProgress

BUSY_SECONDS = 5.0  # how long a writer waits for another process before it gives up: half of what a function has
IN_MEMORY = ":memory:"  # what SQLite calls a database without a file
PAGE = 2_000  # rounds read at a time
LOG_PAGES = (
    10_000  # of 4 kB, before the log is carried over: a round is a page, and carrying over waits for the disk twice
)
_SYNCHRONOUS = ("full", "normal")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (
    phase TEXT NOT NULL, number INTEGER NOT NULL, block BLOB NOT NULL, PRIMARY KEY (phase, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "references" (
    phase TEXT NOT NULL, number INTEGER NOT NULL, block BLOB NOT NULL, PRIMARY KEY (phase, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, participant TEXT NOT NULL, phase TEXT NOT NULL,
    system TEXT NOT NULL, attempt INTEGER NOT NULL, opened_at INTEGER NOT NULL, key INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS rounds (
    run INTEGER NOT NULL, position INTEGER NOT NULL, translation TEXT NOT NULL,
    shown REAL NOT NULL, clean REAL NOT NULL, statistics BLOB NOT NULL,
    shown_ticks INTEGER NOT NULL, clean_ticks INTEGER NOT NULL, committed_at INTEGER NOT NULL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
"""
_RUN = "runs.id, participant, phase, system, attempt, opened_at, key"
_ROUND = "position, translation, shown, clean, statistics, shown_ticks, clean_ticks, committed_at"
# One statement is one transaction: the round is written if its run exists, its predecessor does, and it does not. (As
# INSERT ... SELECT it would read the table that it writes, and SQLite would make a temporary one for every round.)
_APPEND = """
INSERT INTO rounds VALUES (
    (SELECT number FROM runs WHERE id = ?1 AND
        (?2 = 0 OR EXISTS (SELECT 1 FROM rounds WHERE run = number AND position = ?2 - 1))),
    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT DO NOTHING
"""
_WITHOUT_RUN = "NOT NULL constraint failed: rounds.run"
_RESTORE = """
INSERT INTO rounds SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM runs WHERE id = ?1 ON CONFLICT DO NOTHING
"""


class SQLiteStore:
    """A store in one file."""

    def __init__(self, path: Path, *, synchronous: str = "full") -> None:
        if synchronous not in _SYNCHRONOUS:
            raise StoreAddressError(f"synchronous is {' or '.join(_SYNCHRONOUS)}, but got {synchronous!r}")
        self.path, self.synchronous = path, synchronous
        self._is_file = str(path) != IN_MEMORY  # without a file, another connection would be another database
        self._lock = RLock()  # of the writers: SQLite has one at a time anyway
        self._reading = RLock() if self._is_file else self._lock
        self._connection: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection | None] = []
        _FORKS.watch(self)

    @classmethod
    def open(cls, place: str) -> Self:
        """Open ``PATH`` or ``PATH?synchronous=normal``, and make the tables if they are missing."""
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
        # It holds references and token keys. SQLite gives its log the mode of the file, so the file must exist first.
        if self._is_file and not self.path.exists():
            with suppress(OSError):  # what is wrong with the place is said below
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with self._lock:
            try:
                self._live().executescript(_SCHEMA)
            except sqlite3.DatabaseError as failure:
                raise StoreError(f"cannot use {self.path} as a SQLite store: {failure}") from failure

    def close(self) -> None:
        with self._lock, self._reading:
            for connection in (self._connection, self._reader):
                if connection is not None:
                    connection.close()
            self._connection = self._reader = None

    def backup(self, path: Path) -> None:
        """Copy the store as it is at this moment into a new file, while others go on reading and writing."""
        if path.exists():
            raise StoreError(f"{path} exists already; remove it or choose another name")
        try:
            with staged_file(path, mode=PRIVATE) as staged, closing(self._connect()) as connection:
                # a connection of its own: a copy takes long, and no caller should wait for it
                connection.execute("VACUUM INTO ?", (str(staged),))
        except (OSError, sqlite3.DatabaseError) as failure:
            raise StoreError(f"cannot write the backup {path}: {failure}") from failure

    # documents

    def document(self, kind: DocumentKind, name: str) -> Document | None:
        rows = self._all("SELECT json FROM documents WHERE kind = ? AND name = ?", (kind, name))
        return json.loads(rows[0][0]) if rows else None

    def documents(self, kind: DocumentKind) -> list[Document]:
        rows = self._all("SELECT json FROM documents WHERE kind = ? ORDER BY name", (kind,))
        return [json.loads(text) for (text,) in rows]

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        insert = "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        return self._write(insert, (kind, name, json.dumps(document))) == 1

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        self._write("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (kind, name, json.dumps(document)))

    def delete(self, kind: DocumentKind, name: str) -> None:
        self._write("DELETE FROM documents WHERE kind = ? AND name = ?", (kind, name))

    def swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        update = "UPDATE documents SET json = ? WHERE kind = ? AND name = ? AND json = ?"
        return self._write(update, (json.dumps(document), kind, name, json.dumps(known))) == 1

    # blocks

    def block(self, shelf: Shelf, phase: str, number: int) -> bytes | None:
        rows = self._all(f'SELECT block FROM "{shelf.value}" WHERE phase = ? AND number = ?', (phase, number))
        return rows[0][0] if rows else None

    def put_blocks(self, shelf: Shelf, phase: str, blocks: Iterable[tuple[int, bytes]]) -> None:
        rows = [(phase, number, block) for number, block in blocks]
        self._write_many(f'INSERT OR REPLACE INTO "{shelf.value}" VALUES (?, ?, ?)', rows)

    # the ledger

    def open_run(self, run: Run) -> None:
        columns = "id, participant, phase, system, attempt, opened_at, key"
        insert = f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self._write(insert, astuple(run))

    def append(self, played: Round) -> bool:
        try:
            return self._write(_APPEND, _values(played)) == 1
        except sqlite3.IntegrityError as failure:
            if str(failure) == _WITHOUT_RUN:  # or without the round before it
                return False
            raise

    def opening(self, run: str) -> Run | None:
        rows = self._all(f"SELECT {_RUN} FROM runs WHERE id = ?", (run,))
        return Run(*rows[0]) if rows else None

    def round(self, run: str, index: int) -> Round | None:
        return next(self._page(run, "AND position = ?", (index,)), None)

    def progress(self, run: str) -> RunProgress | None:
        last = next(self._page(run, "ORDER BY position DESC LIMIT 1"), None)
        if last is not None:
            return RunProgress(last.run, last)
        opened = self.opening(run)
        return None if opened is None else RunProgress(opened, None)

    def rounds(self, run: str, start: int = 0) -> Iterator[Round]:
        while True:  # page by page: no lock is held while somebody looks at a round
            page = list(self._page(run, "AND position >= ? ORDER BY position LIMIT ?", (start, PAGE)))
            yield from page
            if len(page) < PAGE:
                return
            start = page[-1].index + 1

    def results(self, run: str, start: int = 0) -> Iterator[RoundResult]:
        query = """SELECT position, clean, statistics, committed_at FROM rounds
            WHERE run = (SELECT number FROM runs WHERE id = ?) AND position >= ? ORDER BY position LIMIT ?"""
        while True:
            page = self._all(query, (run, start, PAGE))
            yield from map(RoundResult._make, page)
            if len(page) < PAGE:
                return
            start = page[-1][0] + 1

    def restore(self, rounds: Iterable[Round]) -> None:
        pending = iter(rounds)
        while page := list(islice(pending, PAGE)):
            self._write_many(_RESTORE, [_values(played) for played in page])

    def reassign(self, run: Run) -> None:
        self._write("UPDATE runs SET participant = ?, system = ? WHERE id = ?", (run.participant, run.system, run.id))

    def _page(self, run: str, condition: str, values: Sequence[Any] = ()) -> Iterator[Round]:
        query = (
            f"SELECT {_RUN}, {_ROUND} FROM runs JOIN rounds ON rounds.run = runs.number WHERE runs.id = ? {condition}"
        )
        for row in self._all(query, (run, *values)):
            yield Round(Run(*row[:7]), *row[7:])

    # forks

    def pause(self) -> None:
        """Wait until no thread is in here, and let none in."""
        self._lock.acquire()
        self._reading.acquire()

    def go_on(self) -> None:
        self._reading.release()
        self._lock.release()

    def begin_after_fork(self) -> None:
        """A child opens connections of its own. Those of its parent are kept, because closing them could disturb it."""
        self._inherited += [self._connection, self._reader]
        self._connection = self._reader = None

    # the connections

    def _live(self) -> sqlite3.Connection:
        """The connection of the writers."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _live_reader(self) -> sqlite3.Connection:
        if not self._is_file:
            return self._live()
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
            connection.execute("PRAGMA secure_delete = ON")  # who is erased is not to be found in unused pages either
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        except sqlite3.DatabaseError as failure:
            raise StoreError(f"cannot open {self.path} as a SQLite store: {failure}") from failure
        return connection

    def _all(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._reading:
            try:
                return self._live_reader().execute(query, values).fetchall()
            except sqlite3.OperationalError as failure:
                raise UnavailableError from failure

    def _write(self, statement: str, values: Sequence[Any]) -> int:
        with self._lock:
            try:
                return self._live().execute(statement, values).rowcount
            except sqlite3.OperationalError as failure:
                raise UnavailableError from failure

    def _write_many(self, statement: str, rows: list[Any]) -> None:
        """One statement for many rows, in one transaction."""
        with self._lock:
            connection = self._live()
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(statement, rows)
                connection.commit()
            except sqlite3.OperationalError as failure:
                raise UnavailableError from failure
            finally:  # an interrupt may come at any moment: while this is open, nothing else would be committed
                if connection.in_transaction:
                    connection.rollback()


def _values(played: Round) -> tuple[Any, ...]:
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
    )


class _Forks:
    """Forks a process while no thread is in a store: a child would wait for ever for one that only its parent has, be
    it at our lock or at one within SQLite.
    """

    def __init__(self) -> None:
        self._stores: WeakSet[SQLiteStore] = WeakSet()
        self._one_at_a_time = RLock()
        self._paused: list[SQLiteStore] = []
        os.register_at_fork(before=self._pause, after_in_parent=self._go_on, after_in_child=self._begin)

    def watch(self, store: SQLiteStore) -> None:
        self._stores.add(store)

    def _pause(self) -> None:
        self._one_at_a_time.acquire()
        self._paused = list(self._stores)
        for store in self._paused:
            store.pause()

    def _go_on(self) -> None:
        for store in self._paused:
            store.go_on()
        self._paused = []
        self._one_at_a_time.release()

    def _begin(self) -> None:
        for store in self._paused:
            store.begin_after_fork()
        self._go_on()


_FORKS = _Forks()
