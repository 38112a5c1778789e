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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

from banditmt_client import BanditError, Client, NotFoundError, Run
from lambdas.store import open_store
from learners.errors import LearnerError, ResumeError
from learners.journal import JournalEntry
from learners.loop import play, rounds_played, saved_run
from learners.nmt.processor import denormals_as_zero
from learners.seed_models.store import ModelStore
from learners.systems.registry import find_system
from simulator.in_process import in_process_client

PARTICIPANT = "banditmt"  # who plays the systems of this house
REPORT_SECONDS = 0.2  # between two reports of a run
GOES_ON = "the same command goes on"
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class RunSpec:
    """One run to be played."""

    system: str
    seed: int = 1
    name: str = ""  # on the leaderboard; the system's unless there are several seeds

    @property
    def label(self) -> str:
        return self.name or self.system


class RunState(StrEnum):
    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"  # goes on next time
    FAILED = "failed"  # the message says why


@dataclass(frozen=True)
class RunStatus:
    """How a run stands."""

    spec: RunSpec
    state: RunState
    rounds: int = 0
    total: int = 0  # 0 until the run has been opened
    reward: float | None = 0.0  # cumulative, as the learner was told; a snapshot alone does not know it
    message: str = ""


Watch = Callable[[RunStatus], None]


@dataclass(frozen=True)
class ServiceAddress:
    """Of a service to play at over HTTP."""

    url: str
    api_key: str | None = field(default=None, repr=False)  # from the environment if not given

    def client(self) -> Client:
        return Client(self.api_key, self.url)


@dataclass(frozen=True)
class Competition:
    """Where runs are played: a phase of a store, seed models, and a folder for what runs leave behind."""

    store: str  # sqlite:PATH or dynamodb:URL
    phase: str
    models: Path
    folder: Path
    participant: str = PARTICIPANT
    address: ServiceAddress | None = None  # where to play instead of in process over the store

    def run_folder(self, spec: RunSpec) -> Path:
        return self.folder / self.phase / spec.label


class _LastStatus:
    """Where a run was last seen: what is said of one that ends without a word of its own."""

    def __init__(self, competition: Competition, spec: RunSpec) -> None:
        self._folder, self._spec = competition.run_folder(spec), spec
        self._status: RunStatus | None = None

    @property
    def nothing(self) -> bool:
        """Has it not been heard of at all?"""
        return self._status is None

    def note(self, status: RunStatus) -> None:
        self._status = status

    def ending(self, state: RunState, message: str = "") -> RunStatus:
        return replace(self._status or self._as_left(), state=state, message=message)

    def _as_left(self) -> RunStatus:
        """As an earlier process left it. What is wrong with a snapshot is said when somebody plays on from it."""
        rounds = 0
        with suppress(LearnerError, OSError):
            rounds = rounds_played(self._folder)
        return RunStatus(self._spec, RunState.PLAYING, rounds, reward=None if rounds else 0.0)


def run_specs(systems: Sequence[str], seeds: int = 1) -> list[RunSpec]:
    """Each system with each seed; those that draw nothing at random once. Unknown systems are refused."""
    listed = []
    for name in dict.fromkeys(systems):
        system = find_system(name)
        if seeds == 1 or not system.stochastic:
            listed.append(RunSpec(name))
        else:
            listed += [RunSpec(name, seed, f"{name}.s{seed}") for seed in range(1, seeds + 1)]
    return listed


def compete(
    competition: Competition, runs: Sequence[RunSpec], *, processes: int | None = None, watch: Watch = lambda _: None
) -> list[RunStatus]:
    """Play all runs and return how each ended, in their order.

    Ctrl-C stops them all after their current rounds; pressed again, at once.
    """
    workers = max(1, min(processes or os.cpu_count() or 1, len(runs)))
    waiting, ended = list(runs), dict[RunSpec, RunStatus]()
    playing: dict[Connection, RunProcess] = {}
    with _one_thread_each(), _stopping(playing) as stopped:
        while playing or (waiting and not stopped.is_set()):
            while waiting and len(playing) < workers and not stopped.is_set():
                with _interrupts_held():
                    player = RunProcess(competition, waiting.pop(0))
                    playing[player.reports] = player
                    if stopped.is_set():  # somebody asked before there was a player to tell
                        player.stop()
            for reports in wait(list(playing)):
                assert isinstance(reports, Connection), "nothing else was waited for"
                status = playing[reports].report()
                if status.state is not RunState.PLAYING:
                    ended[status.spec] = status
                    playing.pop(reports).close()
                watch(status)
    return [ended.get(one) or _LastStatus(competition, one).ending(RunState.INTERRUPTED) for one in runs]


