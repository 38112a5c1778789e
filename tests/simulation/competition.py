"""One competition on virtual time: servers, learners, an organiser and a cheat, and everything that can go wrong.

All of it follows from one seed. The learners are the SDK's example with the SDK's client; the servers are the local
cloud's gateway with the real functions and stores. Nothing here knows the rules: ``checker`` does.
"""

import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import requests

from banditmt_client import BanditError, Client, PhaseClosedError, connection
from lambdas import cache, registry, scoreboard, tokens, wiring
from lambdas.errors import ServiceError
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import Store, group_commit, sqlite
from leaderboard.metrics.online import GapError
from task.rounds import Round
from tests.faults.scenario import WORD_VALUES, example
from tests.simulation.faults import FaultPlan
from tests.simulation.history import History
from tests.simulation.network import LearnerKilledError, Network, SimulatedAdapter
from tests.simulation.scheduler import Scheduler, SimulatedLock, SimulatedRLock
from tests.simulation.servers import START_SECONDS, SeededSecrets, ServerProcess, recorded_rate_limiter
from tests.simulation.storage import ENGINES, FOLDER, PHASES, PreparedTask, Storage, prepared_task

MAX_SECONDS, MAX_STEPS = 86_400.0, 20_000  # virtual; a competition that takes longer is stuck
RESTART_SECONDS = 1.0  # of a learner, at most
THINKING_SECONDS = 0.1  # of a learner before it calls or writes, at most
URL = "http://simulated"
CHEAT = "mallory"
VOIDED_ID = "wrong_sentence"  # the only refusal that a restart resolves, apart from throttling; any other is a defect


@dataclass
class Outcome:
    """What is left after a competition: the history, the ledger, the learners and the leaderboard."""

    seed: int
    task: PreparedTask
    history: History
    ledger: dict[str, list[Round]]  # by run, of all runs that were opened
    checkpoints: dict[str, dict[str, Any]]  # what each learner has on its disk, by system
    board: dict[str, Any]  # the leaderboard as the organiser sees it
    problems: list[str]  # a thread that failed, or a competition that did not end
    steps: int
    seconds: float  # virtual
    injected: Counter[str]
    processes: int


