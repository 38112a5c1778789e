"""`banditmt serve` against a bare echo handler on the same server: rounds per second over loopback.

All servers are processes of their own; the client is this process, with one keep-alive connection or four. A round is
one POST that commits a translation and brings the next sentence. The rival is a Lambda function that does nothing: a
resolver of powertools with one route, which answers with the body that it got, behind the same gateway, for requests of
the same size. For comparison, the same without powertools, and the HTTP server with nothing behind it.

The store is SQLite with ``synchronous=normal``: nobody waits for the disk. Below it, what flushing every round costs,
as ``banditmt serve`` does unless told otherwise. That is a property of the disk, so no bound is set on it.
"""

import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from simulator.cloud.gateway import Gateway, Handler
from simulator.cloud.http_messages import Application, HttpRequest, HttpResponse, RejectionReason
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.template import SamTemplate
from task.layout import Layout
from task.phases import Phase

ROUNDS = 150  # per connection in one slice
SLICES = 15  # of each server, in turn, so that all see the same weather; the median counts
LENGTH = ROUNDS * SLICES + 1  # of the phase, so that it lasts for all slices
CONNECTIONS = (1, 4)
SHARE = 0.5  # of the echo's rate that serving is to keep
SENTENCE, REFERENCE = "baumwolle , farbe blau , größe xl", "cotton , blue , size xl"
ECHO, SERVED = "bare echo handler (powertools)", "banditmt serve"


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

    def reject_early(self, _: HttpRequest) -> HttpResponse | None:
        return None

    def respond(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, [("Content-Type", "application/json")], request.body)

    def reject(self, reason: RejectionReason) -> HttpResponse:
        return HttpResponse(reason.value, [], b"")


def bare_http() -> Application:
    return BareHttp()


def powertools_echo() -> Application:
    resolver = APIGatewayRestResolver()

    @resolver.post("/v1/runs/<run>/translations")
    def echo(run: str) -> dict[str, Any]:  # noqa: ARG001 (the route has it)
        body: dict[str, Any] = resolver.current_event.json_body
        return body

    return _behind_the_gateway(resolver.resolve)  # type: ignore[arg-type] # it wants Lambda's own context, and reads none of it


def function_echo() -> Application:
    return _behind_the_gateway(lambda event, _: {"statusCode": 200, "body": event["body"]})


def _behind_the_gateway(handler: Handler) -> Application:
    template = SamTemplate.load("local")
    return Gateway(template, dict.fromkeys(template.functions, handler), lambda _: True)


def serve_rival(application: Callable[[], Application], channel: Any) -> None:
    with running(HttpServer(("127.0.0.1", 0), application())) as server:
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
    try:
        yield Served(process.pid, here.recv())
    finally:
        here.send("stop")
        process.join()


