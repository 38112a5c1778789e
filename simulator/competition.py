"""Many runs, side by side: systems and seeds over one phase, each in a process of its own.

A run has a folder with its journal and its last snapshot, so a competition that was stopped, or of which a run died,
goes on where it was when it is begun again. A run that fails says why and does not disturb the others.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

from banditmt_client import BanditError, Client, NotFoundError, Run
from lambdas.store import open_store
from learners.errors import LearnerError, ResumeError
from learners.journal import Entry
from learners.loop import play, saved_run
from learners.nmt.processor import denormals_as_zero
from learners.seed_models import Shelf
from learners.systems import find_system
from simulator.local import local_client

PARTICIPANT = "banditmt"  # who plays the systems of this house
REPORT_SECONDS = 0.2  # between two reports of a run
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Contestant:
    """One run to be played."""

    system: str
    seed: int = 1
    name: str = ""  # on the leaderboard; the system's unless there are several seeds

    @property
    def label(self) -> str:
        return self.name or self.system


class State(StrEnum):
    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"  # goes on next time
    FAILED = "failed"  # the message says why


@dataclass(frozen=True)
class Status:
    """How a run stands."""

    contestant: Contestant
    state: State
    rounds: int = 0
    total: int = 0
    reward: float = 0.0  # cumulative, as the learner was told
    message: str = ""


Watch = Callable[[Status], None]


@dataclass(frozen=True)
class Arena:
    """Where runs are played: a phase of a store, seed models, and a folder for what runs leave behind."""

    store: str  # sqlite:PATH or dynamodb:URL
    phase: str
    models: Path
    folder: Path
    participant: str = PARTICIPANT

    def run_folder(self, contestant: Contestant) -> Path:
        return self.folder / self.phase / contestant.label


def contestants(systems: Sequence[str], seeds: int = 1) -> list[Contestant]:
    """Each system with each seed; those that draw nothing at random once. Unknown systems are refused."""
    listed = []
    for name in dict.fromkeys(systems):
        system = find_system(name)
        if seeds == 1 or not system.random:
            listed.append(Contestant(name))
        else:
            listed += [Contestant(name, seed, f"{name}.s{seed}") for seed in range(1, seeds + 1)]
    return listed


def compete(
    arena: Arena, runs: Sequence[Contestant], *, processes: int | None = None, watch: Watch = lambda _: None
) -> list[Status]:
    """Play all runs and return how each ended, in their order.

    Ctrl-C stops them all after their current rounds; pressed again, at once.
    """
    workers = max(1, min(processes or os.cpu_count() or 1, len(runs)))
    waiting, ended = list(runs), dict[Contestant, Status]()
    playing: dict[Connection, _Player] = {}
    with _one_thread_each(), _stopping(playing) as stopped:
        while playing or (waiting and not stopped.is_set()):
            while waiting and len(playing) < workers and not stopped.is_set():
                player = _Player(arena, waiting.pop(0))
                playing[player.reports] = player
            for reports in wait(list(playing)):
                assert isinstance(reports, Connection), "nothing else was waited for"
                status = playing[reports].report()
                if status.state is not State.PLAYING:
                    ended[status.contestant] = status
                    playing.pop(reports).close()
                watch(status)
    return [ended.get(contestant, Status(contestant, State.INTERRUPTED)) for contestant in runs]


class _Player:
    """A process that plays one run, and the pipe through which it reports.

    A pipe of its own for each: a process that is killed in the middle of a word disturbs nobody.
    """

    def __init__(self, arena: Arena, contestant: Contestant) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share torch's and the store's insides
        self.reports, theirs = context.Pipe(duplex=False)
        self._contestant = contestant
        self._process = context.Process(target=_work, args=(arena, contestant, theirs, os.getpid()))
        self._process.start()
        theirs.close()

    def report(self) -> Status:
        """The next word of the process; silence means that it died."""
        try:
            status = self.reports.recv()
            assert isinstance(status, Status), "a player reports nothing else"
            return status
        except EOFError:
            self._process.join()
            return Status(self._contestant, State.FAILED, message=f"its process died ({self._process.exitcode})")

    def stop(self) -> None:
        if self._process.pid and self._process.is_alive():
            os.kill(self._process.pid, signal.SIGINT)

    def close(self) -> None:
        self._process.join()
        self.reports.close()


def play_here(arena: Arena, contestant: Contestant, *, watch: Watch = lambda _: None) -> Status:
    """Play one run in this process, or go on with it."""
    store = open_store(arena.store)
    try:
        with local_client(store, arena.participant) as client:
            return play_with(client, arena, contestant, watch=watch)
    finally:
        store.close()


def play_with(client: Client, arena: Arena, contestant: Contestant, *, watch: Watch = lambda _: None) -> Status:
    """Play one run with any client; a run that is finished already is not played again."""
    folder = arena.run_folder(contestant)
    run = _open(client, arena, contestant, folder)
    learner = find_system(contestant.system).learner(Shelf(arena.models), contestant.seed)
    reward = run.progress.cumulative_reward if run.progress.index else 0.0
    reported = 0.0

    def report(entry: Entry) -> None:
        nonlocal reward, reported
        reward += entry.reward
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            watch(Status(contestant, State.PLAYING, entry.index + 1, run.total, reward))

    with denormals_as_zero():
        progress = play(learner, run, folder, watch=report)
    return Status(contestant, State.FINISHED, progress.index, progress.total, progress.cumulative_reward)


def _open(client: Client, arena: Arena, contestant: Contestant, folder: Path) -> Run:
    """The run that the folder tells of, or a new one."""
    begun = saved_run(folder)
    if begun is None:
        return client.open_run(phase=arena.phase, system=contestant.label)
    try:
        return client.get_run(begun)
    except NotFoundError:
        raise ResumeError(
            f"{folder} is of run {begun}, which this service does not know: remove it, or go back to that service"
        ) from None


def _work(arena: Arena, contestant: Contestant, reports: Connection, parent: int) -> None:
    """What a player's process does: one run, every ending of which is reported."""
    os.setpgrp()  # Ctrl-C in the terminal reaches the parent only, which passes it on
    last = Status(contestant, State.PLAYING)

    def watch(status: Status) -> None:
        nonlocal last
        last = status
        if os.getppid() != parent:
            raise KeyboardInterrupt  # nobody is listening any more
        reports.send(status)

    def ending(state: State, message: str) -> Status:
        return replace(last, state=state, message=message)

    try:
        reports.send(play_here(arena, contestant, watch=watch))
    except KeyboardInterrupt:
        reports.send(ending(State.INTERRUPTED, "the same command goes on"))
    except (LearnerError, BanditError, OSError) as failure:
        reports.send(ending(State.FAILED, str(failure)))
    except Exception as bug:  # a bug in one learner must not take the others down
        reports.send(ending(State.FAILED, f"{type(bug).__name__}: {bug}"))


@contextmanager
def _stopping(playing: Mapping[Connection, _Player]) -> Iterator[threading.Event]:
    """Ctrl-C is passed on to all players."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped  # only the main thread hears signals
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()
        for player in playing.values():
            player.stop()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Children are told to compute on one thread: there are as many of them as cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
