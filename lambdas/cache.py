"""Small caches for what a function keeps between requests: bounded in number, and where needed in age."""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

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
        started = self._clock()
        value = load(key)  # outside the lock, so that other threads do not wait for the storage
        if value is not None:
            expiry = self._expiry(started)
            with self._lock:
                self._entries.pop(key, None)
                self._entries[key] = (expiry, value)
                if len(self._entries) > self._capacity:
                    del self._entries[next(iter(self._entries))]
        return value

    def _expiry(self, started: float) -> float:
        """Return when a value expires. A slow load does not extend its lifetime, which begins when the load starts."""
        return started + self._seconds

    def invalidate(self, key: Key) -> None:
        """Remove a value, so that the next ``get`` loads it again."""
        with self._lock:
            self._entries.pop(key, None)


class SingleFlightCache(Cache[Key, Value]):
    """A cache whose values are costly: one caller at a time loads the value of a key.

    Meanwhile the other callers get the last value, if it expired at most ``stale_seconds`` ago, and otherwise wait for
    the new one (RFC 5861 calls this stale-while-revalidate). So many simultaneous requests cost as much as one. And
    however often a value is requested, loading it takes at most ``max_load_share`` of the time: a value that takes long
    to load is kept longer.
    """

    def __init__(
        self,
        capacity: int,
        seconds: float = float("inf"),
        *,
        stale_seconds: float = 0.0,
        max_load_share: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(capacity, seconds, clock=clock)
        self._stale_seconds, self._max_load_share = stale_seconds, max_load_share
        self._loads: WeakValueDictionary[Key, Lock] = WeakValueDictionary()  # held by the callers that use them

    def get(self, key: Key, load: Callable[[Key], Value | None]) -> Value | None:
        entry, now = self._entries.get(key), self._clock()
        if entry is not None and now < entry[0]:
            return entry[1]
        with self._lock:
            loading = self._loads.setdefault(key, Lock())
        if not loading.acquire(blocking=entry is None or now >= entry[0] + self._stale_seconds):
            return entry[1] if entry is not None else None
        try:
            loaded = self._entries.get(key)
            if loaded is not None and loaded is not entry and self._clock() < loaded[0] + self._stale_seconds:
                return loaded[1]  # by another caller, while this one waited
            return super().get(key, load)
        finally:
            loading.release()

    def _expiry(self, started: float) -> float:
        now = self._clock()
        return max(super()._expiry(started), started + (now - started) / self._max_load_share)
