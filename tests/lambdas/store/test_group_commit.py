"""Writes that wait for the disk are committed together, and none is lost or disturbed by what happens to another."""

import multiprocessing
import os
import signal
import sqlite3
import threading
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdas.errors import UnavailableError
from lambdas.store.group_commit import WriteQueue
from lambdas.store.sqlite import SQLiteStore
from tests.lambdas.store.commit_groups import observe, wait_until, write_together
from tests.lambdas.store.test_contract import RUN, played

RUNS = [replace(RUN, id=letter * 26) for letter in "abcde"]
GROUP_STATEMENTS = ["BEGIN", *["INSERT"] * len(RUNS), "COMMIT"]


@pytest.fixture
def opened(sqlite):
    """A store with five runs, of which each is one client."""
    for run in RUNS:
        sqlite.open_run(run)
    return sqlite


def appends(store, runs=RUNS, index=0):
    return [lambda run=run: store.append(played(index, run)) for run in runs]


def committed(store):
    """Return how many rounds each run has, as another process sees them."""
    other = SQLiteStore.open(str(store.path))
    counts = [sum(1 for _ in other.rounds(run.id)) for run in RUNS]
    other.close()
    return counts


def test_waiting_writes_share_one_transaction(opened):
    connection = observe(opened)
    assert write_together(opened, appends(opened)) == [True] * 5
    assert connection.statements == GROUP_STATEMENTS
    assert committed(opened) == [1] * 5


@pytest.mark.parametrize(("option", "is_queued"), [("", True), ("?synchronous=normal", False)])
def test_writes_wait_in_a_queue_if_there_is_a_flush_to_share(tmp_path, option, is_queued):
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}{option}")
    lengths = []
    observe(store, before=lambda *_: lengths.append(len(store._writes)))
    store.open_run(RUN)
    assert lengths == [int(is_queued)]
    store.close()


def test_a_write_that_finds_the_disk_idle_is_one_statement(opened):
    opened._groups_commits = True
    connection = observe(opened)
    assert opened.append(played(0)) is True
    assert connection.statements == ["INSERT"]


def test_a_group_is_acknowledged_after_its_commit(opened):
    """While the commit is under way, no thread of the group has returned."""
    returned, waited = [], []

    def append(run):
        returned.append(opened.append(played(0, run)))

    observe(opened, before=lambda _, statement: waited.append(list(returned)) if statement == "COMMIT" else None)
    write_together(opened, [lambda run=run: append(run) for run in RUNS])
    assert waited == [[]]
    assert returned == [True] * 5


def test_writes_of_all_kinds_share_a_group_and_each_gets_its_own_result(opened):
    opened.create("kind", "taken", {})
    connection = observe(opened)
    outcomes = write_together(
        opened,
        [
            lambda: opened.append(played(0)),
            lambda: opened.append(played(0)),  # the same round again
            lambda: opened.create("kind", "taken", {}),
            lambda: opened.create("kind", "free", {}),
            lambda: opened.compare_and_swap("kind", "free", {}, {"v": 1}),
        ],
    )
    assert outcomes == [True, False, False, True, True]
    assert connection.statements[0] == "BEGIN"
    assert opened.document("kind", "free") == {"v": 1}


@pytest.mark.parametrize("place", range(5))
def test_a_round_without_its_predecessor_disturbs_no_other(opened, place):
    calls = appends(opened)
    calls[place] = lambda: opened.append(played(7, RUNS[place]))
    assert write_together(opened, calls) == [number != place for number in range(5)]
    assert committed(opened) == [int(number != place) for number in range(5)]


@pytest.mark.parametrize("place", range(5))
def test_a_statement_that_raises_disturbs_no_other(opened, place):
    calls = appends(opened)
    calls[place] = lambda: opened.append(played(0, RUNS[place], observed_ticks=2**70))  # more than SQLite can hold
    outcomes = write_together(opened, calls)
    assert isinstance(outcomes.pop(place), OverflowError)
    assert outcomes == [True] * 4
    assert sum(committed(opened)) == 4


