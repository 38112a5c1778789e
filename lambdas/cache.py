"""A small cache for what a function may remember between requests: bounded in number, and where needed in age."""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Up to ``capacity`` values, none older than ``seconds``; safe to share between threads.

    When there are too many, the one that was loaded first goes: runs move forward through their blocks, so what was
    loaded first is done with first. That keeps a hit to one look-up without a lock.
    """

    def __init__(
        self, capacity: int, seconds: float = float("inf"), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._capacity, self._seconds, self._clock = capacity, seconds, clock
        self._entries: dict[Key, tuple[float, Value]] = {}  # in the order in which they were loaded
        self._lock = Lock()

    def get(self, key: Key, load: Callable[[Key], Value | None]) -> Value | None:
        """The remembered value, or what is loaded for the key. None is not remembered: it may appear at any time."""
        entry = self._entries.get(key)
        if entry is not None and self._clock() < entry[0]:
            return entry[1]
        expiry = self._clock() + self._seconds  # before loading, so that the age is never understated
        value = load(key)  # outside the lock: others need not wait for the storage
        if value is not None:
            with self._lock:
                self._entries.pop(key, None)
                self._entries[key] = (expiry, value)
                if len(self._entries) > self._capacity:
                    del self._entries[next(iter(self._entries))]
        return value

    def forget(self, key: Key) -> None:
        """Load this one again when it is next asked for."""
        with self._lock:
            self._entries.pop(key, None)
