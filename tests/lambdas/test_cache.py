"""The cache of a function, which is bounded in number and age."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lambdas.cache import Cache, SingleFlightCache


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_value_is_loaded_once():
    loads: list[str] = []
    cache: Cache[str, str] = Cache(2)

    def load(_):
        loads.append("a")
        return "value"

    assert [cache.get("a", load) for _ in range(3)] == ["value"] * 3
    assert len(loads) == 1


def test_a_missing_value_is_loaded_again():
    cache: Cache[str, str] = Cache(2)
    assert cache.get("a", lambda _: None) is None
    assert cache.get("a", lambda _: "there now") == "there now"


def test_a_value_expires():
    clock = Clock()
    cache: Cache[str, str] = Cache(2, 10, clock=clock)
    cache.get("a", lambda _: "old")
    clock.now = 9.9
    assert cache.get("a", lambda _: "new") == "old"
    clock.now = 10.0
    assert cache.get("a", lambda _: "new") == "new"


def test_the_lifetime_begins_before_the_load():
    """A slow load must not extend the lifetime of a value."""
    clock = Clock()
    cache: Cache[str, str] = Cache(2, 10, clock=clock)

    def slow(_):
        clock.now += 8
        return "old"

    cache.get("a", slow)
    clock.now = 10.0
    assert cache.get("a", lambda _: "new") == "new"


def test_the_value_that_was_loaded_first_is_evicted_first():
    cache: Cache[str, str] = Cache(2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, str)
    assert cache.get("b", lambda _: "loaded again") == "b"
    assert cache.get("c", lambda _: "loaded again") == "c"
    assert cache.get("a", lambda _: "loaded again") == "loaded again"


def test_a_reloaded_value_counts_as_the_newest():
    clock = Clock()
    cache: Cache[str, str] = Cache(2, 10, clock=clock)
    for key in ("a", "b"):
        cache.get(key, str)
    clock.now = 10.0
    for key in ("a", "c"):  # b is the oldest now
        cache.get(key, str)
    assert cache.get("a", lambda _: "loaded again") == "a"


def test_an_invalidated_value_is_loaded_again():
    cache: Cache[str, str] = Cache(2)
    cache.get("a", lambda _: "1")
    cache.invalidate("a")
    cache.invalidate("never known")
    assert cache.get("a", lambda _: "2") == "2"


class SlowLoad:
    """A load that takes until it is released, and counts its calls."""

    def __init__(self):
        self.calls, self.started, self.released = 0, threading.Event(), threading.Event()

    def __call__(self, _):
        self.calls += 1
        self.started.set()
        assert self.released.wait(60)
        return f"load {self.calls}"


class TestSingleFlight:
    def test_many_callers_share_the_first_load(self):
        cache: SingleFlightCache[str, str] = SingleFlightCache(2, 10)
        load = SlowLoad()
        with ThreadPoolExecutor(20) as pool:
            values = [pool.submit(cache.get, "a", load) for _ in range(20)]
            assert load.started.wait(60)
            time.sleep(0.05)  # for the others to arrive
            load.released.set()
            assert {value.result(60) for value in values} == {"load 1"}
        assert load.calls == 1

    def test_while_a_value_is_loaded_again_other_callers_get_the_last_one(self):
        clock = Clock()
        cache: SingleFlightCache[str, str] = SingleFlightCache(2, 10, stale_seconds=30, clock=clock)
        cache.get("a", lambda _: "last")
        clock.now = 12.0
        load = SlowLoad()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(cache.get, "a", load)
            assert load.started.wait(60)
            assert [cache.get("a", load) for _ in range(5)] == ["last"] * 5
            load.released.set()
            assert first.result(60) == "load 1"
        assert cache.get("a", load) == "load 1"

    def test_a_value_that_is_too_old_is_waited_for(self):
        clock = Clock()
        cache: SingleFlightCache[str, str] = SingleFlightCache(2, 10, stale_seconds=30, clock=clock)
        cache.get("a", lambda _: "yesterday's")
        clock.now = 40.0
        load = SlowLoad()
        with ThreadPoolExecutor(2) as pool:
            values = [pool.submit(cache.get, "a", load) for _ in range(2)]
            assert load.started.wait(60)
            load.released.set()
            assert {value.result(60) for value in values} == {"load 1"}

    def test_a_load_that_takes_longer_than_its_value_lasts_still_serves_those_who_waited(self):
        clock = Clock()
        cache: SingleFlightCache[str, str] = SingleFlightCache(2, 10, stale_seconds=30, clock=clock)
        load = SlowLoad()
        with ThreadPoolExecutor(5) as pool:
            values = [pool.submit(cache.get, "a", load) for _ in range(5)]
            assert load.started.wait(60)
            time.sleep(0.05)  # for the others to arrive
            clock.now = 15.0
            load.released.set()
            assert {value.result(60) for value in values} == {"load 1"}
        assert load.calls == 1

    def test_loading_takes_at_most_a_share_of_the_time(self):
        clock = Clock()
        cache: SingleFlightCache[str, str] = SingleFlightCache(2, 10, max_load_share=0.1, clock=clock)

        def slow(_):
            clock.now += 5
            return "old"

        cache.get("a", slow)
        clock.now = 49.0
        assert cache.get("a", lambda _: "new") == "old"
        clock.now = 50.0
        assert cache.get("a", lambda _: "new") == "new"
        clock.now = 60.0  # a quick load counts for the usual time
        assert cache.get("a", lambda _: "newer") == "newer"

    def test_keys_do_not_wait_for_each_other(self):
        cache: SingleFlightCache[str, str] = SingleFlightCache(2)
        load = SlowLoad()
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(cache.get, "a", load)
            assert load.started.wait(60)
            assert cache.get("b", str) == "b"
            load.released.set()
            slow.result(60)

    def test_a_load_that_fails_is_tried_again_by_the_next_caller(self):
        cache: SingleFlightCache[str, str] = SingleFlightCache(2)

        def fail(_):
            raise OSError

        for _ in range(2):
            with pytest.raises(OSError):  # noqa: PT011
                cache.get("a", fail)
        assert cache.get("a", str) == "a"

    def test_nothing_is_kept_of_keys_without_values(self):
        cache: SingleFlightCache[int, str] = SingleFlightCache(2)
        for number in range(100):
            assert cache.get(number, lambda _: None) is None
        assert len(cache._loads) == 0
