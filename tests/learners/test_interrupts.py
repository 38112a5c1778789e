"""The first interrupt waits, the second takes effect at once, and the old handlers come back."""

import signal
import threading

import pytest

from learners.interrupts import deferred_interrupts


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_the_first_interrupt_sets_a_flag_and_the_second_raises():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts() as interrupted:
        assert not interrupted.is_set()
        interrupt()
        assert interrupted.is_set()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert signal.getsignal(signal.SIGINT) is before


def test_every_interrupt_is_passed_on_in_place_of_the_exception():
    calls = []
    with deferred_interrupts(on_interrupt=lambda: calls.append("called")) as interrupted:
        interrupt()
        interrupt()
    assert (calls, interrupted.is_set()) == (["called", "called"], True)


def test_other_signals_can_count_as_interrupts():
    before = signal.getsignal(signal.SIGTERM)
    with deferred_interrupts((signal.SIGINT, signal.SIGTERM)) as interrupted:
        signal.raise_signal(signal.SIGTERM)
        assert interrupted.is_set()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_thread_without_signals_gets_a_flag_that_stays_unset():
    flags = []

    def work():
        with deferred_interrupts() as interrupted:
            flags.append(interrupted.is_set())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert flags == [False]
