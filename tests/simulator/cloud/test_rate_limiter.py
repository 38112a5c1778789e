"""Throttling and quotas."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from simulator.cloud.rate_limiter import Admission, BucketTable, QuotaSettings, RateLimiter, ThrottleSettings


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


def test_forked_processes_share_the_limits() -> None:
    limiter = RateLimiter(
        per_key=ThrottleSettings(rate=1e-9, burst=50),
        quota=QuotaSettings(30, "MONTH"),
        rejections=ThrottleSettings(rate=1e-9, burst=20),
    )

    def admit(key: str) -> int:
        admitted = sum(limiter.admit(key) is Admission.ADMITTED for _ in range(100))
        return admitted + sum(limiter.admit_rejection("a") is Admission.ADMITTED for _ in range(100))

    children = []
    for key in ("ada", "ada", "bob"):
        child = os.fork()
        if child == 0:
            os._exit(admit(key))
        children.append(child)
    assert sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children) == 30 + 30 + 20
    assert limiter.admit("ada") is Admission.THROTTLED  # the quota is spent, and the bucket is empty


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


def test_a_token_that_is_given_back_can_be_taken_again() -> None:
    table = BucketTable(ThrottleSettings(rate=1, burst=1), clock=Clock())
    assert [table.take("a"), table.take("a")] == [True, False]
    table.give_back("a")
    assert [table.take("a"), table.take("a")] == [True, False]
    table.give_back("b")  # which has all its tokens
    assert [table.take("b"), table.take("b")] == [True, False]
