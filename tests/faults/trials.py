"""One trial for each fault: play the competition of ``scenario`` under it, and compare with the undisturbed one.

A trial takes a seed and an empty folder, and returns the counts of what happened. Its decisions follow from the seed;
only the exact moment at which a process is killed depends on the machine.
"""

import os
import random
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from sqlite3 import connect
from unittest import mock

from banditmt_client import Client, ServerError
from lambdas.handlers import board
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import Store, open_store
from lambdas.store.dynamodb import DynamoDBStore
from lambdas.store.sqlite import SQLiteStore
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.http_server import HttpServer, ServerLimits, running
from simulator.cloud.local_cloud import local_gateway
from simulator.cloud.rate_limiter import RateLimiter, ThrottleSettings
from simulator.in_process import in_process_client
from tests import dynalite
from tests.faults import scenario
from tests.faults.fork_server import ForkServer, fork_server
from tests.faults.proxy import CLIENT_TIMEOUT_SECONDS, DYNAMODB_FAULTS, NETWORK_FAULTS, Proxy, proxy_running
from tests.faults.scenario import PHASE, PLAYERS
from tests.faults.stores import DisturbedStore, full_disk, read_only, slow_response
from tests.lambdas.faulty_store import CrashError, FaultyStore
from tests.lambdas.handlers.test_board import stream

Trial = Callable[[int, Path], Mapping[str, int]]
KILLS = 6  # in one trial, of servers and learners together
ROUNDS = PHASE.layout.total * len(PLAYERS)
FUNCTION_TIMEOUT_SECONDS = 0.5  # in the trial of slow functions
YEAR = 365 * 86_400.0


@contextmanager
def sqlite(folder: Path) -> Iterator[SQLiteStore]:
    """Open a store with small pages, so that a full disk shows after few rounds."""
    path = folder / "store.db"
    if not path.exists():
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA page_size = 512")
            connection.execute("VACUUM")
    store = SQLiteStore.open(f"{path}?synchronous=normal")
    yield store
    store.close()


@contextmanager
def served(service: Service, *, gateway: Gateway | None = None, deadline: float = 10.0) -> Iterator[str]:
    """Serve the service over HTTP in this process; clients hardly pause between attempts."""
    with scenario.handlers_use(service), scenario.short_pauses():
        application = gateway or local_gateway(scenario.template(), service)
        server = HttpServer(("127.0.0.1", 0), application, limits=ServerLimits(response_seconds=deadline))
        with running(server):
            yield server.url


def clients(url: str, keys: Mapping[str, str], *, retries: int = 8) -> dict[str, Callable[[], Client]]:
    return {
        name: partial(Client, key, url, read_timeout=CLIENT_TIMEOUT_SECONDS, retries=retries)
        for name, key in keys.items()
    }


# the network


def network(seed: int, folder: Path) -> Mapping[str, int]:
    """A proxy drops, delays, truncates, duplicates and reorders requests; some learners fail and restart."""
    events: Counter[str] = Counter()
    with sqlite(folder) as store, ExitStack() as stack:
        keys = scenario.prepare(store)
        url = stack.enter_context(served(Service(store)))
        with ExitStack() as proxies:
            ways = {}
            for player, key in keys.items():
                proxy = Proxy(url, f"{seed} {player}", faults=NETWORK_FAULTS, share=0.4)
                proxies.enter_context(proxy_running(proxy))
                ways[player] = partial(Client, key, proxy.url, read_timeout=CLIENT_TIMEOUT_SECONDS, retries=2)
                proxies.callback(events.update, proxy.events)
            events["learner restarted"] = scenario.play_all(ways, folder) - len(PLAYERS)
        scenario.check(store, folder)
    return events


# the machines


