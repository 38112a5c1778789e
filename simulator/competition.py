"""A competition: runs of many systems and seeds over one phase, side by side, each in its own process.

Each run has a folder with its journal and its last snapshot. A competition that was stopped, or a run whose process
died, is resumed by the same command. A run that fails reports why, and does not disturb the others.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from banditmt_client import BanditError, Client, NotFoundError, Run
from banditmt_client.text import printable
from lambdas.profile_store import ProfileStore
from lambdas.store import open_store
from lambdas.store.interface import Store
from leaderboard.families import HOUSE_PARTICIPANT, name_with_settings
from learners.contract import Learner
from learners.errors import LearnerError, ResumeError, UnknownSystemError, describe_bug
from learners.interrupts import deferred_interrupts
from learners.journal import JournalEntry
from learners.loop import play
from learners.nmt.processor import denormals_as_zero
from learners.run_folder import RunFolder
from learners.seed_models.store import ModelStore
from learners.systems.registry import find_system
from learners.systems.system import System
from simulator.errors import SimulatorError
from simulator.in_process import in_process_client
from simulator.regret import local_baseline_runs
from simulator.tracking import RunTracking, open_tracker
from task.feedback import FeedbackKind
from task.public_texts import MAX_LINE_CHARACTERS

REPORT_SECONDS = 0.2  # between two reports of a run
RESUME_ADVICE = "the same command resumes it"
PLAYED_BEFORE = "it was played before"  # nothing was played now, whatever has changed in the code of its learner
THREAD_COUNT_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class RunSpec:
    """A run to be played: which system, with which seed, under which name."""

    system: str  # its name in the registry, or module:Class
    seed: int = 1
    name: str = ""  # on the leaderboard; the system's name if empty
    settings: tuple[tuple[str, str], ...] = ()  # names and values that differ from the registered ones, sorted

    @property
    def label(self) -> str:
        """The name on the leaderboard."""
        return self.name or self.system

    def find_system(self) -> System:
        """Return the system with these settings."""
        return find_system(self.system).with_settings(dict(self.settings))


class PlayState(StrEnum):
    """Whether the process of a run still plays it, and if not, how it ended."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"  # the same command resumes it
    FAILED = "failed"  # the message says why


@dataclass(frozen=True)
class RunStatus:
    """The progress of a run."""

    spec: RunSpec
    state: PlayState
    rounds: int = 0
    total: int = 0  # 0 until the run has been opened
    reward: float | None = 0.0  # the sum of the rewards that the learner observed; None if only a snapshot is known
    message: str = ""

    @property
    def mean_reward(self) -> float | None:
        """The mean observed reward per round; None before the first round, and where the sum is unknown."""
        return None if self.reward is None or not self.rounds else self.reward / self.rounds


Watch = Callable[[RunStatus], None]


class ServicePlace(Protocol):
    """Where a service is that is not in this process."""

    def client(self) -> Client:
        """Return a new client of the service."""


@dataclass(frozen=True)
class ServiceAddress:
    """The address of a service to play at over HTTP."""

    url: str
    api_key: str | None = field(default=None, repr=False)  # None: from the environment

    def client(self) -> Client:
        return Client(self.api_key, self.url)


