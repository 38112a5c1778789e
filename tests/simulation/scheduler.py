"""Virtual time: threads of which exactly one runs, until it waits, in an order that a seed determines.

The code under test is synchronous, so each of its threads is a real thread, with its own stack and its own
thread-local data. But a thread runs only when the scheduler hands over to it, and hands on when it waits: for a time,
for a lock, or for another thread. Which thread is next depends on virtual times and on a random generator, so the same
seed gives the same execution, whatever the machine does. Waiting takes no real time.
"""

import heapq
import itertools
import random
import threading
from collections import deque
from collections.abc import Callable


class KilledError(BaseException):
    """The process of this thread was killed. Not an Exception, so that no handler catches it by accident."""


class Actor:
    """A thread of the simulation."""

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self.name, self.call = name, call
        self.owner: object = None  # the process that it belongs to
        self.turn = 0  # increases when the actor runs, so that an outdated entry of the agenda is recognised
        self.thread: _PooledThread | None = None
        self.is_killed = self.is_finished = False


class _PooledThread:
    """A thread that runs one actor after the other: starting a thread takes longer than most actors run."""

    def __init__(self) -> None:
        self.wake = threading.Lock()
        self.wake.acquire()
        self.job: Callable[[], None] | None = None
        threading.Thread(target=self._work, daemon=True, name="simulated").start()

    def _work(self) -> None:
        while True:
            self.wake.acquire()
            assert self.job is not None
            self.job()


_idle_threads: list[_PooledThread] = []


class Scheduler:
    """Runs actors on virtual time, one at a time."""

    def __init__(self, rng: random.Random) -> None:
        self.now = 0.0
        self.steps = 0  # how often an actor waited
        self.current: Actor | None = None
        self.failures: list[tuple[Actor, BaseException]] = []
        self.actors: dict[Actor, None] = {}  # unfinished, in the order in which they were started
        self._rng = rng
        self._agenda: list[tuple[float, float, int, Actor, int]] = []
        self._numbers = itertools.count()
        self._is_over: Callable[[], bool] = lambda: False
        self._main = threading.Lock()
        self._main.acquire()

    def start(self, name: str, call: Callable[[], object], delay: float = 0.0) -> Actor:
        """Start an actor after a delay."""
        actor = Actor(name, call)
        self.actors[actor] = None
        self.resume(actor, delay)
        return actor

    def resume(self, actor: Actor, delay: float = 0.0) -> None:
        """Let an actor run after a delay, if nothing resumes it before."""
        entry = (self.now + delay, self._rng.random(), next(self._numbers), actor, actor.turn)
        heapq.heappush(self._agenda, entry)

    def kill(self, actor: Actor) -> None:
        """Let an actor end with KilledError, where it waits or when it waits next."""
        actor.is_killed = True
        if actor is not self.current:
            self.resume(actor)

    def pause(self, seconds: float) -> None:
        """Let other actors run for some time."""
        actor = self._running()
        self.resume(actor, seconds)
        self.wait()

    def wait(self) -> None:
        """Let other actors run until one of them resumes this one."""
        actor = self._running()
        self.steps += 1
        following = self._next()
        if following is not actor:
            self._hand_over(following)
            assert actor.thread is not None
            actor.thread.wake.acquire()
        if actor.is_killed:
            raise KilledError

    def run(self, is_over: Callable[[], bool]) -> bool:
        """Run all actors until something is over; return whether it was before no actor was left to run."""
        self._is_over = is_over
        self._hand_over(self._next())
        self._main.acquire()
        return is_over()

    def end(self) -> None:
        """Kill all actors that are not finished."""
        self._is_over = lambda: False
        for actor in list(self.actors):
            self.kill(actor)
        if self.actors:
            self._hand_over(self._next())
            self._main.acquire()

    def _running(self) -> Actor:
        if self.current is None:
            raise RuntimeError("only an actor can wait")
        if self.current.is_killed:
            raise KilledError
        return self.current

    def _next(self) -> Actor | None:
        """Return the actor that runs next, at its time; None if there is none, or if all is over."""
        if self._is_over():
            return None
        while self._agenda:
            due, _, _, actor, turn = heapq.heappop(self._agenda)
            if not actor.is_finished and actor.turn == turn:
                actor.turn += 1
                self.now = max(self.now, due)
                self.current = actor
                return actor
        return None

    def _hand_over(self, actor: Actor | None) -> None:
        if actor is None:
            self.current = None
            self._main.release()
            return
        if actor.thread is None:
            actor.thread = _idle_threads.pop() if _idle_threads else _PooledThread()
            actor.thread.job = lambda: self._perform(actor)
        actor.thread.wake.release()

    def _perform(self, actor: Actor) -> None:
        try:
            if not actor.is_killed:
                actor.call()
        except KilledError:
            pass
        except BaseException as failure:
            self.failures.append((actor, failure))
        actor.is_finished = True
        del self.actors[actor]
        assert actor.thread is not None
        _idle_threads.append(actor.thread)
        self._hand_over(self._next())


class SimulatedLock:
    """A lock as in ``threading``, for which actors wait on virtual time."""

    scheduler: Scheduler  # of the running simulation

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: deque[Actor] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        deadline = None if timeout < 0 else self.scheduler.now + timeout
        while self._is_held:
            if not blocking or (deadline is not None and self.scheduler.now >= deadline):
                return False
            actor = self.scheduler._running()
            self._waiting.append(actor)
            if deadline is not None:
                self.scheduler.resume(actor, deadline - self.scheduler.now)
            try:
                self.scheduler.wait()
            finally:
                if actor in self._waiting:
                    self._waiting.remove(actor)
        self._is_held = True
        return True

    def release(self) -> None:
        self._is_held = False
        for actor in self._waiting:
            self.scheduler.resume(actor)

    def locked(self) -> bool:
        return self._is_held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class SimulatedRLock(SimulatedLock):
    """The same, for a lock that its owner can take again."""

    def __init__(self) -> None:
        super().__init__()
        self._owner: Actor | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not (self._is_held and self._owner is self.scheduler.current) and not super().acquire(blocking, timeout):
            return False
        self._owner = self.scheduler.current
        self._depth += 1
        return True

    def release(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = None
            super().release()
