"""Rounds per second of ``banditmt serve`` over loopback, compared with an echo handler on the same server.

Every server is a process of its own; the client is this process, with one keep-alive connection or four. A round is one
POST that commits a translation and returns the next sentence. The rival is a Lambda function that does nothing: a
resolver of Powertools with one route, which returns the body of the request, behind the same gateway, for requests of
the same size. For comparison, the same without Powertools, and the HTTP server alone.

The store is SQLite with ``synchronous=normal``, so that no round waits for the disk. The table also shows the default
of ``banditmt serve``, which flushes every round. That speed is a property of the disk, so there is no bound on it.
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

ROUNDS_PER_SLICE = 150  # of each connection
SLICES = 15  # of each server, in turn, so that other load on the machine slows all alike; the median counts
PHASE_ROUNDS = ROUNDS_PER_SLICE * SLICES + 1  # enough for all slices
CONNECTIONS = (1, 4)
MIN_RATE_RATIO = 0.5  # of serving to the echo
SENTENCE, REFERENCE = "baumwolle , farbe blau , größe xl", "cotton , blue , size xl"
ECHO, SERVED = "echo handler (Powertools)", "banditmt serve"


class KeepAliveClient:
    """One keep-alive connection with as little HTTP as possible, so that it costs next to nothing."""

    def __init__(self, port: int, api_key: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"Host: localhost\r\nx-api-key: {api_key}\r\nContent-Type: application/json\r\n"

    def call(self, method: str, path: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        self._socket.sendall(head.encode() + data)
        received = self._socket.recv(65_536)
        head_bytes, _, content = received.partition(b"\r\n\r\n")
        length = int(head_bytes.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(content) < length:
            content += self._socket.recv(65_536)
        if not head_bytes.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(content.decode())
        return json.loads(content)

    def close(self) -> None:
        self._socket.close()


class BareHttp:
    """An application that returns the body of the request: no gateway, no handler."""

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

    return _behind_the_gateway(resolver.resolve)  # type: ignore[arg-type] # typed for Lambda's own context, which it does not read


def function_echo() -> Application:
    return _behind_the_gateway(lambda event, _: {"statusCode": 200, "body": event["body"]})


def _behind_the_gateway(handler: Handler) -> Application:
    template = SamTemplate.load("local")
    return Gateway(template, dict.fromkeys(template.functions, handler), lambda _: True)


def serve_rival(application: Callable[[], Application], channel: Any) -> None:
    with running(HttpServer(("127.0.0.1", 0), application())) as server:
        channel.send(server.server_port)
        channel.recv()


class ServerProcess(NamedTuple):
    """A server in a process of its own."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far, which depends little on what else runs on the machine."""
        return time.clock_gettime(~self.pid << 3 | 2)  # the clock id of another process's CPU time in Linux


@contextmanager
def rival_server(application: Callable[[], Application]) -> Iterator[ServerProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve_rival, args=(application, there))
    process.start()
    assert process.pid is not None
    try:
        yield ServerProcess(process.pid, here.recv())
    finally:
        here.send("stop")
        process.join()


