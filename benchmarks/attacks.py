"""The rate of a participant's rounds while a stranger without a key attacks ``banditmt serve``, over loopback.

    python -m benchmarks.attacks [--seconds S] [--attack NAME ...] [--same-address]

Each attack alternates with peace. The rate during the attack is divided by the rate in peace right before it, and the
median of these ratios must be at least one half. The attacker is a process of its own, with the address 127.0.0.2 or,
with ``--same-address``, that of the participant, as if both came through a proxy. It attacks only the server that this
program starts, and stops with it.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.http_servers import KeepAliveClient, banditmt_server
from benchmarks.harness.store_setup import SENTENCE, prepare_store
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store

MIN_RATE_RATIO = 0.5
SLICES = 5  # of peace and of attack, in turn; the median counts
PHASE_ROUNDS = 30_000  # more than the participant plays during one attack
BOARD_SYSTEMS, BOARD_ROUNDS = 60, 500  # what the leaderboard shows
PARTICIPANT_ADDRESS, STRANGER_ADDRESS = "127.0.0.1", "127.0.0.2"
SECONDS_BETWEEN_ATTEMPTS = 0.001  # of one connection


class Attacker:
    """Opens connections from one address, and counts what it does over them."""

    def __init__(self, port: int, address: str) -> None:
        self._port, self._address = port, address
        self.attempts = 0  # connections and requests

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.attempts += 1
        return await asyncio.open_connection(
            PARTICIPANT_ADDRESS, self._port, local_addr=(self._address, 0), limit=4_096
        )

    async def repeat(self, attempt: "Attempt") -> None:
        while True:
            with contextlib.suppress(OSError, EOFError, ValueError):
                await attempt(self)
            await asyncio.sleep(SECONDS_BETWEEN_ATTEMPTS)


Attempt = Callable[[Attacker], Awaitable[None]]


class Attack(NamedTuple):
    """What many connections of the attacker do, each again and again."""

    name: str
    connections: int
    attempt: Attempt


def request(target: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def flood(data: bytes) -> Attempt:
    """Send the same request over one connection, as fast as it is answered."""

    async def attempt(attacker: Attacker) -> None:
        reader, writer = await attacker.connect()
        with contextlib.closing(writer):
            while True:
                attacker.attempts += 1
                writer.write(data)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))

    return attempt


def reconnect(data: bytes) -> Attempt:
    """Send a request over a new connection, and close it."""

    async def attempt(attacker: Attacker) -> None:
        reader, writer = await attacker.connect()
        with contextlib.closing(writer):
            if data:
                writer.write(data)
                await reader.read(1)

    return attempt


def hold(data: bytes, drip: bytes = b"") -> Attempt:
    """Keep a connection open without finishing a request, or without reading the response."""

    async def attempt(attacker: Attacker) -> None:
        reader, writer = await attacker.connect()
        with contextlib.closing(writer):
            writer.write(data)
            while not reader.at_eof():
                await asyncio.sleep(0.2)
                writer.write(drip)
                await writer.drain()

    return attempt


WRONG_KEY = "x-api-key: bmt_" + "A" * 43
BOARD = request("/v1/leaderboard/dev", "Accept-Encoding: gzip")
ATTACKS = [
    Attack(
        "long weights in Accept-Encoding", 4, flood(request("/style.css", f"Accept-Encoding: gzip;q=.{'1' * 10_100}!"))
    ),
    Attack("idle connections", 600, hold(b"")),
    Attack("requests that do not end", 600, hold(b"GET / HTTP/1.1\r\nA: ", b"a")),
    Attack("responses that are not read", 100, hold(BOARD * 50)),
    Attack("the leaderboard, 20 at a time", 20, flood(BOARD)),
    Attack("wrong keys", 64, flood(request("/v1/phases", WRONG_KEY))),
    Attack("unknown paths", 64, flood(request("/no/such/path"))),
    Attack("unknown paths, new connections", 16, reconnect(request("/no/such/path"))),
    Attack("bare line feeds, new connections", 16, reconnect(b"GET / HTTP/1.1\nHost: localhost\n\n")),
    Attack("new connections without a request", 16, reconnect(b"")),
]


async def attack(number: int, port: int, address: str, channel: Any) -> None:
    """Attack whenever the channel says so, and report the attempts per second."""
    while await asyncio.to_thread(channel.recv) == "attack":
        attacker, started = Attacker(port, address), time.perf_counter()
        tasks = [
            asyncio.create_task(attacker.repeat(ATTACKS[number].attempt)) for _ in range(ATTACKS[number].connections)
        ]
        await asyncio.to_thread(channel.recv)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        channel.send(attacker.attempts / (time.perf_counter() - started))


def yield_processor() -> None:
    """Leave the processors to the server and the participant, as if the attacker were on another machine."""
    if os.sched_getscheduler(0) == os.SCHED_RR:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_getparam(0).sched_priority - 1))
    else:
        os.nice(19)


def run_attacker(number: int, port: int, address: str, channel: Any) -> None:
    yield_processor()
    asyncio.run(attack(number, port, address, channel))


class Participant:
    """Plays a run, and sends a request again over a new connection when it was not answered."""

    def __init__(self, port: int, api_key: str, system: str) -> None:
        self._port, self._api_key = port, api_key
        self._client = KeepAliveClient(port, api_key)
        run = self._client.call("POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
        self._path = f"/v1/runs/{run}"
        self._sentence = self._client.call("GET", f"{self._path}/sentence")
        self.failures = 0

    def play(self, seconds: float) -> float:
        """Connect and play for some seconds; return rounds per second."""
        self._reconnect()
        rounds, started = 0, time.perf_counter()
        while time.perf_counter() < started + seconds:
            body = {"id": self._sentence["id"], "translation": self._sentence["source"]}
            try:
                self._sentence = self._client.call("POST", f"{self._path}/translations", body)["next"]
                rounds += 1
            except (OSError, RuntimeError, ValueError):
                self.failures += 1
                time.sleep(0.01)
                self._reconnect()
        return rounds / (time.perf_counter() - started)

    def _reconnect(self) -> None:
        self._client.close()
        self._client = KeepAliveClient(self._port, self._api_key)

    def close(self) -> None:
        self._client.close()


class Result(NamedTuple):
    """The rates of the participant in rounds per second, and what the attacker did."""

    attempts: float  # of the attacker per second
    peace: float
    attacked: float
    ratio: float
    failures: int  # requests of the participant that got no answer


def measure(number: int, port: int, address: str, api_key: str, seconds: float) -> Result:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=run_attacker, args=(number, port, address, there))
    process.start()
    rates = []
    with contextlib.closing(Participant(port, api_key, f"honest-{number}")) as participant:
        participant.play(0.5)
        for _ in range(SLICES):
            peace = participant.play(seconds)
            here.send("attack")
            time.sleep(2.5)  # until the attack is in full swing
            attacked = participant.play(seconds)
            here.send("peace")
            rates.append((here.recv(), peace, attacked))
            time.sleep(0.2)
    here.send("end")
    process.join()
    ratio = median(attacked / peace for _, peace, attacked in rates)
    attempts, peace, attacked = (median(column) for column in zip(*rates, strict=True))
    return Result(attempts, peace, attacked, ratio, participant.failures)


def fill_board(path: Path) -> None:
    """Play some rounds with many systems, so that computing the leaderboard takes a while."""
    store = open_store(f"sqlite:{path}?synchronous=normal")
    service = Service(store)
    for number in range(BOARD_SYSTEMS):
        player = service.authenticate(Registry(store).add_participant(f"rival-{number}"))
        run = service.open_run(player, "dev", "copy").run
        sentence = service.sentence(player, run)
        for _ in range(BOARD_ROUNDS):
            following = service.translate(player, run, sentence.id, SENTENCE).next
            assert following is not None, "the phase is longer"
            sentence = following
    store.close()


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.4, help="of each slice")
    parser.add_argument("--attack", action="append", choices=[each.name for each in ATTACKS], help="default: all")
    parser.add_argument("--same-address", action="store_true", help="attack from the address of the participant")
    parser.add_argument("--synchronous", choices=("full", "normal"), default="normal", help="setting of the store")
    options = parser.parse_args()
    address = PARTICIPANT_ADDRESS if options.same_address else STRANGER_ADDRESS
    bounds = Bounds()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        (api_key,) = prepare_store(path, PHASE_ROUNDS)
        fill_board(path)
        print(f"an attacker at {address}; bound: {MIN_RATE_RATIO} of the participant's rate in peace")
        print(f"{'':48}{'attempts':>12}{'rounds/s':>10}{'rounds/s':>10}")
        titles = f"{'connections':>12}{'per second':>12}{'peace':>10}{'attacked':>10}{'ratio':>7}{'failures':>10}"
        print(f"{'attack':36}{titles}")
        with banditmt_server(f"sqlite:{path}?synchronous={options.synchronous}") as server:
            for number, each in enumerate(ATTACKS):
                if options.attack and each.name not in options.attack:
                    continue
                result = measure(number, server.port, address, api_key, options.seconds)
                verdict = bounds.check(result.ratio >= MIN_RATE_RATIO)
                print(
                    f"{each.name:36}{each.connections:12}{result.attempts:12,.0f}{result.peace:10,.0f}"
                    f"{result.attacked:10,.0f}{result.ratio:7.2f}{result.failures:10}  {verdict}",
                    flush=True,
                )
    return bounds.all_met


if __name__ == "__main__":
    sys.exit(not main())
