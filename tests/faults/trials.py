"""The faults, each as a trial: play the competition of ``world`` under it, and compare with the undisturbed one.

A trial takes a seed and an empty folder and returns how often it did what. Its decisions follow from the seed; where
processes are killed, the moment within a round is the machine's.
"""

import random
import resource
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
from tests.faults import world
from tests.faults.nursery import Nursery, nursery
from tests.faults.proxy import DYNAMODB, NETWORK, PATIENCE, Proxy, standing
from tests.faults.stores import MeddledStore, full_disk, read_only, slow_answer
from tests.faults.world import PHASE, PLAYERS
from tests.lambdas.faults import CrashError, FaultyStore
from tests.lambdas.handlers.test_board import stream

Trial = Callable[[int, Path], Mapping[str, int]]
KILLS = 6  # in one trial, of servers and learners together
ROUNDS = PHASE.layout.total * len(PLAYERS)
DEADLINE = 0.5  # seconds a function has where it shall be too slow
YEAR = 365 * 86_400.0


@contextmanager
def sqlite(folder: Path) -> Iterator[SQLiteStore]:
    """A store in small pages: a full disk is felt only when a page is."""
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
    """The service over HTTP in this process; clients do not wait between two tries."""
    with world.wired(service), world.short_pauses():
        application = gateway or local_gateway(world.template(), service)
        server = HttpServer(("127.0.0.1", 0), application, limits=ServerLimits(response_seconds=deadline))
        with running(server):
            yield server.url


def clients(url: str, keys: Mapping[str, str], *, retries: int = 8) -> dict[str, Callable[[], Client]]:
    return {name: partial(Client, key, url, read_timeout=PATIENCE, retries=retries) for name, key in keys.items()}


# the network


def network(seed: int, folder: Path) -> Mapping[str, int]:
    """A proxy before each player drops, delays, truncates, duplicates and reorders; learners die of it, too."""
    done: Counter[str] = Counter()
    with sqlite(folder) as store, ExitStack() as stack:
        keys = world.prepare(store)
        url = stack.enter_context(served(Service(store)))
        with ExitStack() as proxies:
            ways = {}
            for player, key in keys.items():
                proxy = Proxy(url, f"{seed} {player}", fates=NETWORK, share=0.4)
                proxies.enter_context(standing(proxy))
                ways[player] = partial(Client, key, proxy.url, read_timeout=PATIENCE, retries=2)
                proxies.callback(done.update, proxy.done)
            done["learner born again"] = world.all_play(ways, folder) - len(PLAYERS)
        world.check(store, folder)
    return done


# the machines


class Processes:
    """A server and the learners as processes, which can be killed and come back."""

    def __init__(self, home: Nursery, folder: Path, keys: Mapping[str, str]) -> None:
        self._home, self._folder, self._keys = home, folder, keys
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._url = f"http://127.0.0.1:{self._port}"
        self.failures = 0  # of learners
        self._probes = 0
        self.children = {name: self._birth(name) for name in ("server", *PLAYERS)}

    def _birth(self, name: str) -> int:
        if name == "server":
            return self._home.serve(f"sqlite:{self._folder / 'store.db'}?synchronous=normal", self._port)
        return self._home.learn(self._url, self._keys[name], self._folder, name)

    def kill(self, name: str) -> bool:
        """Kill one and let it begin again; False if it had finished."""
        killed = self._home.kill(self.children[name])
        self.children[name] = self._birth(name)
        return killed

    def tend(self) -> None:
        """Start learners again that ended in failure."""
        for name in PLAYERS:
            if self._home.ended(self.children[name]) not in (None, 0):
                self.children[name] = self._birth(name)
                self.failures += 1

    def rounds(self) -> int:
        return sum(world.learned(self._folder, player) for player in PLAYERS)

    def wait_for(self, rounds: int) -> None:
        """Until so many rounds were learned from; a learner that has failed begins again."""
        self.wait_until(lambda: self.rounds() >= rounds)

    def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not reached():
            self.tend()
            time.sleep(0.002)
            assert time.monotonic() < deadline, f"stuck at {self.rounds()} of {ROUNDS} rounds"

    def server_fails(self) -> bool:
        """Can the server write no more? Runs that are opened to find out are never played."""
        self._probes += 1
        try:
            with Client(self._keys[PLAYERS[0]], self._url, retries=0) as client:
                client.open_run(phase=PHASE.name, system=f"probe-{self._probes}")
        except ServerError as refused:
            return refused.status == 503
        return False

    def failed_or_finished(self, player: str, failures: int) -> bool:
        return self.failures > failures or world.learned(self._folder, player) == PHASE.layout.total

    def stop(self) -> None:
        for child in self.children.values():
            self._home.kill(child)


