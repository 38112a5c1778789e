"""What is specific to SQLite: addresses, durability, damaged and locked files, forks, backups."""

import multiprocessing
import sqlite3
import threading

import pytest

from lambdas.errors import UnavailableError
from lambdas.store import StoreAddressError, StoreError, open_store
from lambdas.store.documents import DocumentKind
from lambdas.store.interface import TextSide
from lambdas.store.sqlite import BUSY_SECONDS, SQLiteStore
from tests.lambdas.store.test_contract import RUN, played


@pytest.mark.parametrize("address", ["", "sqlite", "sqlite:", "dynamodb:", "mysql:x", "store.db", "/tmp/store.db"])
def test_an_invalid_address_is_refused(address):
    with pytest.raises(StoreAddressError, match="a store is sqlite:PATH or dynamodb:REGION-OR-URL"):
        open_store(address)


@pytest.mark.parametrize("option", ["?", "?x=1", "?synchronous=off", "?synchronous", "?synchronous=full&x=1"])
def test_options_that_do_not_exist(tmp_path, option):
    with pytest.raises(StoreAddressError, match="synchronous"):
        open_store(f"sqlite:{tmp_path / 'store.db'}{option}")


@pytest.mark.parametrize(("option", "level"), [("", 2), ("?synchronous=full", 2), ("?synchronous=normal", 1)])
def test_commits_are_flushed_to_the_disk_unless_synchronous_is_normal(tmp_path, option, level):
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}{option}")
    assert store._writer_connection().execute("PRAGMA synchronous").fetchone() == (level,)
    assert store._writer_connection().execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_only_the_owner_may_read_the_file(tmp_path):
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    store.create(DocumentKind("kind"), "name", {})
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "store.db": 0o600,
        "store.db-shm": 0o600,
        "store.db-wal": 0o600,
    }
    store.close()


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(StoreError, match="folder of the store does not exist"):
        open_store(f"sqlite:{tmp_path / 'nowhere' / 'store.db'}")


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "store.db").write_text("this is not a database, but it is long enough to look at" * 10)
    with pytest.raises(StoreError, match=r"cannot open .* as a SQLite store"):
        open_store(f"sqlite:{tmp_path / 'store.db'}")


def test_committed_rounds_survive_a_killed_process(sqlite):
    sqlite.open_run(RUN)
    sqlite.append(played(0))
    other = SQLiteStore.open(str(sqlite.path))  # the first connection is never closed
    assert other.round(RUN.id, 0) == played(0)
    other.close()


def test_a_locked_file_is_unavailable(sqlite, monkeypatch):
    monkeypatch.setattr("lambdas.store.sqlite.BUSY_SECONDS", 0.05)
    waiting = SQLiteStore.open(str(sqlite.path))
    holder = sqlite3.connect(sqlite.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError):
        waiting.open_run(RUN)
    holder.execute("ROLLBACK")
    waiting.open_run(RUN)
    assert waiting.opening(RUN.id) == RUN
    waiting.close()
    holder.close()


class InterruptedConnection:
    """A connection that is interrupted by Ctrl-C while its transaction waits for another process."""

    def __init__(self, connection):
        self._connection = connection

    def execute(self, statement):
        self._connection.execute(statement)
        raise KeyboardInterrupt

    def __getattr__(self, name):
        return getattr(self._connection, name)


def test_an_interrupted_transaction_is_not_left_open(sqlite, monkeypatch):
    connection = sqlite._writer_connection()
    with monkeypatch.context() as patched:
        patched.setattr(sqlite, "_writer_connection", lambda: InterruptedConnection(connection))
        with pytest.raises(KeyboardInterrupt):
            sqlite.put_blocks(TextSide.SOURCES, "dev", [(0, b"block")])
    assert not connection.in_transaction
    sqlite.put_blocks(TextSide.SOURCES, "dev", [(0, b"block")])
    other = SQLiteStore.open(str(sqlite.path))
    assert other.block(TextSide.SOURCES, "dev", 0) == b"block"
    other.close()


def test_a_full_disk_is_unavailable_and_loses_nothing(sqlite):
    sqlite.open_run(RUN)
    sqlite.append(played(0))
    connection = sqlite._writer_connection()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(UnavailableError):
        all(sqlite.append(played(index, translation="x" * 4_000)) for index in range(1, 1_000))
    connection.execute("PRAGMA max_page_count = 1000000")
    committed = list(sqlite.rounds(RUN.id))
    assert [each.index for each in committed] == list(range(len(committed)))
    assert sqlite.append(played(len(committed))) is True


def test_a_round_without_its_predecessor_is_refused(sqlite):
    sqlite.open_run(RUN)
    assert sqlite.append(played(1)) is False
    assert sqlite.append(played(0)) is True
    assert sqlite.append(played(1)) is True


def test_a_round_of_a_run_that_was_never_opened_is_refused(sqlite):
    assert sqlite.append(played(0)) is False


