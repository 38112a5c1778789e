"""Stores that inject faults into calls, which a seed selects."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from lambdas.errors import UnavailableError
from lambdas.store import Store
from lambdas.store.sqlite import SQLiteStore
from tests.lambdas.faulty_store import METHODS

Around = Callable[[], AbstractContextManager[None]]
WRITES = frozenset({"append", "create", "replace", "open_run"})


class DisturbedStore:
    """Forwards calls; a share of those that write is made within the context ``around``."""

    def __init__(self, store: Store, seed: str, around: Around, *, share: float = 0.2) -> None:
        self._store, self._around, self._share = store, around, share
        self._rng, self._lock = random.Random(seed), threading.Lock()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in METHODS:
            return method

        def called(*arguments: Any) -> Any:
            with self._lock:
                is_disturbed = name in WRITES and self._rng.random() < self._share
            with self._around() if is_disturbed else nullcontext():
                return method(*arguments)

        return called


@contextmanager
def pragma(store: SQLiteStore, events: Counter[str], name: str, on: str, off: str) -> Iterator[None]:
    """Make writes fail within SQLite during one call, with its real error codes and its real clean-up.

    Other threads may write meanwhile, together with this one: they fail, too, and repeat their requests.
    """
    connection = store._writer_connection()
    with store._write_lock:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(on.format(pages=pages))
    try:
        yield
    except UnavailableError:
        events[name] += 1
        raise
    finally:
        with store._write_lock:
            connection.execute(off)


def full_disk(store: SQLiteStore, events: Counter[str]) -> AbstractContextManager[None]:
    return pragma(store, events, "disk full", "PRAGMA max_page_count = {pages}", "PRAGMA max_page_count = 1073741823")


def read_only(store: SQLiteStore, events: Counter[str]) -> AbstractContextManager[None]:
    return pragma(store, events, "read-only store", "PRAGMA query_only = 1", "PRAGMA query_only = 0")


@contextmanager
def slow_response(seconds: float, events: Counter[str]) -> Iterator[None]:
    """Delay the response of a write until its client has given up."""
    yield
    events["timeout after the write"] += 1
    time.sleep(seconds)