class Processes:
    """A server and the learners as processes, which can be killed and restarted."""

    def __init__(
        self,
        fork_server: ForkServer,
        folder: Path,
        keys: Mapping[str, str],
        groups: Path | None = None,
        serving: int = 1,  # processes
    ) -> None:
        self._fork_server, self._folder, self._keys = fork_server, folder, keys
        self._groups, self._serving = groups, serving
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._url = f"http://127.0.0.1:{self._port}"
        self.failures = 0  # of learners
        self._probes = 0
        self.children = {name: self._start(name) for name in ("server", *PLAYERS)}

    def _start(self, name: str) -> int:
        if name == "server":
            store = f"sqlite:{self._folder / 'store.db'}?synchronous={'full' if self._groups else 'normal'}"
            return self._fork_server.serve(store, self._port, self._groups, self._serving)
        return self._fork_server.learn(self._url, self._keys[name], self._folder, name)

    def kill(self, name: str) -> bool:
        """Kill a process and restart it; return False if it had finished."""
        killed = self._fork_server.kill(self.children[name])
        self.children[name] = self._start(name)
        return killed

    def kill_serving(self, rng: random.Random) -> bool:
        """Kill one of several processes that serve; return False if it had ended before."""
        server = self.children["server"]
        serving = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        try:
            os.kill(int(rng.choice(serving)), signal.SIGKILL)
        except (IndexError, ProcessLookupError):  # all were killed a moment ago
            return False
        return True

    def restart_failed(self) -> None:
        """Restart learners that ended with an error."""
        for name in PLAYERS:
            if self._fork_server.ended(self.children[name]) not in (None, 0):
                self.children[name] = self._start(name)
                self.failures += 1

    def rounds(self) -> int:
        return sum(scenario.rounds_learned(self._folder, player) for player in PLAYERS)

    def wait_for(self, rounds: int) -> None:
        """Wait until the learners have learned from so many rounds; restart those that fail."""
        self.wait_until(lambda: self.rounds() >= rounds)

    def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not reached():
            self.restart_failed()
            time.sleep(0.002)
            assert time.monotonic() < deadline, f"stuck at {self.rounds()} of {ROUNDS} rounds"

    def server_fails(self) -> bool:
        """Return whether the server can write no more. The runs that are opened to find out are never played."""
        self._probes += 1
        try:
            with Client(self._keys[PLAYERS[0]], self._url, retries=0) as client:
                client.open_run(phase=PHASE.name, system=f"probe-{self._probes}")
        except ServerError as refused:
            return refused.status == 503
        return False

    def failed_or_finished(self, player: str, failures: int) -> bool:
        return self.failures > failures or scenario.rounds_learned(self._folder, player) == PHASE.layout.total

    def stop(self) -> None:
        for child in self.children.values():
            self._fork_server.kill(child)


@cache
def shared_fork_server() -> tuple[ExitStack, ForkServer]:
    """Return one fork server for all trials of this process, and what closes it."""
    stack = ExitStack()
    return stack, stack.enter_context(fork_server())


@contextmanager
def processes(folder: Path, groups: Path | None = None, serving: int = 1) -> Iterator[Processes]:
    with sqlite(folder) as store:
        keys = scenario.prepare(store)
    started = Processes(shared_fork_server()[1], folder, keys, groups, serving)
    try:
        yield started
    finally:
        started.stop()
    with sqlite(folder) as store:
        scenario.check(store, folder)


def kills(seed: int, folder: Path, groups: Path | None = None) -> Mapping[str, int]:
    """The server or a learner is killed with SIGKILL, at any moment of any round."""
    rng, events = random.Random(seed), Counter[str]()
    victims = ["server", rng.choice(PLAYERS), *rng.choices(("server", *PLAYERS), k=KILLS - 2)]
    with processes(folder, groups) as started:
        for moment, victim in zip(sorted(rng.sample(range(ROUNDS), KILLS)), victims, strict=True):
            started.wait_for(moment)
            time.sleep(rng.uniform(0, 0.01))
            events["SIGKILL of the server" if victim == "server" else "SIGKILL of a learner"] += started.kill(victim)
        started.wait_for(ROUNDS)
    return events


