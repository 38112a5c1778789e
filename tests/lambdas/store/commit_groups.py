"""Makes several threads write to a SQLite store at once, so that their writes are committed as one group."""

import threading
import time


class ObservedConnection:
    """Forwards to a connection; ``before`` and ``after`` are called with the number and the text of each statement."""

    def __init__(self, connection, *, before=None, after=None):
        self.observed, self._before, self._after = connection, before, after
        self.statements = []

    def execute(self, statement, *values):
        number = len(self.statements)
        self.statements.append(statement.split()[0])
        if self._before:
            self._before(number, statement)
        cursor = self.observed.execute(statement, *values)
        if self._after:
            self._after(number, statement)
        return cursor

    def __getattr__(self, name):
        return getattr(self.observed, name)


def observe(store, **observers):
    """Let the writers of a store use an observed connection, and return it."""
    connection = ObservedConnection(store._writer_connection(), **observers)
    store._writer = connection
    return connection


def write_together(store, calls):
    """Make calls that each write once, in one thread each and in this order, such that their writes are one group.

    The store may be one that does not wait for the disk, which would commit each at once. Returns the result of each
    call, or the exception that it raised.
    """
    groups_commits, store._groups_commits = store._groups_commits, True
    outcomes: list[object] = [None] * len(calls)

    def call(number):
        try:
            outcomes[number] = calls[number]()
        except BaseException as failure:
            outcomes[number] = failure

    threads = [threading.Thread(target=call, args=(number,)) for number in range(len(calls))]
    with store._write_lock:  # nothing is committed until all of them wait
        for thread in threads:
            waiting = len(store._writes)
            thread.start()
            wait_until(lambda n=waiting, thread=thread: len(store._writes) > n or not thread.is_alive())
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "a write is stuck"
    store._groups_commits = groups_commits
    return outcomes


def wait_until(reached):
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.0005)
