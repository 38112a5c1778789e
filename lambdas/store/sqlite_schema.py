"""The tables of a SQLite store, the version of their schema, and how a file is recognised as a store.

The header of the file has two numbers that SQLite leaves to applications: ``application_id`` says that the file is a
store of banditmt, and ``user_version`` is the version of its schema. Stores that were written before have neither; they
are recognised by their tables. A file is examined before it is opened for writing, without locks and without files
beside it, so that the database of another program is refused as it was found.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from lambdas.store.interface import StoreError

APPLICATION_ID = int.from_bytes(b"bdmt")
# 1: version 0.1, without the log-probabilities and post-edits of rounds; 2: without their links
SCHEMA_VERSION = 3

_TABLES = {
    "documents": """
        kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, name)
    ) WITHOUT ROWID""",
    "sources": """
        phase TEXT NOT NULL, number INTEGER NOT NULL, block BLOB NOT NULL, PRIMARY KEY (phase, number)
    ) WITHOUT ROWID""",
    "references": """
        phase TEXT NOT NULL, number INTEGER NOT NULL, block BLOB NOT NULL, PRIMARY KEY (phase, number)
    ) WITHOUT ROWID""",
    "runs": """
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, participant TEXT NOT NULL, phase TEXT NOT NULL,
        system TEXT NOT NULL, attempt INTEGER NOT NULL, opened_at INTEGER NOT NULL, key INTEGER NOT NULL
    )""",
    "rounds": """
        run INTEGER NOT NULL, position INTEGER NOT NULL, translation TEXT NOT NULL,
        shown REAL NOT NULL, clean REAL NOT NULL, statistics BLOB NOT NULL,
        shown_ticks INTEGER NOT NULL, clean_ticks INTEGER NOT NULL, committed_at INTEGER NOT NULL,
        log_probability REAL, post_edit TEXT, link BLOB,
        PRIMARY KEY (run, position)
    ) WITHOUT ROWID""",
}
_ADDED_COLUMNS = {"log_probability": "REAL", "post_edit": "TEXT", "link": "BLOB"}  # of rounds, since schema version 1


def check_file(path: Path) -> None:
    """Raise StoreError unless the file is empty, a store of this version, or one that can be upgraded to it.

    The file is not changed, whatever it is.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        with closing(_open_read_only(path)) as connection:
            problem = _find_problem(connection)
    except sqlite3.DatabaseError as failure:
        raise StoreError(f"cannot open {path} as a SQLite store: {failure}") from failure
    if problem:
        raise StoreError(f"{path} {problem}")


def create_or_upgrade(connection: sqlite3.Connection) -> None:
    """Create the tables that are missing, and add columns to those of an older store, in one transaction."""
    if _versions(connection) == (APPLICATION_ID, SCHEMA_VERSION):
        return
    with _transaction(connection):
        if _find_problem(connection):  # a newer program was faster
            raise sqlite3.DatabaseError("another program has changed it meanwhile")
        for table, definition in _TABLES.items():
            connection.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({definition}')
        known = _columns(connection, "rounds")
        for name, kind in _ADDED_COLUMNS.items():
            if name not in known:
                connection.execute(f"ALTER TABLE rounds ADD COLUMN {name} {kind}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database in such a way that neither it nor a file beside it is changed or created.

    SQLite itself must open the file: if this process has the store open already, closing a plain file would release
    its locks.
    """
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    if not log.exists():
        options = "immutable=1"
    elif index.exists():  # perhaps a process is using it, so with the usual locks
        options = "mode=ro"
    else:  # left by a process that was killed: the log is read, but no index of it is written
        options = "mode=ro&vfs=unix-none"
    connection = sqlite3.connect(f"file:{quote(str(path))}?{options}", uri=True, isolation_level=None)
    if "vfs" in options:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # keeps the index in memory
    return connection


def _find_problem(connection: sqlite3.Connection) -> str | None:
    """Return why a database cannot be used as a store, or None if it can."""
    application, version = _versions(connection)
    if application == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            return (
                f"has version {version} of the schema of stores, but this program knows versions up to "
                f"{SCHEMA_VERSION}: use the program that wrote it, or update this one"
            )
        return None
    if (application, version) == (0, 0) and all(_is_table_of_store(connection, name) for name in _tables(connection)):
        return None
    return "is a database of another program, and was left as it is: choose another file for the store"


def _versions(connection: sqlite3.Connection) -> tuple[int, int]:
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    return application, version


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in rows if not name.startswith("sqlite_")]  # those are SQLite's own


def _is_table_of_store(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table is one of a store, of any version. A creation that was interrupted may lack others."""
    if table not in _TABLES:
        return False
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.execute(f'CREATE TABLE "{table}" ({_TABLES[table]}')
        wanted = _columns(empty, table)
    return wanted - _ADDED_COLUMNS.keys() <= _columns(connection, table) <= wanted


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')}


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