class SimulatedFile:
    """A file of a learner, with the methods of a path that the example learner uses."""

    def __init__(self, files: dict[str, str], name: str, before: Callable[[], None], plan: FaultPlan) -> None:
        self._files, self.name, self._before, self._plan = files, name, before, plan

    def exists(self) -> bool:
        return self.name in self._files

    def read_text(self) -> str:
        return self._files[self.name]

    def with_name(self, name: str) -> "SimulatedFile":
        return SimulatedFile(self._files, name, self._before, self._plan)

    def write_text(self, text: str) -> None:
        self._before()
        if self._plan.draw(("learner without room",)):
            self._files[self.name] = text[: len(text) // 2]
            raise OSError("no space left on device")
        self._files[self.name] = text

    def replace(self, other: "SimulatedFile") -> None:
        self._before()
        self._files[other.name] = self._files.pop(self.name)
        self._before()


class Competition:
    """One trial. ``run`` plays it and returns the outcome."""

    def __init__(self, seed: int, scheduler: Scheduler, folder: Path) -> None:
        self.seed, self.scheduler, self._rng = seed, scheduler, random.Random(seed)
        self.plan = FaultPlan(random.Random(f"faults {seed}"))
        self.history = History()
        kind = self._rng.choice(list(PHASES))
        self.task = prepared_task(kind, self._rng.choice((ENGINES[0], *ENGINES)))
        self.storage = Storage(self.task, folder)
        self.rate_limiter = recorded_rate_limiter(self.scheduler, self.history)
        self._started = 0  # server processes
        self.servers = [self._start_server() for _ in range(self._rng.choice((1, 1, 2)))]
        self.network = Network(self.scheduler, self.plan, self.history, self._alive_servers)
        self.files: dict[str, str] = {}
        self.unfinished: set[str] = set()  # systems
        self.problems: list[str] = []

    def run(self) -> Outcome:
        start = self.scheduler.start
        systems = [("ada", "ada-learner"), ("bob", "bob-learner")]
        if self.task.phase.repeatable:
            systems.append(("ada", "eve-learner"))
        for participant, system in systems:
            self.unfinished.add(system)
            start(system, lambda p=participant, s=system: self._learn(p, s), self._rng.uniform(0, 0.3))  # type: ignore[misc]
        start("organiser", self._organise, self._rng.uniform(0, 3))
        start("cheat", self._cheat, self._rng.uniform(0, 1))
        start("operator", self._restart_servers, 0.1)
        self.scheduler.run(self._is_over)
        steps, seconds = self.scheduler.steps, self.scheduler.now
        self._note_problems()
        self.scheduler.end()
        return self._outcome(steps, seconds)

    def _is_over(self) -> bool:
        return (
            not self.unfinished
            or bool(self.scheduler.failures)
            or self.scheduler.now > MAX_SECONDS
            or self.scheduler.steps > MAX_STEPS
        )

    def _note_problems(self) -> None:
        for actor, failure in self.scheduler.failures:
            self.problems.append(f"{actor.name} failed: {type(failure).__name__}: {failure}")
        if self.unfinished and not self.problems:
            self.problems.append(f"{', '.join(sorted(self.unfinished))} did not finish")

    def _outcome(self, steps: int, seconds: float) -> Outcome:
        for server in self._alive_servers():
            server.kill()
        store = self.storage.open()
        phase = self.task.phase.name
        runs = Registry(store).runs(phase)
        ledger = {run.id: list(store.rounds(run.id)) for run in runs}
        board = self._board(store)
        store.close()
        checkpoints = {Path(name).stem: json.loads(text) for name, text in self.files.items() if name.endswith(".json")}
        return Outcome(
            self.seed,
            self.task,
            self.history,
            ledger,
            checkpoints,
            board,
            self.problems,
            steps,
            seconds,
            self.plan.injected,
            self._started,
        )

    def _board(self, store: Store) -> dict[str, Any]:
        summaries, record = Scoreboard(store), Registry(store).require_phase(self.task.phase.name)
        try:
            summaries.catch_up(record)
        except GapError as failure:
            self.problems.append(f"the leaderboard cannot be computed: {failure}")
        return summaries.board(record).as_dict()

    # the servers

    def _start_server(self) -> ServerProcess:
        self._started += 1
        return ServerProcess(self.scheduler, self.plan, self.storage, self.rate_limiter)

    def _alive_servers(self) -> list[ServerProcess]:
        return [server for server in self.servers if server.is_alive]

    def _restart_servers(self) -> None:
        """Start a new process in place of each one that was killed, as an operator or systemd does."""
        while True:
            self.scheduler.pause(self.plan.duration(START_SECONDS))
            self.servers = [server if server.is_alive else self._start_server() for server in self.servers]

    # the participants

    def _client(self, participant: str) -> Client:
        client = Client(self.task.keys[participant], URL, retries=3)
        http = client._connection
        assert isinstance(http, connection.HttpConnection)
        http._adapter = SimulatedAdapter(self.network, participant, self._maybe_kill_learner)  # type: ignore[assignment]
        return client

    def _maybe_kill_learner(self) -> None:
        self.scheduler.pause(self.plan.duration(THINKING_SECONDS))
        if self.plan.draw(("learner killed",)):
            raise LearnerKilledError

    def _learn(self, participant: str, system: str) -> None:
        """Play until the run is finished, and start the learner again whenever its process ends before."""
        checkpoint: Any = SimulatedFile(self.files, f"{system}.json", self._maybe_kill_learner, self.plan)
        values = WORD_VALUES[system.partition("-")[0]]
        self.files[checkpoint.name] = json.dumps({"run": None, "rounds": 0, "worth": values, "mean": 0.0})
        while True:
            try:
                with self._client(participant) as client:
                    example.play(client, self.task.phase.name, system, checkpoint)
                break
            except (LearnerKilledError, OSError):
                pass
            except PhaseClosedError:
                self.scheduler.pause(self.plan.uniform(1, 20))
            except BanditError as failure:
                if failure.status in range(400, 500) and failure.status != 429 and failure.code != VOIDED_ID:
                    raise
            self.scheduler.pause(self.plan.duration(RESTART_SECONDS))
        self.unfinished.discard(system)

    def _cheat(self) -> None:
        """Use the runs and the ids of others, send other translations for committed rounds, and use a revoked key."""
        cheat = random.Random(f"cheat {self.seed}")
        while True:
            self.scheduler.pause(cheat.uniform(0.05, 3))
            seen = [each for each in self.history.exchanges if each.succeeded and each.run]
            own = [each.response["run"] for each in self.history.opened_by(CHEAT)]
            action = cheat.choice(("open", "spy", "steal", "change", "reuse"))
            if action == "open":
                system = f"s-{cheat.randrange(1_000)}"
                self._request(CHEAT, "POST", "/v1/runs", {"phase": self.task.phase.name, "system": system})
            if not seen:
                continue
            target = cheat.choice(seen)
            path, sentence = f"/v1/runs/{target.run}", target.response.get("next") or target.response
            stolen = {"id": sentence.get("id", "x" * 50), "translation": "rot rot rot"}
            if action == "spy":
                self._request(CHEAT, "GET", path + cheat.choice(("", "/sentence")))
            elif action == "steal":
                self._request(CHEAT, "POST", f"{path}/translations", stolen)
            elif action == "reuse" and own:
                self._request(CHEAT, "POST", f"/v1/runs/{cheat.choice(own)}/translations", stolen)
            elif action == "change" and target.call == "translate":
                changed = {"id": target.body["id"], "translation": "rot rot rot"}
                self._request(target.participant, "POST", f"{path}/translations", changed)

    def _request(self, participant: str | None, method: str, path: str, body: dict[str, Any] | None = None) -> None:
        key = None if participant is None else self.task.keys[participant]
        with suppress(requests.RequestException):
            self.network.call(participant, key, method, path, json.dumps(body).encode() if body else b"")

    # the organiser

    def _organise(self) -> None:
        organiser, store = random.Random(f"organiser {self.seed}"), self.storage.open()
        decide, phase = Registry(store), self.task.phase.name
        while True:
            action = organiser.choice(("look", "look", "look", "rotate", "void", "close", "revoke"))
            if action == "look":
                self._request(organiser.choice((None, "ada")), "GET", f"/v1/leaderboard/{phase}")
            elif action in ("rotate", "void"):
                if action == "void":
                    self.history.decide("voided", phase, self.scheduler.now)
                self._insist(lambda action=action: decide.rotate_key_ring(keep=action == "rotate"))  # type: ignore[misc]
            elif action == "revoke":
                self._insist(lambda: decide.revoke_keys(CHEAT))
                self.history.decide("revoked", CHEAT, self.scheduler.now)
            elif organiser.random() < 0.5:
                self._insist(lambda: decide.set_phase_state(phase, PhaseState.CLOSED))
                self.history.decide("closed", phase, self.scheduler.now)
                self.scheduler.pause(organiser.uniform(1, 40))
                self.history.decide("opened", phase, self.scheduler.now)
                self._insist(lambda: decide.set_phase_state(phase, PhaseState.OPEN))
            self.scheduler.pause(organiser.uniform(0.5, 15))

    def _insist(self, change: Callable[[], object]) -> None:
        """Repeat a change while a server writes at the same moment."""
        while True:
            try:
                change()
                return
            except (ServiceError, RegistryError):
                self.scheduler.pause(0.1)


class _SimulatedTime:
    """The functions of the module ``time`` that the SDK uses."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def monotonic(self) -> float:
        return self._scheduler.now

    def time(self) -> float:
        return self._scheduler.now

    def sleep(self, seconds: float) -> None:
        self._scheduler.pause(seconds)


@contextmanager
def _virtual(scheduler: Scheduler, seed: int) -> Iterator[None]:
    """Let the code under test use virtual time, locks that know it, and random numbers that follow from the seed."""
    SimulatedLock.scheduler = scheduler
    secrets, backoff = SeededSecrets(f"secrets {seed}"), random.Random(f"backoff {seed}")
    patched: list[tuple[Any, str, Any]] = [
        *((module, "Lock", SimulatedLock) for module in (group_commit, cache, scoreboard)),
        (sqlite, "RLock", SimulatedRLock),
        (sqlite, "BUSY_SECONDS", 0.0),  # real seconds, in which no other thread could run
        *((module, "secrets", secrets) for module in (registry, tokens)),
        (connection, "time", _SimulatedTime(scheduler)),
        (connection, "random", backoff),
        (wiring, "service", lambda: _service_of_thread(scheduler)),
    ]
    with ExitStack() as patches:
        for module, name, value in patched:
            patches.enter_context(mock.patch.object(module, name, value))
        for kind in (cache.Cache, cache.SingleFlightCache):
            defaults: Any = kind.__init__.__kwdefaults__
            patches.enter_context(mock.patch.dict(defaults, clock=lambda: scheduler.now))
        yield


def _service_of_thread(scheduler: Scheduler) -> Service:
    process = scheduler.current.owner if scheduler.current else None
    assert isinstance(process, ServerProcess)
    return process.service


def simulate(seed: int) -> Outcome:
    """Play the competition of a seed."""
    scheduler = Scheduler(random.Random(f"schedule {seed}"))
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    try:
        with _virtual(scheduler, seed):
            return Competition(seed, scheduler, folder).run()
    finally:
        shutil.rmtree(folder)