@contextmanager
def banditmt_server(store: str) -> Iterator[Served]:
    banditmt = str(Path(sys.executable).with_name("banditmt"))
    command = [banditmt, "serve", "--store", store, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield Served(process.pid, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        finally:
            process.terminate()


def prepare(path: Path) -> str:
    """A store with one phase; returns a key."""
    store = open_store(f"sqlite:{path}")
    load_phase(store, Phase("dev", Layout.plain(LENGTH), repeatable=True), [(SENTENCE, REFERENCE)] * LENGTH)
    api_key = Registry(store).add_participant("bench")
    store.close()
    return api_key


class EchoPlayer:
    """Has requests of a round's size echoed."""

    def __init__(self, client: Client, system: str) -> None:  # noqa: ARG002 (as RunPlayer)
        self._client = client

    def play(self) -> None:
        body = {"id": "x" * 50, "translation": SENTENCE}
        for _ in range(ROUNDS):
            self._client.call("POST", "/v1/runs/abcdefghijklmnopqrstuvwxyz/translations", body)


class RunPlayer:
    """Plays a run that it opened, a slice at a time."""

    def __init__(self, client: Client, system: str) -> None:
        self._client = client
        run = client.call("POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
        self._path = f"/v1/runs/{run}/translations"
        self._sentence = client.call("GET", f"/v1/runs/{run}/sentence")

    def play(self) -> None:
        for _ in range(ROUNDS):
            answer = {"id": self._sentence["id"], "translation": self._sentence["source"]}
            self._sentence = self._client.call("POST", self._path, answer)["next"]


Player = EchoPlayer | RunPlayer


class Slice(NamedTuple):
    """What one short while of play came to."""

    rate: float  # rounds per second
    cpu: float  # seconds of the server's processor for each


class Crowd:
    """Some players of one server, each with a connection of its own."""

    def __init__(self, kind: type[Player], server: Served, api_key: str, size: int) -> None:
        self._server, self._clients = server, [Client(server.port, api_key) for _ in range(size)]
        self._players = [
            kind(client, f"bench-{server.port}-{size}-{number}") for number, client in enumerate(self._clients)
        ]
        self._pool = ThreadPoolExecutor(size)
        self.slices: list[Slice] = []

    def play(self) -> None:
        began, cpu = time.perf_counter(), self._server.cpu_seconds()
        list(self._pool.map(lambda player: player.play(), self._players))
        seconds, cpu = time.perf_counter() - began, self._server.cpu_seconds() - cpu
        rounds = len(self._players) * ROUNDS
        self.slices.append(Slice(rounds / seconds, cpu / rounds))

    def share_of(self, other: "Crowd") -> float:
        """Its rate as a part of another's, from neighbouring slices."""
        return median(each.rate / rival.rate for each, rival in zip(self.slices, other.slices, strict=True))

    def close(self) -> None:
        self._pool.shutdown()
        for client in self._clients:
            client.close()


def measure(servers: dict[str, tuple[type[Player], Served]], api_key: str, connections: int) -> bool:
    """Let all play in turn, print how fast each was, and tell whether serving kept its share of the echo's rate."""
    with ExitStack() as open_crowds:
        crowds = {
            name: open_crowds.enter_context(closing(Crowd(kind, server, api_key, connections)))
            for name, (kind, server) in servers.items()
        }
        for _ in range(SLICES):
            for crowd in crowds.values():
                crowd.play()
    print(f"\n{connections} keep-alive connection{'s' if connections > 1 else ''}, rounds per second of")
    for name, crowd in crowds.items():
        rate, cpu = (median(column) for column in zip(*crowd.slices, strict=True))
        share = crowd.share_of(crowds[ECHO])
        print(f"  {name:40}{rate:8,.0f} = {share:.2f} of the echo's; {cpu * 1e6:5,.0f} us of the server's CPU each")
    share = crowds[SERVED].share_of(crowds[ECHO])
    print(f"  bound, {SHARE} of the echo's rate: {'met' if share >= SHARE else 'MISSED'} ({share:.2f})", flush=True)
    return share >= SHARE


def compare() -> bool:
    """Serve, play and print; tell whether every bound is met."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        path = Path(folder) / "store"
        api_key = prepare(path)
        started: dict[str, tuple[type[Player], Any]] = {
            ECHO: (EchoPlayer, rival(powertools_echo)),
            SERVED: (RunPlayer, banditmt_server(f"sqlite:{path}?synchronous=normal")),
            "banditmt serve, every round flushed": (RunPlayer, banditmt_server(f"sqlite:{path}")),
            "echo without powertools": (EchoPlayer, rival(function_echo)),
            "HTTP alone, without gateway or handler": (EchoPlayer, rival(bare_http)),
        }
        rivals = {name: (kind, servers.enter_context(server)) for name, (kind, server) in started.items()}
        met = [measure(rivals, api_key, connections) for connections in CONNECTIONS]
        return all(met)


if __name__ == "__main__":
    sys.exit(not compare())