def group_kills(seed: int, folder: Path) -> Mapping[str, int]:
    """The same, while the rounds of several learners are committed together."""
    groups = folder / "groups"
    events = kills(seed, folder, groups)
    sizes = [int(size) for size in groups.read_text().split()]
    return {**events, "rounds committed in a group": sum(size for size in sizes if size > 1)}


def process_kills(seed: int, folder: Path) -> Mapping[str, int]:
    """Three processes serve one port; one of them or a learner is killed with SIGKILL, at any moment of any round."""
    rng, events = random.Random(seed), Counter[str]()
    victims = ["server", rng.choice(PLAYERS), *rng.choices(("server", *PLAYERS), k=KILLS - 2)]
    with processes(folder, serving=3) as started:
        for moment, victim in zip(sorted(rng.sample(range(1, ROUNDS), KILLS)), victims, strict=True):
            started.wait_for(moment)
            time.sleep(rng.uniform(0, 0.01))
            if victim == "server":
                events["SIGKILL of a process that serves"] += started.kill_serving(rng)
            else:
                events["SIGKILL of a learner"] += started.kill(victim)
        started.wait_for(ROUNDS)
    return events


def no_room(seed: int, folder: Path) -> Mapping[str, int]:
    """The kernel stops writes of the server or a learner in the middle of a log or a checkpoint."""
    rng, events = random.Random(seed), Counter[str]()
    with processes(folder) as started:
        moments = sorted(rng.sample(range(1, ROUNDS // 2), 3))  # the log exists after the first round
        started.wait_for(moments[0])
        with limited(started.children["server"], (folder / "store.db-wal").stat().st_size + rng.randint(0, 3_000)):
            started.wait_until(started.server_fails)
        events["server without room"] += 1
        for moment, player in zip(moments[1:], rng.sample(PLAYERS, 2), strict=True):
            started.wait_for(moment)
            with limited(started.children[player], rng.randint(0, 300)):  # a checkpoint is longer than that
                started.wait_until(partial(started.failed_or_finished, player, started.failures))
        started.wait_for(ROUNDS)
        events["learner without room"] = started.failures
    return events


@contextmanager
def limited(process: int, room: int) -> Iterator[None]:
    """Limit the files of a process to ``room`` bytes."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (room, hard))
    yield
    with suppress(ProcessLookupError):  # it may have died of it
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))


# the store on this machine


Fault = Callable[[SQLiteStore, Counter[str]], AbstractContextManager[None]]


def on_a_disk(name: str, fault: Fault, seed: int, folder: Path) -> Mapping[str, int]:
    events: Counter[str] = Counter({name: 0})
    with sqlite(folder) as store:
        keys = scenario.prepare(store)
        disturbed = DisturbedStore(store, str(seed), partial(fault, store, events), share=0.4)
        with served(Service(disturbed)) as url:
            scenario.play_all(clients(url, keys), folder)
        scenario.check(store, folder)
    return events


def timeout(seed: int, folder: Path) -> Mapping[str, int]:
    """A function times out after its write, before its response."""
    events: Counter[str] = Counter()
    with sqlite(folder) as store:
        keys = scenario.prepare(store)
        slow = DisturbedStore(store, str(seed), lambda: slow_response(2 * FUNCTION_TIMEOUT_SECONDS, events), share=0.08)
        with served(Service(slow), deadline=FUNCTION_TIMEOUT_SECONDS) as url:
            scenario.play_all(clients(url, keys), folder)
        scenario.check(store, folder)
    return events


class JumpingClock:
    """A clock that is set forward and back again and again."""

    def __init__(self, seed: int) -> None:
        self._rng, self._offset = random.Random(seed), 0.0
        self.jumps = 0

    def __call__(self) -> float:
        if self._rng.random() < 0.2:
            self.jumps += 1
            reach = self._rng.choice((1.0, 3_600.0, 86_400.0, 40 * YEAR))
            self._offset = self._rng.uniform(-reach, reach)
        return time.time() + self._offset


def clock(seed: int, folder: Path) -> Mapping[str, int]:
    """The clock of the service and its throttle is set forward and back, by seconds to decades."""
    jumping = JumpingClock(seed)
    with sqlite(folder) as store:
        keys = scenario.prepare(store)
        service = Service(store, clock=jumping)
        gate = RateLimiter(per_key=ThrottleSettings(200, 20), stage=ThrottleSettings(600, 60), clock=jumping)
        gateway = Gateway(scenario.template(), load_handlers(scenario.template()), lambda _: True, rate_limiter=gate)
        with served(service, gateway=gateway) as url:
            scenario.play_all(clients(url, keys), folder)
        scenario.check(store, folder)
    return {"clock set": jumping.jumps}


# the cloud


@cache
def dynalite_server() -> tuple[ExitStack, str]:
    """Return one server for all trials of this process, and what closes it."""
    stack = ExitStack()
    return stack, stack.enter_context(dynalite.running())


def dynamodb(seed: int, folder: Path) -> Mapping[str, int]:
    """DynamoDB throttles, fails, and loses requests and responses."""
    direct, prefix = dynalite_server()[1], f"faults-{seed}-{time.monotonic_ns()}"
    store = DynamoDBStore.open(f"{direct}?prefix={prefix}")
    keys = scenario.prepare(store)
    proxy = Proxy(direct, str(seed), faults=DYNAMODB_FAULTS, share=0.25)
    with proxy_running(proxy) as events, mock.patch("botocore.endpoint.time"):
        troubled = DynamoDBStore.open(f"{proxy.url}?prefix={prefix}")
        with served(Service(troubled)) as url:
            patient = {name: partial(Client, key, url, retries=20) for name, key in keys.items()}
            scenario.play_all(patient, folder)
        troubled.close()
    scenario.check(store, folder)
    store.close()
    return events


def ledger_stream(seed: int, folder: Path) -> Mapping[str, int]:
    """The ledger's stream is repeated, out of order and in random batches, and the function keeps crashing."""
    rng, events = random.Random(seed), Counter[str]()
    store: Store = open_store("sqlite::memory:")
    scenario.prepare(store)
    for player in PLAYERS:
        scenario.play_to_the_end(partial(in_process_client, store, player), folder, player)
    runs = Registry(store).runs(PHASE.name)
    entries = [entry for run in runs for entry in stream(store, run.id)]
    pending = entries + rng.sample(entries, len(entries) // 2)  # half of them come twice
    rng.shuffle(pending)
    events["entry delivered twice"] = len(pending) - len(entries)
    while pending:
        size = rng.randint(1, 12)
        batch, pending = pending[:size], pending[size:]
        faulty = FaultyStore(store)
        faulty.fail(rng.randint(0, 30), after=rng.random() < 0.5)
        try:
            board.update_summaries(faulty, batch)
            events["batch out of order"] += 1
        except CrashError:
            pending += batch  # the stream delivers it again
            events["function crashed in a batch"] += 1
    record, scoreboard = Registry(store).require_phase(PHASE.name), Scoreboard(store)
    assert {each.identity.run: each.rounds for each in scoreboard.summaries(record)} == dict.fromkeys(
        (run.id for run in runs), PHASE.layout.total
    )
    scenario.check(store, folder)
    store.close()
    return events


TRIALS: dict[str, Trial] = {
    "network": network,
    "kills": kills,
    "group-kills": group_kills,
    "process-kills": process_kills,
    "no-room": no_room,
    "disk-full": partial(on_a_disk, "disk full", full_disk),
    "read-only": partial(on_a_disk, "read-only store", read_only),
    "clock": clock,
    "timeout": timeout,
    "dynamodb": dynamodb,
    "stream": ledger_stream,
}


def close() -> None:
    """Stop the servers that the trials have started."""
    for started in (shared_fork_server, dynalite_server):
        if started.cache_info().currsize:
            started()[0].close()
        started.cache_clear()
