"""Several processes that serve one port. ``tests/faults`` kills them while learners play (``process-kills``)."""

import os
import signal
import time
from pathlib import Path
from threading import Event

import pytest

from simulator.cloud.server_processes import ServerProcesses
from simulator.errors import ServeError

TIMEOUT_SECONDS = 60


class Until(Event):
    """An interrupt that comes when something has happened."""

    def __init__(self, happened):
        super().__init__()
        self.happened, self.deadline = happened, time.monotonic() + TIMEOUT_SECONDS

    def wait(self, timeout=None):
        time.sleep(timeout)
        assert time.monotonic() < self.deadline
        return self.happened()


def pids(processes):
    return list(processes._children.values())


def exists(pid):
    return Path(f"/proc/{pid}").exists()


def wait_for(_, stopped):
    stopped.wait()


def test_all_processes_end_when_the_service_is_stopped():
    with ServerProcesses(3, wait_for) as processes:
        started = pids(processes)
        assert len(set(started)) == 3
        assert all(map(exists, started))
    assert not any(map(exists, started))


def test_a_process_that_dies_is_replaced(caplog):
    with ServerProcesses(2, wait_for) as processes:
        victim, other = pids(processes)
        os.kill(victim, signal.SIGKILL)
        processes.watch(Until(lambda: victim not in pids(processes)))
        replacement, survivor = pids(processes)
        assert survivor == other
        assert exists(replacement)
        assert caplog.messages == [
            f"server process {victim} was killed by signal 9; process {replacement} replaces it",
        ]


def test_processes_that_cannot_start_end_the_service():
    def fail(*_):
        os._exit(3)

    processes = ServerProcesses(2, fail)
    with pytest.raises(ServeError, match=r"10 server processes ended within seconds; the last .* exit code 3"):
        processes.watch(Until(lambda: False))
    processes.stop()


def test_an_exception_of_a_process_is_its_end():
    def fail(*_):
        raise RuntimeError("on purpose")

    processes = ServerProcesses(1, fail)
    with pytest.raises(ServeError, match="ended with exit code 1"):
        processes.watch(Until(lambda: False))
    processes.stop()


def test_a_process_that_does_not_stop_is_killed(monkeypatch):
    monkeypatch.setattr("simulator.cloud.server_processes.STOP_SECONDS", 0.2)
    processes = ServerProcesses(1, lambda *_: time.sleep(TIMEOUT_SECONDS))
    [pid] = pids(processes)
    processes.stop()
    assert not exists(pid)


def test_processes_end_with_their_parent():
    """The parent is a process of its own here, which is killed."""
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        processes = ServerProcesses(2, wait_for)
        os.write(writing, " ".join(map(str, pids(processes))).encode())
        signal.pause()
    children = [int(pid) for pid in os.read(reading, 100).split()]
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while any(map(is_running, children)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.close(reading)
    os.close(writing)


def is_running(pid):
    """Return whether a process exists and has not ended. Its new parent may leave its end unread."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