@dataclass(frozen=True)
class Competition:
    """What runs are played on: a phase of a store, seed models, and a folder for journals and snapshots."""

    store: str  # sqlite:PATH or dynamodb:URL
    phase: str
    models: Path
    folder: Path
    participant: str = HOUSE_PARTICIPANT
    address: ServicePlace | None = None  # play there, instead of in process on the store
    tracker: str | None = None  # one of ``simulator.tracking.TRACKERS``, which each run logs to

    def run_folder(self, spec: RunSpec) -> Path:
        return self.folder / self.phase / spec.label

    def under_begun_names(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        """Return these runs; one that an earlier version began under another name keeps that name.

        Earlier versions called the first of several seeds ``SYSTEM.s1``, and any seed that was played alone ``SYSTEM``.
        """
        return [self._under_begun_name(spec) for spec in specs]

    def _under_begun_name(self, spec: RunSpec) -> RunSpec:
        if spec.settings:  # earlier versions had none
            return spec
        for name in (spec.name, _name_with_seed(spec.system, spec.seed), spec.system):
            named = replace(spec, name=name)
            with suppress(LearnerError):  # damage is reported when the run is resumed
                begun = RunFolder(self.run_folder(named)).details()
                if begun and (begun.settings.get("system"), begun.settings.get("seed")) == (spec.system, spec.seed):
                    return named
        return spec


class LastStatus:
    """The last known status of a run, for a run that ends without a report."""

    def __init__(self, competition: Competition, spec: RunSpec) -> None:
        self._folder, self._spec = competition.run_folder(spec), spec
        self._status: RunStatus | None = None

    @property
    def is_known(self) -> bool:
        """Whether the run has reported anything yet."""
        return self._status is not None

    def record(self, status: RunStatus) -> None:
        self._status = status

    def ended(self, state: PlayState, message: str = "") -> RunStatus:
        """Return the last known status with the state in which the run ended."""
        return replace(self._status or self._from_folder(), state=state, message=message)

    def end_of(self, play: Callable[[], RunStatus]) -> RunStatus:
        """Play a run, and return the status in which it ended, whatever ended it."""
        try:
            return play()
        except KeyboardInterrupt:
            return self.ended(PlayState.INTERRUPTED, RESUME_ADVICE)
        except (LearnerError, BanditError, SimulatorError, OSError) as failure:
            return self.ended(PlayState.FAILED, str(failure))
        except Exception as bug:  # a bug in one learner must not take the others down
            return self.ended(PlayState.FAILED, describe_bug(bug))

    def _from_folder(self) -> RunStatus:
        """Return the status in which an earlier process left the run. Damage is reported when the run is resumed."""
        rounds = 0
        with suppress(LearnerError, OSError):
            rounds = RunFolder(self._folder).snapshot_rounds()
        return RunStatus(self._spec, PlayState.PLAYING, rounds, reward=None if rounds else 0.0)


NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


def run_specs(systems: Sequence[str], seeds: int = 1, settings: Mapping[str, str] = NO_SETTINGS) -> list[RunSpec]:
    """Return a run for each system and seed with these settings; only one for systems without randomness.

    Raises UnknownSystemError for a system that the registry does not have, or for two systems of one name, and
    SettingError for a setting that a system does not have.
    """
    specs = [
        seeded_run(name, seed, settings)
        for name in dict.fromkeys(systems)
        for seed in range(1, (seeds if find_system(name).stochastic else 1) + 1)
    ]
    by_label: dict[str, RunSpec] = {}
    for spec in specs:  # first_try:Mine and second_try:Mine would write to one folder, and be one system on the board
        if (other := by_label.setdefault(spec.label, spec)) is not spec:
            raise UnknownSystemError(
                f"{other.system} and {spec.system} have one name, {spec.label}: rename one, or play it with --name"
            )
    return specs


def seeded_run(system: str, seed: int, settings: Mapping[str, str] = NO_SETTINGS) -> RunSpec:
    """Return the run of a system with a seed, under one name in all commands, so that none plays it a second time.

    The run with seed 1 has the name of its system, and of the settings that differ from the registered ones. Raises
    UnknownSystemError and SettingError.
    """
    found = find_system(system).with_settings(settings)
    name = name_with_settings(found.name, found.changed_settings)
    if found.stochastic and seed != 1:
        name = _name_with_seed(name, seed)
    return RunSpec(system, seed, "" if name == system else name, found.changed_settings)


def _name_with_seed(system: str, seed: int) -> str:
    return f"{system}.s{seed}"


class PlayedRun(Protocol):
    """A run that is played somewhere else: in another process, or on another machine."""

    @property
    def reports(self) -> Connection:
        """What can be waited for: it is readable when there is a report."""

    def next_report(self) -> RunStatus:
        """Return the next report; the last one says how the run ended."""

    def stop(self) -> None:
        """Ask the run to end after its round; asked again, it ends at once. Called by a signal handler."""

    def close(self) -> None:
        """Wait until nothing of an ended run is left."""


StartRun = Callable[[Competition, RunSpec], PlayedRun]


def compete(
    competition: Competition,
    specs: Sequence[RunSpec],
    *,
    processes: int | None = None,
    watch: Watch = lambda _: None,
    start: StartRun | None = None,
) -> list[RunStatus]:
    """Play all runs, and return the status in which each ended, in the order of ``specs``.

    Ctrl-C stops every run after its current round; pressed again, at once.

    Args:
        competition: What the runs are played on.
        specs: The runs.
        processes: How many are played at a time. Default: the number of cores; all of them with ``start``.
        watch: Receives every report of every run.
        start: Starts a run. Default: in a process of its own.
    """
    default = len(specs) if start else os.cpu_count()
    workers = max(1, min(processes or default or 1, len(specs)))
    waiting, ended = list(specs), dict[RunSpec, RunStatus]()
    playing: dict[Connection, PlayedRun] = {}

    def stop_all() -> None:
        for run in playing.values():
            run.stop()

    with _one_thread_per_process(), deferred_interrupts(on_interrupt=stop_all) as interrupted:
        while playing or (waiting and not interrupted.is_set()):
            while waiting and len(playing) < workers and not interrupted.is_set():
                with blocked_interrupts():
                    run = (start or RunProcess)(competition, waiting.pop(0))
                    playing[run.reports] = run
                    if interrupted.is_set():  # by an interrupt that came before this run was there to be stopped
                        run.stop()
            for reports in wait(list(playing)):
                assert isinstance(reports, Connection), "nothing else was waited for"
                status = playing[reports].next_report()
                if status.state is not PlayState.PLAYING:
                    ended[status.spec] = status
                    playing.pop(reports).close()
                watch(status)
    return [ended.get(spec) or LastStatus(competition, spec).ended(PlayState.INTERRUPTED) for spec in specs]


class RunProcess:
    """A process that plays one run, and the pipe through which it reports.

    Each process has its own pipe, so that one that is killed in the middle of a report disturbs no other.
    """

    def __init__(self, competition: Competition, spec: RunSpec) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share the internals of torch and of the store
        self.reports, child_end = context.Pipe(duplex=False)
        self._last = LastStatus(competition, spec)
        self._asked_to_stop = False
        self._process = context.Process(target=_play_and_report, args=(competition, spec, child_end))
        self._process.start()
        child_end.close()

    def next_report(self) -> RunStatus:
        """Return the next report of the process; if it died without one, the status in which the run ended."""
        try:
            status = self.reports.recv()
            assert isinstance(status, RunStatus), "a process reports nothing else"
            self._last.record(status)
            return status
        except EOFError:
            self._process.join()
            if self._asked_to_stop:
                return self._last.ended(PlayState.INTERRUPTED, RESUME_ADVICE)
            return self._last.ended(PlayState.FAILED, f"its process died ({self._process.exitcode})")

    def stop(self) -> None:
        """Ask the process to end after its round; asked again, it ends at once."""
        if self._asked_to_stop and not self._last.is_known:
            self._process.kill()  # it still imports modules, and receives no interrupts
        elif self._process.pid and self._process.is_alive():
            os.kill(self._process.pid, signal.SIGINT)
        self._asked_to_stop = True

    def close(self) -> None:
        self._process.join()
        self.reports.close()


def play_run(competition: Competition, spec: RunSpec, *, watch: Watch = lambda _: None) -> RunStatus:
    """Play or resume one run in this process; Ctrl-C ends it, and the status says how far it came."""
    last = LastStatus(competition, spec)

    def record(status: RunStatus) -> None:
        last.record(status)
        watch(status)

    try:
        with open_client(competition, spec) as client:
            return play_run_with(client, competition, spec, watch=record)
    except KeyboardInterrupt:
        return last.ended(PlayState.INTERRUPTED, RESUME_ADVICE)


@contextmanager
def open_client(competition: Competition, spec: RunSpec) -> Iterator[Client]:
    """Open a client for this process alone: each process has its own connection, or its own store."""
    if competition.address:
        with competition.address.client() as client:
            yield client
        return
    store = open_store(competition.store)
    try:
        with in_process_client(store, competition.participant) as client:
            _describe_settings(store, competition.participant, spec)
            yield client
    finally:
        store.close()


def _describe_settings(store: Store, participant: str, spec: RunSpec) -> None:
    """Show changed settings beside the name of a run on the leaderboard, unless the organiser has described it."""
    profiles = ProfileStore(store)
    if not spec.settings or profiles.profiles().system(participant, spec.label).description:
        return
    changes = ", ".join(f"{name}={value}" for name, value in spec.settings)
    description = printable(f"{spec.system} with {changes}")[:MAX_LINE_CHARACTERS]
    profiles.describe_system(participant, spec.label, {"description": description.strip()})


def play_run_with(
    client: Client, competition: Competition, spec: RunSpec, *, watch: Watch = lambda _: None
) -> RunStatus:
    """Play or resume one run with any client; a finished run is not played again.

    ``watch`` is called when the run is opened, several times a second while it is played, and when it ends in any way,
    so that the last status that it received is up to date.
    """
    folder, models, system = competition.run_folder(spec), ModelStore(competition.models), spec.find_system()
    # First: a system without its seed model, or without the feedback that it needs, should not open a run.
    _check_feedback(client, competition.phase, system)
    learner = system.new_learner(models, spec.seed, competition.phase)
    run = _open_run(client, competition, spec, folder)
    was_finished = run.progress.index == run.total
    identity = system.identity(models, spec.seed)
    tracking = _open_tracking(competition, spec, run, learner)
    reported = 0.0

    def status(state: PlayState = PlayState.PLAYING) -> RunStatus:
        progress = run.progress
        return RunStatus(spec, state, progress.index, progress.total, progress.cumulative_reward)

    def report(entry: JournalEntry) -> None:
        nonlocal reported
        if tracking:
            tracking.observe(entry, run.progress.cumulative_reward)
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            watch(status())

    watch(status())
    if tracking:
        tracking.init(spec.label, identity)
    try:
        with denormals_as_zero():
            play(learner, run, folder, settings=identity, watch=report)
    finally:
        watch(status())
        if tracking:
            tracking.finish()
    return replace(status(PlayState.FINISHED), message=PLAYED_BEFORE if was_finished else "")


def _check_feedback(client: Client, phase: str, system: System) -> None:
    """Raise LearnerError if a system learns from post-edits, and the phase shows none."""
    if system.needs_post_edits and any(
        one.name == phase and one.feedback != FeedbackKind.POST_EDIT for one in client.phases()
    ):
        raise LearnerError(
            f"{system.name} learns from post-edits, and phase {phase} shows none: "
            "play it on a task that was made with --feedback post-edit"
        )


def _open_tracking(competition: Competition, spec: RunSpec, run: Run, learner: Learner) -> RunTracking | None:
    if competition.tracker is None:
        return None
    tracker = open_tracker(competition.tracker, competition.run_folder(spec), run.id)
    oracle = local_baseline_runs(competition, [spec.label]).get(spec.label)
    return RunTracking(tracker, run.total, oracle=oracle, measure=learner.measurements, complain=_complain)


def _complain(message: str) -> None:
    print(f"banditmt: {printable(message)}", file=sys.stderr, flush=True)


def _open_run(client: Client, competition: Competition, spec: RunSpec, folder: Path) -> Run:
    """Return the run that was begun in the folder, or a new one."""
    details = RunFolder(folder).details()
    if details is None:
        return client.open_run(phase=competition.phase, system=spec.label)
    try:
        return client.get_run(details.run)
    except NotFoundError:
        raise ResumeError(
            f"{folder} belongs to run {details.run}, which this service does not know: "
            "choose another folder (--runs), or return to that service"
        ) from None


def _play_and_report(competition: Competition, spec: RunSpec, reports: Connection) -> None:
    """Play one run in its own process, and report how it ended if the parent still listens."""
    os.setpgrp()  # from now on Ctrl-C in the terminal reaches the parent only, which passes it on
    last = LastStatus(competition, spec)

    def watch(status: RunStatus) -> None:
        last.record(status)
        try:
            reports.send(status)
        except BrokenPipeError:  # the parent was killed
            raise KeyboardInterrupt from None

    def play_unblocked() -> RunStatus:
        signal.pthread_sigmask(
            signal.SIG_UNBLOCK, [signal.SIGINT]
        )  # an interrupt that came during imports takes effect here
        return play_run(competition, spec, watch=watch)

    end = last.end_of(play_unblocked)
    with suppress(BrokenPipeError):
        reports.send(end)


@contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; processes started in it hold it back until they unblock it."""
    resource_tracker.ensure_running()  # else the first process would start it, and unblock interrupts in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_per_process() -> Iterator[None]:
    """Make child processes compute on one thread each: there are as many processes as cores."""
    before = {name: os.environ.get(name) for name in THREAD_COUNT_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_COUNT_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
