"""Rounds per second of ``banditmt serve`` over loopback, compared with an echo handler on the same server.

    python -m benchmarks.gateway [--against TREE]

Every server runs in its own process; the client is this process, with one keep-alive connection or four. A round is one
POST that commits a translation and returns the next sentence. The rival is a Lambda function that does nothing: a
resolver of Powertools with one route, which returns the body of the request, behind the same gateway, for requests of
the same size. For comparison, the same without Powertools, and the HTTP server alone.

The store is SQLite with ``synchronous=normal``, so that no round waits for the disk. The table also shows the default
of ``banditmt serve``, which flushes every round. That speed is a property of the disk, so there is no bound on it.

``--against`` also measures a server of another commit, which is checked out at TREE (``git worktree add --detach TREE
COMMIT``), in turn with the others.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.http_servers import (
    KeepAliveClient,
    ServerProcess,
    TreeError,
    banditmt_server,
    prepare_store_in,
)
from benchmarks.harness.store_setup import SENTENCE
from simulator.cloud.gateway import Gateway, Handler
from simulator.cloud.http_messages import Application, HttpRequest, HttpResponse, RejectionReason
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.template import SamTemplate

ROUNDS_PER_SLICE = 150  # of each connection
SLICES = 15  # of each server, in turn, so that other load on the machine slows all alike; the median counts
PHASE_ROUNDS = ROUNDS_PER_SLICE * SLICES + 1  # enough for all slices
CONNECTIONS = (1, 4)
MIN_RATE_RATIO = 0.5  # of serving to the echo
ECHO, SERVED, OTHER = "echo handler (Powertools)", "banditmt serve", "banditmt serve, the other version"


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


class EchoPlayer:
    """Sends requests of the size of a round to an echo."""

    def __init__(self, client: KeepAliveClient, system: str) -> None:  # noqa: ARG002 (as RunPlayer)
        self._client = client

    def play(self) -> None:
        body = {"id": "x" * 71, "translation": SENTENCE}  # as long as the ids of the service
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


class MeasuredServer(NamedTuple):
    """A server, and how it is played on."""

    player: type[Player]
    process: ServerProcess
    api_key: str


class SliceResult(NamedTuple):
    """The result of one slice."""

    rate: float  # rounds per second
    cpu: float  # CPU seconds of the server per round


class ConcurrentPlayers:
    """Players of one server, each with its own connection."""

    def __init__(self, server: MeasuredServer, size: int) -> None:
        self._server, port = server.process, server.process.port
        self._clients = [KeepAliveClient(port, server.api_key) for _ in range(size)]
        self._players = [
            server.player(client, f"bench-{port}-{size}-{number}") for number, client in enumerate(self._clients)
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


def play_in_turn(servers: Mapping[str, MeasuredServer], connections: int) -> dict[str, ConcurrentPlayers]:
    """Let the players of all servers play their slices in turn, and return them."""
    with ExitStack() as stack:
        groups = {
            name: stack.enter_context(closing(ConcurrentPlayers(server, connections)))
            for name, server in servers.items()
        }
        for _ in range(SLICES):
            for group in groups.values():
                group.play()
    return groups


def measure(servers: Mapping[str, MeasuredServer], connections: int, bounds: Bounds) -> None:
    """Let all play in turn, print their rates, and check the bound."""
    groups = play_in_turn(servers, connections)
    print(f"\n{connections} keep-alive connection{'s' if connections > 1 else ''}, rounds per second of")
    for name, group in groups.items():
        rate, cpu = (median(column) for column in zip(*group.slices, strict=True))
        ratio = group.rate_ratio(groups[ECHO])
        print(f"  {name:40}{rate:8,.0f} = {ratio:.2f} of the echo's; {cpu * 1e6:5,.0f} us of server CPU per round")
    ratio = groups[SERVED].rate_ratio(groups[ECHO])
    verdict = bounds.check(ratio >= MIN_RATE_RATIO)
    print(f"  bound, {MIN_RATE_RATIO} of the echo's rate: {verdict} ({ratio:.2f})", flush=True)
    if OTHER in groups:
        print(f"  {groups[SERVED].rate_ratio(groups[OTHER]):.2f} of the rate of the other version", flush=True)


def start_servers(folder: Path, tree: Path | None, stack: ExitStack) -> dict[str, MeasuredServer]:
    """Start all servers, that of another working tree too if there is one, on a store of its own."""

    def banditmt(name: str, tree: Path | None = None) -> MeasuredServer:
        path = folder / name
        (api_key,) = prepare_store_in(tree, path, PHASE_ROUNDS)
        option = "" if name == "flushed" else "?synchronous=normal"
        return MeasuredServer(RunPlayer, stack.enter_context(banditmt_server(f"sqlite:{path}{option}", tree)), api_key)

    def rival(application: Callable[[], Application]) -> MeasuredServer:
        return MeasuredServer(EchoPlayer, stack.enter_context(rival_server(application)), api_key="any")

    return {
        ECHO: rival(powertools_echo),
        **({} if tree is None else {OTHER: banditmt("other", tree)}),
        SERVED: banditmt("served"),
        "banditmt serve, every round flushed": banditmt("flushed"),
        "echo without Powertools": rival(function_echo),
        "HTTP alone, without gateway or handler": rival(bare_http),
    }


def compare(tree: Path | None = None) -> bool:
    """Run the benchmark and print its results; return whether every bound is met."""
    bounds = Bounds()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = start_servers(Path(folder), tree, stack)
        for connections in CONNECTIONS:
            measure(servers, connections, bounds)
    return bounds.all_met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="TREE", help="a working tree of another commit to compare with")
    try:
        return not compare(parser.parse_args().against)
    except TreeError as problem:
        print(f"benchmarks.gateway: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
