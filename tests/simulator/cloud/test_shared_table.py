"""Numbers in memory that forked processes share."""

import os
import signal
import time

from simulator.cloud import shared_table
from simulator.cloud.shared_table import SharedLock, SharedTable


def fork(call):
    """Call a function in a forked process, whose exit code is the result."""
    child = os.fork()
    if child == 0:
        os._exit(call())
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_new_name_has_an_empty_record():
    table = SharedTable(100, "dq")
    assert table.read(table.place("ada")) is None
    assert len(table) == 0


def test_a_record_is_what_was_written():
    table = SharedTable(100, "dq")
    table.write(table.place("ada"), 0.5, -3)
    table.write(table.place("bob"), 0.0, 0)
    assert table.read(table.place("ada")) == (0.5, -3)
    assert table.read(table.place("bob")) == (0.0, 0)
    assert len(table) == 2


def test_the_record_that_was_used_longest_ago_makes_room():
    table = SharedTable(4, "q", ways=4)
    for number in range(4):
        table.write(table.place(f"name {number}"), number)
    table.write(table.place("name 0"), 10)
    table.write(table.place("one more"), 4)
    assert [table.read(table.place(name)) for name in ("name 0", "name 2", "name 3", "one more")] == [
        (10,),
        (2,),
        (3,),
        (4,),
    ]
    assert table.read(table.place("name 1")) is None  # it starts afresh
    assert len(table) == 3


def test_the_number_of_records_is_bounded():
    table = SharedTable(64, "q")
    for number in range(1_000):
        table.write(table.place(f"name {number}"), number)
    assert table.read(table.place("name 999")) == (999,)
    assert len(table) <= 64
    assert len(table._places) <= 64


def test_a_name_that_another_process_has_moved_is_found_again():
    table = SharedTable(2, "q", ways=2)
    table.write(table.place("ada"), 1)

    def replace_ada():
        for name in ("bob", "eve", "ada"):
            table.write(table.place(name), 7)
        return 0

    assert exit_code(fork(replace_ada)) == 0
    assert table.read(table.place("ada")) == (7,)


def test_forked_processes_do_not_disturb_each_other():
    table, lock = SharedTable(100, "q"), SharedLock()

    def count():
        for _ in range(2_000):
            with lock:
                place = table.place("count")
                (before,) = table.read(place) or (0,)
                table.write(place, before + 1)
        return 0

    assert [exit_code(child) for child in [fork(count) for _ in range(3)]] == [0, 0, 0]
    assert table.read(table.place("count")) == (6_000,)


def test_a_killed_process_leaves_the_lock():
    lock = SharedLock()
    reading, writing = os.pipe()

    def hold():
        with lock:
            os.write(writing, b"x")
            signal.pause()
        return 0

    child = fork(hold)
    os.read(reading, 1)
    os.kill(child, signal.SIGKILL)
    started = time.monotonic()
    with lock:
        assert time.monotonic() - started < 60
    assert exit_code(child) == -signal.SIGKILL
    os.close(reading)
    os.close(writing)


def test_all_tables_have_one_lock():
    assert shared_table.shared_lock() is shared_table.shared_lock()
