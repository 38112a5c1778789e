"""A small cache for what a function keeps between requests: bounded in number, and where needed in age."""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Holds up to ``capacity`` values, none older than ``seconds``. Safe to share between threads.

    When the cache is full, the value that was loaded first is evicted (first in, first out). Runs move forward through
    their blocks, so the block that was loaded first is the first to be no longer needed. A hit then changes nothing,
    and takes one look-up without a lock.
    """

    def __init__(
        self, capacity: int, seconds: float = float("inf"), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._capacity, self._seconds, self._clock = capacity, seconds, clock
        self._entries: dict[Key, tuple[float, Value]] = {}  # in the order in which they were loaded
        self._lock = Lock()

    def get(self, key: Key, load: Callable[[Key], Value | None]) -> Value | None:
        """Return the cached value of a key, or load it.

        A missing value (None) is not cached, because it may appear at any time.
        """
        entry = self._entries.get(key)
        if entry is not None and self._clock() < entry[0]:
            return entry[1]
        expiry = self._clock() + self._seconds  # taken before loading, so that a slow load does not extend the lifetime
        value = load(key)  # outside the lock, so that other threads do not wait for the storage
        if value is not None:
            with self._lock:
                self._entries.pop(key, None)
                self._entries[key] = (expiry, value)
                if len(self._entries) > self._capacity:
                    del self._entries[next(iter(self._entries))]
        return value

    def invalidate(self, key: Key) -> None:
        """Remove a value, so that the next ``get`` loads it again."""
        with self._lock:
            self._entries.pop(key, None)