@cache
def home() -> tuple[ExitStack, Nursery]:
    """One nursery for all trials of a process, and what closes it."""
    stack = ExitStack()
    return stack, stack.enter_context(nursery())


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    with sqlite(folder) as store:
        keys = world.prepare(store)
    started = Processes(home()[1], folder, keys)
    try:
        yield started
    finally:
        started.stop()
    with sqlite(folder) as store:
        world.check(store, folder)


def kills(seed: int, folder: Path) -> Mapping[str, int]:
    """SIGKILL strikes the server or a learner, at any moment of any round."""
    rng, done = random.Random(seed), Counter[str]()
    victims = ["server", rng.choice(PLAYERS), *rng.choices(("server", *PLAYERS), k=KILLS - 2)]
    with processes(folder) as started:
        for moment, victim in zip(sorted(rng.sample(range(ROUNDS), KILLS)), victims, strict=True):
            started.wait_for(moment)
            time.sleep(rng.uniform(0, 0.01))
            done["SIGKILL of the server" if victim == "server" else "SIGKILL of a learner"] += started.kill(victim)
        started.wait_for(ROUNDS)
    return done


def no_room(seed: int, folder: Path) -> Mapping[str, int]:
    """The kernel lets the server, or a learner, write no further: in the middle of a log, of a checkpoint."""
    rng, done = random.Random(seed), Counter[str]()
    with processes(folder) as started:
        moments = sorted(rng.sample(range(1, ROUNDS // 2), 3))  # there is a log once there is a round
        started.wait_for(moments[0])
        with limited(started.children["server"], (folder / "store.db-wal").stat().st_size + rng.randint(0, 3_000)):
            started.wait_until(started.server_fails)
        done["server without room"] += 1
        for moment, player in zip(moments[1:], rng.sample(PLAYERS, 2), strict=True):
            started.wait_for(moment)
            with limited(started.children[player], rng.randint(0, 300)):  # a checkpoint is longer than that
                started.wait_until(partial(started.failed_or_finished, player, started.failures))
        started.wait_for(ROUNDS)
        done["learner without room"] = started.failures
    return done


@contextmanager
def limited(process: int, room: int) -> Iterator[None]:
    """No file of the process may grow beyond ``room`` bytes."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (room, hard))
    yield
    with suppress(ProcessLookupError):  # it may have died of it
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))


# the store on this machine


Fault = Callable[[SQLiteStore, Counter[str]], AbstractContextManager[None]]


def on_a_disk(name: str, fault: Fault, seed: int, folder: Path) -> Mapping[str, int]:
    done: Counter[str] = Counter({name: 0})
    with sqlite(folder) as store:
        keys = world.prepare(store)
        meddled = MeddledStore(store, str(seed), partial(fault, store, done), share=0.4)
        with served(Service(meddled)) as url:
            world.all_play(clients(url, keys), folder)
        world.check(store, folder)
    return done


def timeout(seed: int, folder: Path) -> Mapping[str, int]:
    """A function is cut off after its write, before its answer."""
    done: Counter[str] = Counter()
    with sqlite(folder) as store:
        keys = world.prepare(store)
        slow = MeddledStore(store, str(seed), lambda: slow_answer(2 * DEADLINE, done), share=0.08)
        with served(Service(slow), deadline=DEADLINE) as url:
            world.all_play(clients(url, keys), folder)
        world.check(store, folder)
    return done


class JumpingClock:
    """The time, as somebody sets it again and again."""

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
    """The clock of the service and of its throttle is set forward and back, by seconds and by decades."""
    jumping = JumpingClock(seed)
    with sqlite(folder) as store:
        keys = world.prepare(store)
        service = Service(store, clock=jumping)
        gate = RateLimiter(per_key=ThrottleSettings(200, 20), stage=ThrottleSettings(600, 60), clock=jumping)
        gateway = Gateway(world.template(), load_handlers(world.template()), lambda _: True, rate_limiter=gate)
        with served(service, gateway=gateway) as url:
            world.all_play(clients(url, keys), folder)
        world.check(store, folder)
    return {"clock set": jumping.jumps}


# the cloud


@cache
def dynalite_server() -> tuple[ExitStack, str]:
    """One server for all trials of a process, and what closes it."""
    stack = ExitStack()
    return stack, stack.enter_context(dynalite.running())


def dynamodb(seed: int, folder: Path) -> Mapping[str, int]:
    """DynamoDB throttles, fails, and loses requests and answers, between the service and its tables."""
    direct, prefix = dynalite_server()[1], f"faults-{seed}-{time.monotonic_ns()}"
    store = DynamoDBStore.open(f"{direct}?prefix={prefix}")
    keys = world.prepare(store)
    proxy = Proxy(direct, str(seed), fates=DYNAMODB, share=0.25)
    with standing(proxy) as done, mock.patch("botocore.endpoint.time"):
        troubled = DynamoDBStore.open(f"{proxy.url}?prefix={prefix}")
        with served(Service(troubled)) as url:
            patient = {name: partial(Client, key, url, retries=20) for name, key in keys.items()}
            world.all_play(patient, folder)
        troubled.close()
    world.check(store, folder)
    store.close()
    return done


def ledger_stream(seed: int, folder: Path) -> Mapping[str, int]:
    """The stream of the ledger comes twice, out of order and in any batches, to a function that keeps dying."""
    rng, done = random.Random(seed), Counter[str]()
    store: Store = open_store("sqlite::memory:")
    world.prepare(store)
    for player in PLAYERS:
        world.live(partial(in_process_client, store, player), folder, player)
    runs = Registry(store).runs(PHASE.name)
    entries = [entry for run in runs for entry in stream(store, run.id)]
    pending = entries + rng.sample(entries, len(entries) // 2)  # half of them come twice
    rng.shuffle(pending)
    done["entry delivered twice"] = len(pending) - len(entries)
    while pending:
        size = rng.randint(1, 12)
        batch, pending = pending[:size], pending[size:]
        faulty = FaultyStore(store)
        faulty.fail(rng.randint(0, 30), after=rng.random() < 0.5)
        try:
            board.update_summaries(faulty, batch)
            done["batch out of order"] += 1
        except CrashError:
            pending += batch  # it is delivered again
            done["function died in a batch"] += 1
    record, scoreboard = Registry(store).require_phase(PHASE.name), Scoreboard(store)
    assert {each.identity.run: each.rounds for each in scoreboard.summaries(record)} == dict.fromkeys(
        (run.id for run in runs), PHASE.layout.total
    )
    world.check(store, folder)
    store.close()
    return done


TRIALS: dict[str, Trial] = {
    "network": network,
    "kills": kills,
    "no-room": no_room,
    "disk-full": partial(on_a_disk, "disk full", full_disk),
    "read-only": partial(on_a_disk, "read-only store", read_only),
    "clock": clock,
    "timeout": timeout,
    "dynamodb": dynamodb,
    "stream": ledger_stream,
}


def close() -> None:
    """Stop what the trials have started."""
    for started in (home, dynalite_server):
        if started.cache_info().currsize:
            started()[0].close()
        started.cache_clear()
