"""Several processes that serve one port, because one process computes on one CPU at a time.

The parent listens, and its children accept connections from the same socket. A connection that waits to be accepted
belongs to no child, so none is lost when a child dies. The parent itself serves nothing and has no threads. It replaces
children that end, and passes an interrupt on to them. Children end at once when the parent is gone, however it ended.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from threading import Event
from typing import NoReturn, Self

from learners.interrupts import deferred_interrupts
from simulator.errors import ServeError

log = logging.getLogger(__name__)

POLL_SECONDS = 0.1  # between two looks at the children
MAX_ENDS, ENDS_SECONDS = 10, 10.0  # of children: if so many end in so many seconds, the service ends
STOP_SECONDS = 15.0  # that children get to finish requests: more than a server needs

Serve = Callable[[int, Event], None]  # serves, as the process with this number, until the event is set


def usable_cpus() -> list[int]:
    """Return the CPUs that this process may use; as many zeros as there are CPUs if the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else [0] * (os.cpu_count() or 1)


def stay_on_cpu(cpu: int) -> None:
    """Keep all threads of this process on one CPU, where the system allows it.

    Only one of them can execute Python at a time. On several CPUs they would wake each other up across CPUs and move
    the interpreter from cache to cache, which doubles the CPU time of a round (``python -m benchmarks.load``).
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {cpu})


class ServerProcesses:
    """A fixed number of processes that call ``serve``, each on its own CPU if there are as many."""

    def __init__(self, count: int, serve: Serve) -> None:
        self._serve = serve
        self._cpus = usable_cpus()
        self._lifeline, self._parent_end = os.pipe()  # at its end when the parent is gone
        self._ends: deque[float] = deque(maxlen=MAX_ENDS)  # when children ended
        self._children: dict[int, int] = {}  # process ids, by number
        for number in range(count):
            self._children[number] = self._start(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def watch(self, interrupted: Event) -> None:
        """Replace processes that end, until the interrupt. Raises ServeError if one after the other ends."""
        while not interrupted.wait(POLL_SECONDS):
            for number, child in self._children.items():
                code = _exit_code(child)
                if code is not None:
                    self._replace(number, child, code)

    def stop(self) -> None:
        """Let all processes finish their requests and end; kill those that take too long."""
        try:
            self._signal(signal.SIGTERM)
            until = time.monotonic() + STOP_SECONDS
            while self._children and time.monotonic() < until:
                ended = [number for number, child in self._children.items() if _exit_code(child) is not None]
                for number in ended:
                    del self._children[number]
                time.sleep(POLL_SECONDS / 10)
        finally:  # even after a second interrupt
            self._signal(signal.SIGKILL)
            for child in self._children.values():
                os.waitpid(child, 0)
            os.close(self._lifeline)
            os.close(self._parent_end)

    def _signal(self, number: signal.Signals) -> None:
        for child in self._children.values():
            os.kill(child, number)  # it is not waited for yet, so its id cannot belong to another process

    def _replace(self, number: int, child: int, code: int) -> None:
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self._ends.append(time.monotonic())
        if len(self._ends) == MAX_ENDS and self._ends[-1] - self._ends[0] < ENDS_SECONDS:
            del self._children[number]
            raise ServeError(f"{MAX_ENDS} server processes ended within seconds; the last one {ended}")
        self._children[number] = self._start(number)
        log.warning("server process %d %s; process %d replaces it", child, ended, self._children[number])

    def _start(self, number: int) -> int:
        """Fork a process, and return its id."""
        # A signal that comes while the child has no handlers of its own must not be lost.
        signals = (signal.SIGINT, signal.SIGTERM)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        try:
            pid = os.fork()
            if pid == 0:
                self._run_child(number, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pid

    def _run_child(self, number: int, signal_mask: Iterable[int]) -> NoReturn:
        code = 1
        try:
            os.close(self._parent_end)
            threading.Thread(target=self._end_with_parent, daemon=True, name="lifeline").start()
            stay_on_cpu(self._cpus[number % len(self._cpus)])
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the parent gets it too
            with deferred_interrupts((signal.SIGTERM,)) as stopped:
                signal.pthread_sigmask(signal.SIG_SETMASK, signal_mask)
                self._serve(number, stopped)
            code = 0
        except Exception:
            log.exception("a server process failed")
        finally:
            os._exit(code)  # what the parent would do after its own end is not the child's to do

    def _end_with_parent(self) -> None:
        os.read(self._lifeline, 1)
        os._exit(1)


def _exit_code(child: int) -> int | None:
    """Return the exit code of an ended child, negative for a signal, or None while it runs."""
    pid, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None