class RunProcess:
    """A process that plays one run, and the pipe through which it reports.

    A pipe of its own for each: a process that is killed in the middle of a word disturbs nobody.
    """

    def __init__(self, competition: Competition, spec: RunSpec) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share torch's and the store's insides
        self.reports, theirs = context.Pipe(duplex=False)
        self._seen = _LastStatus(competition, spec)
        self._asked_to_stop = False
        self._process = context.Process(target=_work, args=(competition, spec, theirs))
        self._process.start()
        theirs.close()

    def report(self) -> RunStatus:
        """The next word of the process; silence means that it died."""
        try:
            status = self.reports.recv()
            assert isinstance(status, RunStatus), "a player reports nothing else"
            self._seen.note(status)
            return status
        except EOFError:
            self._process.join()
            if self._asked_to_stop:  # and did, without a word
                return self._seen.ending(RunState.INTERRUPTED, GOES_ON)
            return self._seen.ending(RunState.FAILED, f"its process died ({self._process.exitcode})")

    def stop(self) -> None:
        """Ask it to end after its round, and to end at once if it was asked before."""
        if self._asked_to_stop and self._seen.nothing:
            self._process.kill()  # it has not even begun, and hears nothing while it loads
        elif self._process.pid and self._process.is_alive():
            os.kill(self._process.pid, signal.SIGINT)
        self._asked_to_stop = True

    def close(self) -> None:
        self._process.join()
        self.reports.close()


def play_run(competition: Competition, spec: RunSpec, *, watch: Watch = lambda _: None) -> RunStatus:
    """Play one run in this process, or go on with it; Ctrl-C ends it with how far it came."""
    seen = _LastStatus(competition, spec)

    def note(status: RunStatus) -> None:
        seen.note(status)
        watch(status)

    try:
        with _client(competition) as client:
            return play_run_with(client, competition, spec, watch=note)
    except KeyboardInterrupt:
        return seen.ending(RunState.INTERRUPTED, GOES_ON)


@contextmanager
def _client(competition: Competition) -> Iterator[Client]:
    """A client of one's own: each process has a connection, or a store, to itself."""
    if competition.address:
        with competition.address.client() as client:
            yield client
        return
    store = open_store(competition.store)
    try:
        with in_process_client(store, competition.participant) as client:
            yield client
    finally:
        store.close()


def play_run_with(
    client: Client, competition: Competition, spec: RunSpec, *, watch: Watch = lambda _: None
) -> RunStatus:
    """Play one run with any client; a run that is finished already is not played again.

    ``watch`` is told where the run stands when it is opened, now and then while it is played, and when it ends in
    whatever way: what it was told last is true.
    """
    folder, models, system = competition.run_folder(spec), ModelStore(competition.models), find_system(spec.system)
    learner = system.new_learner(models, spec.seed)  # first: without its seed model it should not open a run
    run = _open(client, competition, spec, folder)
    reported = 0.0

    def standing(state: RunState = RunState.PLAYING) -> RunStatus:
        so_far = run.progress
        return RunStatus(spec, state, so_far.index, so_far.total, so_far.cumulative_reward)

    def report(_entry: JournalEntry) -> None:
        nonlocal reported
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            watch(standing())

    watch(standing())
    try:
        with denormals_as_zero():
            play(learner, run, folder, about=system.identity(models, spec.seed), watch=report)
    finally:
        watch(standing())
    return standing(RunState.FINISHED)


def _open(client: Client, competition: Competition, spec: RunSpec, folder: Path) -> Run:
    """The run that the folder tells of, or a new one."""
    begun = saved_run(folder)
    if begun is None:
        return client.open_run(phase=competition.phase, system=spec.label)
    try:
        return client.get_run(begun)
    except NotFoundError:
        raise ResumeError(
            f"{folder} is of run {begun}, which this service does not know: "
            "choose another folder (--runs), or go back to that service"
        ) from None


def _work(competition: Competition, spec: RunSpec, reports: Connection) -> None:
    """What a player's process does: one run, every ending of which is reported if somebody still listens."""
    os.setpgrp()  # from now on Ctrl-C in the terminal reaches the parent only, which passes it on
    seen = _LastStatus(competition, spec)

    def watch(status: RunStatus) -> None:
        seen.note(status)
        try:
            reports.send(status)
        except BrokenPipeError:  # the parent was killed
            raise KeyboardInterrupt from None

    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # one that came during imports strikes here
        end = play_run(competition, spec, watch=watch)
    except KeyboardInterrupt:
        end = seen.ending(RunState.INTERRUPTED, GOES_ON)
    except (LearnerError, BanditError, OSError) as failure:
        end = seen.ending(RunState.FAILED, str(failure))
    except Exception as bug:  # a bug in one learner must not take the others down
        end = seen.ending(RunState.FAILED, f"{type(bug).__name__}: {bug}")
    with suppress(BrokenPipeError):
        reports.send(end)


@contextmanager
def _stopping(playing: Mapping[Connection, RunProcess]) -> Iterator[threading.Event]:
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
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until this is over; in a process that was begun meanwhile, until it says that it is ready."""
    resource_tracker.ensure_running()  # the first process would begin it, and lift the hold in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
