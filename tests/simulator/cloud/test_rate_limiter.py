"""Throttling and quotas."""

import threading
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from simulator.cloud.rate_limiter import (
    MAX_KEYS,
    MAX_NETWORKS,
    Admission,
    BucketTable,
    QuotaSettings,
    RateLimiter,
    ThrottleSettings,
)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_admitted_and_the_next_request_throttled() -> None:
    clock = Clock()
    limiter = RateLimiter(per_key=ThrottleSettings(rate=2, burst=3), clock=clock)
    assert [limiter.admit("ada") for _ in range(4)] == [Admission.ADMITTED] * 3 + [Admission.THROTTLED]
    clock.now += 0.5
    assert [limiter.admit("ada") for _ in range(2)] == [Admission.ADMITTED, Admission.THROTTLED]


def test_every_key_has_its_own_limit() -> None:
    limiter = RateLimiter(per_key=ThrottleSettings(rate=1, burst=1), clock=Clock())
    assert limiter.admit("ada") is Admission.ADMITTED
    assert limiter.admit("ada") is Admission.THROTTLED
    assert limiter.admit("bob") is Admission.ADMITTED


def test_all_requests_share_the_limit_of_the_stage() -> None:
    limiter = RateLimiter(stage=ThrottleSettings(rate=1, burst=2), clock=Clock())
    assert [limiter.admit(key) for key in ("ada", None, "bob")] == [
        Admission.ADMITTED,
        Admission.ADMITTED,
        Admission.THROTTLED,
    ]


def test_a_method_with_its_own_limit_does_not_count_for_the_stage() -> None:
    board = ("GET", "/board")
    limiter = RateLimiter(
        stage=ThrottleSettings(rate=1, burst=1), methods={board: ThrottleSettings(rate=1, burst=2)}, clock=Clock()
    )
    assert [limiter.admit(None, board) for _ in range(3)] == [
        Admission.ADMITTED,
        Admission.ADMITTED,
        Admission.THROTTLED,
    ]
    assert limiter.admit("ada", ("POST", "/rounds")) is Admission.ADMITTED
    assert limiter.admit("ada", ("POST", "/rounds")) is Admission.THROTTLED


def test_a_quota_is_renewed_in_the_next_period() -> None:
    clock = Clock()
    limiter = RateLimiter(quota=QuotaSettings(2, "DAY"), clock=clock)
    assert [limiter.admit("ada") for _ in range(3)] == [
        Admission.ADMITTED,
        Admission.ADMITTED,
        Admission.QUOTA_EXCEEDED,
    ]
    assert limiter.admit("bob") is Admission.ADMITTED
    assert limiter.admit(None) is Admission.ADMITTED
    clock.now += 86_400
    assert limiter.admit("ada") is Admission.ADMITTED


def test_throttled_requests_do_not_count_for_the_quota() -> None:
    clock = Clock()
    limiter = RateLimiter(per_key=ThrottleSettings(rate=1, burst=1), quota=QuotaSettings(2, "DAY"), clock=clock)
    assert [limiter.admit("ada") for _ in range(3)] == [Admission.ADMITTED, Admission.THROTTLED, Admission.THROTTLED]
    clock.now += 1
    assert limiter.admit("ada") is Admission.ADMITTED
    clock.now += 1
    assert limiter.admit("ada") is Admission.QUOTA_EXCEEDED


def test_a_clock_that_is_set_back_locks_no_key_out() -> None:
    clock = Clock()
    limiter = RateLimiter(per_key=ThrottleSettings(rate=1, burst=1), clock=clock)
    limiter.admit("ada")
    clock.now -= 3_600
    assert limiter.admit("ada") is Admission.THROTTLED
    clock.now += 1
    assert limiter.admit("ada") is Admission.ADMITTED


@given(st.lists(st.floats(0, 5), max_size=60), st.floats(0.1, 10), st.integers(1, 10))
def test_at_most_burst_plus_rate_times_time_is_admitted(pauses: list[float], rate: float, burst: int) -> None:
    clock = Clock()
    limiter = RateLimiter(per_key=ThrottleSettings(rate, burst), clock=clock)
    start, admitted = clock.now, 0
    for pause in pauses:
        clock.now += pause
        admitted += limiter.admit("ada") is Admission.ADMITTED
        assert admitted <= burst + rate * (clock.now - start) + 1e-6


def test_threads_do_not_share_a_token() -> None:
    limiter = RateLimiter(per_key=ThrottleSettings(rate=1e-9, burst=50))
    barrier = threading.Barrier(8)

    def admit(_: int) -> int:
        barrier.wait()
        return sum(limiter.admit("ada") is Admission.ADMITTED for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(admit, range(8))) == 50


def test_the_least_recently_used_key_is_forgotten_first() -> None:
    limiter = RateLimiter(quota=QuotaSettings(2, "DAY"), clock=Clock())
    for number in range(MAX_KEYS):
        limiter.admit(f"key {number}")
    limiter.admit("key 0")
    limiter.admit("one more")
    assert len(limiter._keys) == MAX_KEYS
    assert limiter.admit("key 0") is Admission.QUOTA_EXCEEDED
    assert "key 1" not in limiter._keys


def test_rejections_of_one_network_do_not_count_for_another_or_for_the_stage() -> None:
    clock = Clock()
    one = ThrottleSettings(rate=1, burst=1)
    limiter = RateLimiter(stage=one, rejections=one, clock=clock)
    assert [limiter.admit_rejection("a"), limiter.admit_rejection("a"), limiter.admit_rejection("b")] == [
        Admission.ADMITTED,
        Admission.THROTTLED,
        Admission.ADMITTED,
    ]
    assert limiter.admit(None) is Admission.ADMITTED
    clock.now += 1
    assert limiter.admit_rejection("a") is Admission.ADMITTED


def test_the_least_recently_seen_network_is_forgotten_first() -> None:
    table = BucketTable(ThrottleSettings(rate=1, burst=1), clock=Clock())
    for number in range(MAX_NETWORKS):
        table.take(f"network {number}")
    table.take("network 0")
    table.take("one more")
    assert len(table._buckets) == MAX_NETWORKS
    assert not table.take("network 0")
    assert "network 1" not in table._buckets
