"""The cache of a function, which is bounded in number and age."""

from lambdas.cache import Cache


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