def test_a_disk_that_is_full_for_one_round_has_room_for_the_others(opened):
    connection = opened._writer_connection()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    calls = appends(opened)
    calls[2] = lambda: opened.append(played(0, RUNS[2], translation="x" * 9_000))
    outcomes = write_together(opened, calls)
    assert isinstance(outcomes[2], UnavailableError)
    assert isinstance(outcomes[2].__cause__, sqlite3.OperationalError)
    assert committed(opened) == [1, 1, 0, 1, 1]
    connection.execute("PRAGMA max_page_count = 1000000")
    assert calls[2]() is True


def test_a_commit_that_fails_is_repeated_write_by_write(opened):
    def fail(_, statement):
        if statement == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")

    connection = observe(opened, before=fail)
    assert write_together(opened, appends(opened)) == [True] * 5
    assert connection.statements == [*GROUP_STATEMENTS, "ROLLBACK", *["INSERT"] * 5]
    assert committed(opened) == [1] * 5


def test_a_busy_store_makes_a_group_wait_once(opened, monkeypatch):
    monkeypatch.setattr("lambdas.store.sqlite.BUSY_SECONDS", 0.05)
    opened.close()
    holder = sqlite3.connect(opened.path, isolation_level=None)
    opened._writer_connection()
    connection = observe(opened)
    holder.execute("BEGIN IMMEDIATE")
    outcomes = write_together(opened, appends(opened))
    assert [type(outcome) for outcome in outcomes] == [UnavailableError] * 5
    assert connection.statements == ["BEGIN"]
    holder.execute("ROLLBACK")
    holder.close()
    assert write_together(opened, appends(opened)) == [True] * 5


class TestInterrupts:
    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("statement", range(len(GROUP_STATEMENTS)))
    def test_an_interrupt_of_the_leader_at_any_statement(self, opened, statement, after):
        """The leader is the first write. The others are committed by the next leader, once each."""

        def interrupt(number, _):
            if number == statement:
                raise KeyboardInterrupt

        connection = observe(opened, **{"after" if after else "before": interrupt})
        outcomes = write_together(opened, appends(opened))
        assert isinstance(outcomes[0], KeyboardInterrupt)
        was_committed = statement == len(GROUP_STATEMENTS) - 1 and after
        # after a commit whose thread was interrupted, a second attempt finds the rounds: the service reads them then
        assert outcomes[1:] == [not was_committed] * 4
        assert committed(opened) == [int(was_committed), 1, 1, 1, 1]
        assert not connection.in_transaction
        assert len(opened._writes) == 0
        assert opened.append(played(int(was_committed))) is True

    @pytest.mark.parametrize("statement", range(1, len(GROUP_STATEMENTS)))
    def test_a_second_interrupt_during_the_rollback(self, opened, statement):
        """The transaction that it leaves open is rolled back before anything else is committed."""

        def interrupt(number, _):
            if number in (statement, statement + 1):  # the second is the rollback
                raise KeyboardInterrupt

        connection = observe(opened, before=interrupt)
        outcomes = write_together(opened, appends(opened))
        assert connection.statements[statement + 1] == "ROLLBACK"
        assert isinstance(outcomes[0], KeyboardInterrupt)
        assert outcomes[1:] == [True] * 4
        assert committed(opened) == [0, 1, 1, 1, 1]
        assert not connection.in_transaction

    def test_an_interrupt_of_a_write_that_waits(self, opened, monkeypatch):
        """It leaves the queue, and neither leads later nor is committed."""
        wait, waiting = WriteQueue._wait, []

        def interrupted_second(queue, write, wake):
            waiting.append(write)
            if len(waiting) == 2:
                raise KeyboardInterrupt
            wait(queue, write, wake)

        monkeypatch.setattr(WriteQueue, "_wait", interrupted_second)
        outcomes = write_together(opened, appends(opened))
        assert isinstance(outcomes.pop(2), KeyboardInterrupt)
        assert outcomes == [True] * 4
        assert committed(opened) == [1, 1, 0, 1, 1]

    def test_an_interrupt_of_a_write_that_was_about_to_lead(self, opened, monkeypatch):
        wait = WriteQueue._wait

        def interrupted_as_leader(queue, write, wake):
            wait(queue, write, wake)
            if not write.is_done:
                raise KeyboardInterrupt

        def fail_first(number, _):
            if number == 0:
                raise KeyboardInterrupt

        observe(opened, before=fail_first)
        with monkeypatch.context() as patched:
            patched.setattr(WriteQueue, "_wait", interrupted_as_leader)
            outcomes = write_together(opened, appends(opened))
        assert [type(outcome) for outcome in outcomes] == [KeyboardInterrupt] * 5  # each led in turn
        assert len(opened._writes) == 0
        assert opened.append(played(0)) is True


