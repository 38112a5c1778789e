"""Which files are taken as a store: ours of any version up to today's. All others are refused as they were found."""

import multiprocessing
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lambdas.store import StoreError, open_store
from lambdas.store.sqlite import SQLiteStore
from lambdas.store.sqlite_schema import APPLICATION_ID, SCHEMA_VERSION
from tests.lambdas.store.test_contract import RUN, played

VERSION_01 = Path(__file__).parents[2] / "fixtures" / "v0.1" / "store.sqlite"
FOREIGN = r"store\.db is a database of another program, and was left as it is: choose another file for the store$"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def execute(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def header_numbers(path):
    """The two numbers in the header of the file, as SQLite documents its place."""
    header = path.read_bytes()[:100]
    return int.from_bytes(header[68:72]), int.from_bytes(header[60:64])


def refuse(folder, message):
    before = contents(folder)
    with pytest.raises(StoreError, match=message):
        open_store(f"sqlite:{folder / 'store.db'}")
    assert contents(folder) == before


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE bookmarks (url TEXT)"],
        ["CREATE TABLE documents (id INTEGER PRIMARY KEY, title TEXT)"],
        ["CREATE TABLE documents (kind, name, json, author)"],
        ["CREATE TABLE runs (id TEXT)", "CREATE TABLE rounds (run TEXT)"],
        ["PRAGMA application_id = 252006674"],
        ["PRAGMA user_version = 7"],
        ["PRAGMA journal_mode = WAL", "CREATE TABLE bookmarks (url TEXT)"],
    ],
)
def test_the_database_of_another_program_is_refused_untouched(tmp_path, statements):
    execute(tmp_path / "store.db", *statements)
    refuse(tmp_path, FOREIGN)


def _write_and_die(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    os._exit(0)


@pytest.mark.parametrize("has_index", [True, False])
def test_a_foreign_database_that_has_everything_in_its_log_is_refused_untouched(tmp_path, has_index):
    dying = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(tmp_path / "store.db",))
    dying.start()
    dying.join()
    assert contents(tmp_path).keys() == {"store.db", "store.db-wal", "store.db-shm"}
    assert b"bookmarks" not in (tmp_path / "store.db").read_bytes()
    if has_index:
        with pytest.raises(StoreError, match=FOREIGN):  # the index holds marks of readers, which may change
            open_store(f"sqlite:{tmp_path / 'store.db'}")
        assert contents(tmp_path).keys() == {"store.db", "store.db-wal", "store.db-shm"}
    else:
        (tmp_path / "store.db-shm").unlink()
        refuse(tmp_path, FOREIGN)


def test_a_newer_store_is_refused_untouched(tmp_path):
    SQLiteStore.open(str(tmp_path / "store.db")).close()
    execute(tmp_path / "store.db", "PRAGMA user_version = 4")
    refuse(
        tmp_path,
        r"store\.db has version 4 of the schema of stores, but this program knows versions up to 3: "
        r"use the program that wrote it, or update this one$",
    )


def test_a_new_store_says_what_it_is(tmp_path):
    SQLiteStore.open(str(tmp_path / "store.db")).close()
    assert header_numbers(tmp_path / "store.db") == (APPLICATION_ID, SCHEMA_VERSION) == (0x62646D74, 3)


def test_so_does_a_backup(sqlite, tmp_path):
    sqlite.backup(tmp_path / "backup.db")
    assert header_numbers(tmp_path / "backup.db") == (APPLICATION_ID, SCHEMA_VERSION)


def test_an_older_store_is_upgraded(tmp_path):
    shutil.copy(VERSION_01, tmp_path / "store.db")
    assert header_numbers(tmp_path / "store.db") == (0, 0)
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    store.open_run(RUN)
    assert store.append(played(0, log_probability=-1.5, post_edit="so")) is True
    assert store.round(RUN.id, 0) == played(0, log_probability=-1.5, post_edit="so")
    store.close()
    assert header_numbers(tmp_path / "store.db") == (APPLICATION_ID, SCHEMA_VERSION)


def _upgrade_and_die(path):
    SQLiteStore.open(str(path))
    os._exit(0)


@pytest.mark.parametrize("has_index", [True, False])
def test_a_store_whose_process_was_killed_opens_again(tmp_path, has_index):
    """Then all tables may be in the log, and a copy may lack the index of the log."""
    dying = multiprocessing.get_context("fork").Process(target=_upgrade_and_die, args=(tmp_path / "store.db",))
    dying.start()
    dying.join()
    if not has_index:
        (tmp_path / "store.db-shm").unlink()
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    store.open_run(RUN)
    assert store.append(played(0)) is True
    store.close()


def test_a_creation_that_was_interrupted_is_completed(tmp_path):
    """Earlier versions created one table after the other."""
    table = "kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, name)"
    execute(tmp_path / "store.db", "PRAGMA journal_mode = WAL", f"CREATE TABLE documents ({table}) WITHOUT ROWID")
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    store.open_run(RUN)
    assert store.append(played(0)) is True
    store.close()


def test_an_empty_file_becomes_a_store(tmp_path):
    (tmp_path / "store.db").touch()
    SQLiteStore.open(str(tmp_path / "store.db")).close()
    assert header_numbers(tmp_path / "store.db") == (APPLICATION_ID, SCHEMA_VERSION)


def test_a_path_with_special_characters(tmp_path):
    path = tmp_path / "50% off #1 & more"
    for _ in range(2):
        SQLiteStore.open(str(path)).close()
    assert [each.name for each in tmp_path.iterdir()] == ["50% off #1 & more"]


def test_examining_an_open_store_keeps_the_locks_of_this_process(sqlite):
    """Closing a plain file would release them: another process could then delete the log under this one."""
    sqlite.open_run(RUN)
    SQLiteStore.open(str(sqlite.path)).close()
    other = multiprocessing.get_context("spawn").Process(target=_open_and_close, args=(str(sqlite.path),))
    other.start()
    other.join()
    assert sqlite.path.with_name("store.db-wal").exists()  # the last one to close would have deleted it
    assert sqlite.append(played(0)) is True


def _open_and_close(path):
    SQLiteStore.open(path).close()