def test_rounds_are_read_page_by_page(sqlite, monkeypatch):
    monkeypatch.setattr("lambdas.store.sqlite.PAGE_ROUNDS", 5)
    sqlite.open_run(RUN)
    for index in range(12):
        sqlite.append(played(index))
    assert [each.index for each in sqlite.rounds(RUN.id)] == list(range(12))
    assert [each.index for each in sqlite.rounds(RUN.id, 2)] == list(range(2, 12))
    assert [index for index, *_ in sqlite.results(RUN.id, 2)] == list(range(2, 12))


def _append_in_child(store):
    store.append(played(0))


def test_a_forked_process_opens_its_own_connection(sqlite):
    sqlite.open_run(RUN)
    child = multiprocessing.get_context("fork").Process(target=_append_in_child, args=(sqlite,))
    child.start()
    child.join(timeout=120)
    assert child.exitcode == 0
    assert sqlite.round(RUN.id, 0) == played(0)
    assert sqlite.append(played(1)) is True


def _fork_while_a_thread_uses_the_store(path, results):
    """Fork while another thread reads and writes without a pause; send the exit codes of the children."""
    store = SQLiteStore.open(path)
    done = threading.Event()

    def keep_using_it():
        while not done.is_set():
            store.opening(RUN.id)
            store.open_run(RUN)

    thread = threading.Thread(target=keep_using_it)
    thread.start()
    children = [multiprocessing.get_context("fork").Process(target=_append_in_child, args=(store,)) for _ in range(12)]
    for child in children:
        child.start()
    for child in children:
        child.join(timeout=120)
    results.send([child.exitcode for child in children])
    done.set()
    thread.join()
    for child in children:
        child.kill()


def test_forking_while_another_thread_uses_the_store(sqlite):
    """A child has only the thread that forked: locks that another thread held are never released there.

    A fresh process forks them. In this one, threads may also hold the lock of the tracer that measures coverage.
    """
    sqlite.open_run(RUN)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    fresh = multiprocessing.get_context("spawn").Process(
        target=_fork_while_a_thread_uses_the_store, args=(str(sqlite.path), sender)
    )
    fresh.start()
    sender.close()
    assert receiver.recv() == [0] * 12
    fresh.join()
    assert sqlite.round(RUN.id, 0) == played(0)


def test_readers_do_not_wait_for_a_writer_that_waits(sqlite):
    sqlite.open_run(RUN)
    holder = sqlite3.connect(sqlite.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=sqlite.append, args=(played(0),))
    writer.start()
    assert sqlite.opening(RUN.id) == RUN
    assert sqlite.progress(RUN.id).last is None
    assert writer.is_alive()  # it still waits, and no reader had to wait for it
    holder.execute("ROLLBACK")
    writer.join()
    assert sqlite.round(RUN.id, 0) == played(0)
    holder.close()


def test_a_writer_gives_up_before_its_client_does():
    assert BUSY_SECONDS <= 5  # a function has ten seconds to respond


def test_a_store_in_memory_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite::memory:")
    store.open_run(RUN)
    assert store.append(played(0)) is True
    assert store.round(RUN.id, 0) == played(0)
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_closing_twice(sqlite):
    sqlite.close()
    sqlite.close()
    assert sqlite.document(DocumentKind("kind"), "name") is None  # it opens again when it is needed


class TestBackups:
    def test_a_backup_while_others_write(self, sqlite, tmp_path):
        """A backup has all rounds that were committed before it, in order, and writers do not wait for it."""
        sqlite.open_run(RUN)
        stop, failures, copies = threading.Event(), [], []

        def write():
            index = 0
            while not stop.is_set():
                failures.append(not sqlite.append(played(index)))
                index += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(3):
                before = sqlite.progress(RUN.id).pending
                path = tmp_path / f"backup-{number}.db"
                sqlite.backup(path)
                copies.append((before, path))
        finally:
            stop.set()
            writer.join()
        assert not any(failures)
        for before, path in copies:
            copy = SQLiteStore.open(str(path))
            rounds = list(copy.rounds(RUN.id))
            assert len(rounds) >= before
            assert rounds == [played(index) for index in range(len(rounds))]
            copy.close()

    def test_a_backup_is_private_and_appears_only_when_it_is_complete(self, sqlite, tmp_path):
        folder = tmp_path / "backups"
        folder.mkdir()
        sqlite.backup(folder / "store.db")
        assert [(path.name, path.stat().st_mode & 0o777) for path in folder.iterdir()] == [("store.db", 0o600)]

    def test_nothing_is_overwritten_or_left_behind(self, sqlite, tmp_path):
        with pytest.raises(StoreError, match="exists already"):
            sqlite.backup(sqlite.path)
        with pytest.raises(StoreError, match=r"cannot write the backup .*nowhere"):
            sqlite.backup(tmp_path / "nowhere" / "backup.db")
        assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"store.db"}


def test_rounds_without_an_opening_are_listed(sqlite):
    sqlite.open_run(RUN)
    sqlite.append(played(0))
    sqlite._execute("DELETE FROM runs", ())
    assert list(sqlite.openings()) == [("number 1", None)]
