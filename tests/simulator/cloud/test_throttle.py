"""Token buckets and quotas."""

import threading
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from simulator.cloud.throttle import MOST_CLIENTS, Gate, Quota, Rate, Verdict


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_passes_and_the_next_request_waits() -> None:
    clock = Clock()
    gate = Gate(per_key=Rate(rate=2, burst=3), clock=clock)
    assert [gate.enter("ada") for _ in range(4)] == [Verdict.PASS] * 3 + [Verdict.THROTTLED]
    clock.now += 0.5
    assert [gate.enter("ada") for _ in range(2)] == [Verdict.PASS, Verdict.THROTTLED]


def test_a_key_does_not_pay_for_another() -> None:
    gate = Gate(per_key=Rate(rate=1, burst=1), clock=Clock())
    assert gate.enter("ada") is Verdict.PASS
    assert gate.enter("ada") is Verdict.THROTTLED
    assert gate.enter("bob") is Verdict.PASS


def test_everybody_shares_the_stage_with_requests_that_need_no_key() -> None:
    gate = Gate(overall=Rate(rate=1, burst=2), clock=Clock())
    assert [gate.enter(key) for key in ("ada", None, "bob")] == [Verdict.PASS, Verdict.PASS, Verdict.THROTTLED]


def test_what_has_a_limit_of_its_own_takes_nothing_from_the_rest() -> None:
    board = ("GET", "/board")
    gate = Gate(overall=Rate(rate=1, burst=1), apart={board: Rate(rate=1, burst=2)}, clock=Clock())
    assert [gate.enter(None, board) for _ in range(3)] == [Verdict.PASS, Verdict.PASS, Verdict.THROTTLED]
    assert gate.enter("ada", ("POST", "/rounds")) is Verdict.PASS
    assert gate.enter("ada", ("POST", "/rounds")) is Verdict.THROTTLED


def test_a_quota_is_spent_and_comes_back_with_the_next_period() -> None:
    clock = Clock()
    gate = Gate(quota=Quota(2, "DAY"), clock=clock)
    assert [gate.enter("ada") for _ in range(3)] == [Verdict.PASS, Verdict.PASS, Verdict.QUOTA_EXCEEDED]
    assert gate.enter("bob") is Verdict.PASS
    assert gate.enter(None) is Verdict.PASS
    clock.now += 86_400
    assert gate.enter("ada") is Verdict.PASS


def test_what_is_throttled_does_not_count_against_the_quota() -> None:
    clock = Clock()
    gate = Gate(per_key=Rate(rate=1, burst=1), quota=Quota(2, "DAY"), clock=clock)
    assert [gate.enter("ada") for _ in range(3)] == [Verdict.PASS, Verdict.THROTTLED, Verdict.THROTTLED]
    clock.now += 1
    assert gate.enter("ada") is Verdict.PASS
    clock.now += 1
    assert gate.enter("ada") is Verdict.QUOTA_EXCEEDED


def test_a_clock_that_is_set_back_does_not_lock_anybody_out() -> None:
    clock = Clock()
    gate = Gate(per_key=Rate(rate=1, burst=1), clock=clock)
    gate.enter("ada")
    clock.now -= 3_600
    assert gate.enter("ada") is Verdict.THROTTLED
    clock.now += 1
    assert gate.enter("ada") is Verdict.PASS


@given(st.lists(st.floats(0, 5), max_size=60), st.floats(0.1, 10), st.integers(1, 10))
def test_never_more_than_burst_plus_rate_times_time(pauses: list[float], rate: float, burst: int) -> None:
    clock = Clock()
    gate = Gate(per_key=Rate(rate, burst), clock=clock)
    began, passed = clock.now, 0
    for pause in pauses:
        clock.now += pause
        passed += gate.enter("ada") is Verdict.PASS
        assert passed <= burst + rate * (clock.now - began) + 1e-6


def test_threads_do_not_pass_twice_on_one_token() -> None:
    gate = Gate(per_key=Rate(rate=1e-9, burst=50))
    barrier = threading.Barrier(8)

    def enter(_: int) -> int:
        barrier.wait()
        return sum(gate.enter("ada") is Verdict.PASS for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(enter, range(8))) == 50


def test_who_has_not_come_for_longest_is_forgotten_first() -> None:
    gate = Gate(quota=Quota(2, "DAY"), clock=Clock())
    for number in range(MOST_CLIENTS):
        gate.enter(f"key {number}")
    gate.enter("key 0")
    gate.enter("one more")
    assert len(gate._clients) == MOST_CLIENTS
    assert gate.enter("key 0") is Verdict.QUOTA_EXCEEDED
    assert "key 1" not in gate._clients
