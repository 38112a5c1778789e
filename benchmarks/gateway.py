"""`banditmt serve` against a bare echo handler on the same server: rounds per second over loopback, in one run.

All servers are processes of their own; the client is this process, with one keep-alive connection or four. A round is
one POST that commits a translation and brings the next sentence. The echo handler takes the place of the functions
behind the same gateway, gets requests of the same size, and answers them with their own body. Below it, for comparison,
the HTTP server with nothing behind it. The store is SQLite, with every round flushed to the disk (the default) and
without.
"""

import json
import math
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lambdas.loading import load_phase
from lambdas.phases import Layout, Phase
from lambdas.registry import Registry
from lambdas.store import open_store
from simulator.cloud.events import Context
from simulator.cloud.gateway import Gateway
from simulator.cloud.messages import Application, Refusal, Request, Response
from simulator.cloud.server import Server, running
from simulator.cloud.template import Template

ROUNDS = 400  # per connection and pass
PASSES = 10  # the best counts: noise on a shared machine only ever slows down
CONNECTIONS = (1, 4)
BASELINE = "bare echo handler"
SENTENCE = "baumwolle , farbe blau , größe xl"

Play = Callable[["Client", int], None]


class Client:
    """One keep-alive connection that speaks just enough HTTP to cost next to nothing."""

    def __init__(self, port: int, api_key: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"Host: localhost\r\nx-api-key: {api_key}\r\nContent-Type: application/json\r\n"

    def call(self, method: str, path: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        self._socket.sendall(head.encode() + data)
        received = self._socket.recv(65_536)
        head_bytes, _, answer = received.partition(b"\r\n\r\n")
        length = int(head_bytes.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(answer) < length:
            answer += self._socket.recv(65_536)
        if not head_bytes.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode())
        return json.loads(answer)

    def close(self) -> None:
        self._socket.close()


class BareHttp:
    """An application that answers with the body of the request: no gateway, no handler."""

    def answer(self, request: Request) -> Response:
        return Response(200, [("Content-Type", "application/json")], request.body)

    def refuse(self, refusal: Refusal) -> Response:
        return Response(refusal.value, [], b"")


def bare_http() -> Application:
    return BareHttp()


def echo_handler() -> Application:
    template = Template.load("local")

    def echo(event: dict[str, Any], _: Context) -> dict[str, Any]:
        return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": event["body"]}

    return Gateway(template, dict.fromkeys(template.functions, echo), lambda _: True)


def serve_rival(application: Callable[[], Application], channel: Any) -> None:
    with running(Server(("127.0.0.1", 0), application())) as server:
        channel.send(server.server_port)
        channel.recv()


class Served(NamedTuple):
    """A server in a process of its own."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """What it has used up so far: unlike a rate, hardly changed by whatever else runs on the machine."""
        return time.clock_gettime(~self.pid << 3 | 2)  # how Linux numbers the CPU clock of another process


@contextmanager
def rival(application: Callable[[], Application]) -> Iterator[Served]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve_rival, args=(application, there))
    process.start()
    assert process.pid is not None
    yield Served(process.pid, here.recv())
    here.send("stop")
    process.join()


@contextmanager
def banditmt_server(store: str) -> Iterator[Served]:
    banditmt = str(Path(sys.executable).with_name("banditmt"))
    command = [banditmt, "serve", "--store", store, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield Served(process.pid, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        process.terminate()


def prepare(path: Path) -> str:
    """A store with one long phase; returns a key."""
    store = open_store(f"sqlite:{path}")
    load_phase(
        store, Phase("dev", Layout.plain(ROUNDS), repeatable=True), [(SENTENCE, "cotton , blue , size xl")] * ROUNDS
    )
    api_key = Registry(store).add_participant("bench")
    store.close()
    return api_key


def play_echo(client: Client, _: int) -> None:
    body = {"id": "x" * 50, "translation": SENTENCE}
    for _ in range(ROUNDS):
        client.call("POST", "/v1/runs/abcdefghijklmnopqrstuvwxyz/translations", body)


def play_run(client: Client, number: int) -> None:
    run = client.call("POST", "/v1/runs", {"phase": "dev", "system": f"bench-{number}"})["run"]
    sentence = client.call("GET", f"/v1/runs/{run}/sentence")
    while sentence:
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        sentence = client.call("POST", f"/v1/runs/{run}/translations", answer)["next"]


def measure(play: Play, server: Served, api_key: str, connections: int) -> tuple[float, float]:
    """Rounds per second over so many connections, and the CPU seconds that a round costs the server."""
    clients = [Client(server.port, api_key) for _ in range(connections)]
    rounds = connections * ROUNDS
    with ThreadPoolExecutor(connections) as pool:
        began, cpu = time.perf_counter(), server.cpu_seconds()
        list(pool.map(play, clients, range(connections)))
        seconds, cpu = time.perf_counter() - began, server.cpu_seconds() - cpu
    for client in clients:
        client.close()
    return rounds / seconds, cpu / rounds


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        path = Path(folder) / "store"
        api_key = prepare(path)
        flushed, unflushed = (banditmt_server(f"sqlite:{path}{option}") for option in ("", "?synchronous=normal"))
        rivals: dict[str, tuple[Play, Served]] = {
            BASELINE: (play_echo, servers.enter_context(rival(echo_handler))),
            "HTTP alone": (play_echo, servers.enter_context(rival(bare_http))),
            "banditmt serve, sqlite": (play_run, servers.enter_context(flushed)),
            "banditmt serve, sqlite, synchronous=normal": (play_run, servers.enter_context(unflushed)),
        }
        for connections in CONNECTIONS:
            compare(rivals, api_key, connections)


def compare(rivals: dict[str, tuple[Play, Served]], api_key: str, connections: int) -> None:
    fastest, leanest = dict.fromkeys(rivals, 0.0), dict.fromkeys(rivals, math.inf)
    for _ in range(PASSES):  # in turn, so that all see the same weather
        for name, (play, server) in rivals.items():
            rate, cpu = measure(play, server, api_key, connections)
            fastest[name], leanest[name] = max(fastest[name], rate), min(leanest[name], cpu)
    print(
        f"{connections} keep-alive connection{'s' if connections > 1 else ''}, rounds/s and the server's CPU per round"
    )
    for name, rate in fastest.items():
        share, cpu = rate / fastest[BASELINE], leanest[name] / leanest[BASELINE]
        print(
            f"  {name:45} {rate:7,.0f}/s = {share:.2f} of the echo   {leanest[name] * 1e6:5,.0f} us = {cpu:.2f} of it"
        )


if __name__ == "__main__":
    main()