def _write_until_killed(path, statement, after, results):
    """Commit groups of rounds, and die at a statement of the third; report what was acknowledged before."""
    store = SQLiteStore.open(path)

    def kill(number, _):
        if number == 2 * len(GROUP_STATEMENTS) + statement:
            os.kill(os.getpid(), signal.SIGKILL)

    def append(number, index):
        assert store.append(played(index, RUNS[number]))
        os.write(results, str(number).encode())

    observe(store, **{"after" if after else "before": kill})
    for index in range(3):
        write_together(store, [lambda n=number, i=index: append(n, i) for number in range(len(RUNS))])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_any_statement_loses_no_acknowledged_round(opened, after):
    """On the disk is either the whole group or nothing of it, and everything that was acknowledged."""
    context = multiprocessing.get_context("fork")
    for statement in range(len(GROUP_STATEMENTS)):
        path = opened.path.with_name(f"killed-{statement}.db")
        opened.backup(path)
        reading, writing = os.pipe()
        child = context.Process(target=_write_until_killed, args=(str(path), statement, after, writing))
        child.start()
        os.close(writing)
        with os.fdopen(reading) as lines:
            acknowledged = Counter(lines.read())
        child.join(timeout=60)
        assert child.exitcode == -signal.SIGKILL
        store = SQLiteStore.open(str(path))
        was_committed = after and statement == len(GROUP_STATEMENTS) - 1
        assert committed(store) == [3 if was_committed else 2] * len(RUNS)
        assert acknowledged == dict.fromkeys("01234", 2)
        index = 3 if was_committed else 2
        assert write_together(store, appends(store, index=index)) == [True] * 5  # it goes on where it was
        store.close()


def test_writes_continue_in_a_process_that_was_forked_while_others_waited(opened):
    """The child has none of the threads that wait, so it must not wait for them."""
    opened._groups_commits = True
    with opened._write_lock:
        waiting = threading.Thread(target=opened.append, args=(played(0, RUNS[1]),))
        waiting.start()
        wait_until(lambda: len(opened._writes) == 1)
        child = multiprocessing.get_context("fork").Process(target=lambda: opened.append(played(0, RUNS[2])))
        child.start()
        child.join(timeout=60)
        assert child.exitcode == 0
    waiting.join(timeout=60)
    assert committed(opened) == [0, 1, 1, 0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=8))
def test_a_group_has_the_outcome_of_its_writes_in_turn(tmp_path_factory, writes):
    folder = tmp_path_factory.mktemp("groups")
    stores = [SQLiteStore.open(f"{folder / name}?synchronous=normal") for name in ("together", "alone")]
    for store in stores:
        for run in RUNS:
            store.open_run(run)
    together, alone = ([lambda s=s, r=r, i=i: s.append(played(i, RUNS[r])) for r, i in writes] for s in stores)
    assert write_together(stores[0], together) == [call() for call in alone]
    assert committed(stores[0]) == committed(stores[1])
    for store in stores:
        store.close()