@contextmanager
def banditmt_server(store: str) -> Iterator[ServerProcess]:
    banditmt = str(Path(sys.executable).with_name("banditmt"))
    command = [banditmt, "serve", "--store", store, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield ServerProcess(process.pid, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        finally:
            process.terminate()


def prepare_store(path: Path) -> str:
    """Create a store with one phase and one participant; return the API key."""
    store = open_store(f"sqlite:{path}")
    load_phase(store, Phase("dev", Layout.plain(PHASE_ROUNDS), repeatable=True), [(SENTENCE, REFERENCE)] * PHASE_ROUNDS)
    api_key = Registry(store).add_participant("bench")
    store.close()
    return api_key


class EchoPlayer:
    """Sends requests of the size of a round to an echo."""

    def __init__(self, client: KeepAliveClient, system: str) -> None:  # noqa: ARG002 (as RunPlayer)
        self._client = client

    def play(self) -> None:
        body = {"id": "x" * 50, "translation": SENTENCE}
        for _ in range(ROUNDS_PER_SLICE):
            self._client.call("POST", "/v1/runs/abcdefghijklmnopqrstuvwxyz/translations", body)


class RunPlayer:
    """Opens a run and plays it, one slice at a time."""

    def __init__(self, client: KeepAliveClient, system: str) -> None:
        self._client = client
        run = client.call("POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
        self._path = f"/v1/runs/{run}/translations"
        self._sentence = client.call("GET", f"/v1/runs/{run}/sentence")

    def play(self) -> None:
        for _ in range(ROUNDS_PER_SLICE):
            body = {"id": self._sentence["id"], "translation": self._sentence["source"]}
            self._sentence = self._client.call("POST", self._path, body)["next"]


Player = EchoPlayer | RunPlayer


class SliceResult(NamedTuple):
    """The result of one slice."""

    rate: float  # rounds per second
    cpu: float  # CPU seconds of the server per round


class ConcurrentPlayers:
    """Players of one server, each with a connection of its own."""

    def __init__(self, kind: type[Player], server: ServerProcess, api_key: str, size: int) -> None:
        self._server, self._clients = server, [KeepAliveClient(server.port, api_key) for _ in range(size)]
        self._players = [
            kind(client, f"bench-{server.port}-{size}-{number}") for number, client in enumerate(self._clients)
        ]
        self._pool = ThreadPoolExecutor(size)
        self.slices: list[SliceResult] = []

    def play(self) -> None:
        started, cpu = time.perf_counter(), self._server.cpu_seconds()
        list(self._pool.map(lambda player: player.play(), self._players))
        seconds, cpu = time.perf_counter() - started, self._server.cpu_seconds() - cpu
        rounds = len(self._players) * ROUNDS_PER_SLICE
        self.slices.append(SliceResult(rounds / seconds, cpu / rounds))

    def rate_ratio(self, other: "ConcurrentPlayers") -> float:
        """Return the median ratio of its rate to that of others, over slices that were played one after the other."""
        return median(each.rate / rival.rate for each, rival in zip(self.slices, other.slices, strict=True))

    def close(self) -> None:
        self._pool.shutdown()
        for client in self._clients:
            client.close()


def measure(servers: dict[str, tuple[type[Player], ServerProcess]], api_key: str, connections: int) -> bool:
    """Let all play in turn, print their rates, and return whether serving meets its bound."""
    with ExitStack() as stack:
        groups = {
            name: stack.enter_context(closing(ConcurrentPlayers(kind, server, api_key, connections)))
            for name, (kind, server) in servers.items()
        }
        for _ in range(SLICES):
            for group in groups.values():
                group.play()
    print(f"\n{connections} keep-alive connection{'s' if connections > 1 else ''}, rounds per second of")
    for name, group in groups.items():
        rate, cpu = (median(column) for column in zip(*group.slices, strict=True))
        ratio = group.rate_ratio(groups[ECHO])
        print(f"  {name:40}{rate:8,.0f} = {ratio:.2f} of the echo's; {cpu * 1e6:5,.0f} us of server CPU per round")
    ratio = groups[SERVED].rate_ratio(groups[ECHO])
    print(
        f"  bound, {MIN_RATE_RATIO} of the echo's rate: {'met' if ratio >= MIN_RATE_RATIO else 'MISSED'} ({ratio:.2f})",
        flush=True,
    )
    return ratio >= MIN_RATE_RATIO


def compare() -> bool:
    """Run the benchmark and print its results; return whether every bound is met."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        path = Path(folder) / "store"
        api_key = prepare_store(path)
        started: dict[str, tuple[type[Player], Any]] = {
            ECHO: (EchoPlayer, rival_server(powertools_echo)),
            SERVED: (RunPlayer, banditmt_server(f"sqlite:{path}?synchronous=normal")),
            "banditmt serve, every round flushed": (RunPlayer, banditmt_server(f"sqlite:{path}")),
            "echo without Powertools": (EchoPlayer, rival_server(function_echo)),
            "HTTP alone, without gateway or handler": (EchoPlayer, rival_server(bare_http)),
        }
        rivals = {name: (kind, servers.enter_context(server)) for name, (kind, server) in started.items()}
        met = [measure(rivals, api_key, connections) for connections in CONNECTIONS]
        return all(met)


if __name__ == "__main__":
    sys.exit(not compare())
