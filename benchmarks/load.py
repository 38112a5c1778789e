"""A load test of ``banditmt serve``: 1 to 64 clients play at once over loopback, each with its own key and run.

    python -m benchmarks.load [--seconds S] [--clients 1,2,4,...] [--synchronous full|normal]
                              [--flush-ms MS] [--against TREE]

In every step the clients play for some seconds. The table shows committed rounds per second, the latency of a round
(median, 95th and 99th percentile), the memory of the server, its share of one CPU, and errors. Below it are the CPU
time of the server per round and the time of one flush to disk: the larger of the two is the limit of one client. All
clients run in one other process, with as little HTTP as possible.

``--flush-ms`` makes every flush of the servers take that long, whatever the disk of the machine. ``--against`` measures
a server of another commit too, which is checked out at TREE (``git worktree add --detach TREE COMMIT``), step by step
in the same run. With steps of 1 and 64 clients, the bounds of group commit are checked if a flush takes 4 ms, and with
``--synchronous normal`` that the server uses more than one CPU, if there are more.
"""

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.http_servers import (
    KeepAliveClient,
    ServerProcess,
    TreeError,
    banditmt_server,
    prepare_store_in,
)
from benchmarks.harness.slow_flush import CompilerMissingError, slow_flush_environment

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
PHASE_ROUNDS = 20_000  # more than one client plays in some seconds; a client that reaches the end stops
FLUSHES = 50  # to measure
BOUND_FLUSH_MS, BOUND_CLIENTS, MIN_GROUP_RATIO = 4.0, 64, 8.0  # the rate of many clients to that of one
MIN_CPUS = 1.0  # that many clients use of several, with synchronous=normal
THIS, OTHER = "this version", "the other"


class StepResult(NamedTuple):
    """The result of one step."""

    clients: int
    rounds: int
    seconds: float
    latencies: list[float]  # sorted, in milliseconds
    memory: float  # of the server, in MB
    cpu: float  # CPU seconds of the server
    errors: int

    @property
    def rate(self) -> float:
        return self.rounds / self.seconds

    @property
    def cpus(self) -> float:
        """How many CPUs the server used."""
        return self.cpu / self.seconds

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]

    def line(self) -> str:
        percentiles = "".join(f"{self.percentile(share):9.1f}" for share in (0.5, 0.95, 0.99))
        return f"{self.clients:8}{self.rate:11,.0f}{percentiles}{self.memory:9.0f}{self.cpus:8.0%}{self.errors:8}"


class MeasuredServer(NamedTuple):
    """A server under load, and the keys of its clients."""

    process: ServerProcess
    keys: Sequence[str]
    steps: dict[int, StepResult]  # by number of clients


def play(client: KeepAliveClient, step: int, seconds: float, start: threading.Barrier) -> tuple[list[float], int]:
    """Play for some seconds; return the latency of each round in milliseconds, and the number of errors."""
    run = client.call("POST", "/v1/runs", {"phase": "dev", "system": f"step-{step}"})["run"]
    sentence = client.call("GET", f"/v1/runs/{run}/sentence")
    start.wait()
    latencies, errors, deadline = [], 0, time.perf_counter() + seconds
    while sentence and (sent := time.perf_counter()) < deadline:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        try:
            sentence = client.call("POST", f"/v1/runs/{run}/translations", body)["next"]
        except RuntimeError:
            errors += 1
            continue
        latencies.append(1_000 * (time.perf_counter() - sent))
    return latencies, errors


def measure(server: ServerProcess, keys: Sequence[str], seconds: float) -> StepResult:
    """Let one client per key play at once, for some seconds."""
    count = len(keys)
    clients = [KeepAliveClient(server.port, key) for key in keys]
    start = threading.Barrier(count + 1)
    with ThreadPoolExecutor(count) as pool:
        playing = [pool.submit(play, client, count, seconds, start) for client in clients]
        start.wait()
        started, cpu = time.perf_counter(), server.cpu_seconds()
        outcomes = [each.result() for each in playing]
        took, cpu = time.perf_counter() - started, server.cpu_seconds() - cpu
    for client in clients:
        client.close()
    latencies = sorted(latency for latencies, _ in outcomes for latency in latencies)
    errors = sum(errors for _, errors in outcomes)
    return StepResult(count, len(latencies), took, latencies, server.resident_megabytes(), cpu, errors)


def flush_milliseconds(folder: Path, synchronous: str) -> float:
    """Return the median time of a commit of a few bytes."""
    connection = sqlite3.connect(folder / "flush", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE t (x)")
    taken = []
    for number in range(FLUSHES):
        started = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        taken.append(1_000 * (time.perf_counter() - started))
    connection.close()
    return statistics.median(taken)


def run_steps(servers: Mapping[str, MeasuredServer], clients: Sequence[int], seconds: float) -> None:
    """Measure every server in every step, and print a line for each."""
    columns = f"{'clients':>8}{'rounds/s':>11}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'MB':>9}{'CPU':>8}{'errors':>8}"
    print(columns)
    for count in clients:
        for name, server in servers.items():
            step = server.steps[count] = measure(server.process, server.keys[:count], seconds)
            print(step.line() + (f"  {name}" if len(servers) > 1 else ""), flush=True)


def check_group_commit(servers: Mapping[str, MeasuredServer]) -> bool:
    """Print how the rate grows with the clients, and whether the bounds on it are met."""
    bounds, steps = Bounds(), servers[THIS].steps
    ratio = steps[BOUND_CLIENTS].rate / steps[1].rate
    print(f"{BOUND_CLIENTS} clients get {ratio:.1f} times the rate of one", end="; ")
    print(f"bound {MIN_GROUP_RATIO:g}: {bounds.check(ratio >= MIN_GROUP_RATIO)}")
    if OTHER in servers:
        before = servers[OTHER].steps
        now, then = (each[BOUND_CLIENTS].percentile(0.99) for each in (steps, before))
        print(f"p99 of {BOUND_CLIENTS} clients: {now:.1f} ms, {OTHER} {then:.1f} ms", end="; ")
        print(f"bound, not longer: {bounds.check(now <= then)}")
    print_rate_ratios(servers)
    return bounds.all_met


def check_processes(servers: Mapping[str, MeasuredServer]) -> bool:
    """Print how many CPUs the server uses, and whether that is more than one if there are more."""
    bounds, available = Bounds(), len(os.sched_getaffinity(0))
    used = servers[THIS].steps[BOUND_CLIENTS].cpus
    print(f"{BOUND_CLIENTS} clients use {used:.2f} of {available} CPUs", end="; ")
    print(f"bound, more than {MIN_CPUS:g} if there are more: {bounds.check(used > MIN_CPUS or available == 1)}")
    print_rate_ratios(servers)
    return bounds.all_met


def print_rate_ratios(servers: Mapping[str, MeasuredServer]) -> None:
    """Print the rates in proportion to those of the other version, if there is one."""
    if OTHER in servers:
        now, before = servers[THIS].steps, servers[OTHER].steps
        ratios = ", ".join(f"{count} clients {now[count].rate / before[count].rate:.2f}" for count in now)
        print(f"rate to {OTHER}'s: {ratios}")


def print_limit(steps: Mapping[int, StepResult], flush: float) -> None:
    """Print what the CPU time of a round and a flush take, of which the larger limits one client."""
    best = max(steps.values(), key=lambda step: step.rate)
    cpu = 1_000 * best.cpu / best.rounds
    print(f"at best ({best.clients} clients) a round takes {cpu:.2f} ms of CPU, and a commit {flush:.2f} ms")
    print(f"so one client waits mostly for the {'CPU' if cpu > flush else 'disk'}")


def run(options: argparse.Namespace) -> bool:
    clients = [int(count) for count in options.clients.split(",")]
    trees = {THIS: None} if options.against is None else {OTHER: options.against, THIS: None}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        environment = {} if options.flush_ms is None else slow_flush_environment(place, options.flush_ms)
        flushes = "" if options.flush_ms is None else f", every flush takes {options.flush_ms:g} ms"
        print(f"a server over sqlite:PATH?synchronous={options.synchronous}{flushes}, {options.seconds:g} s per step")
        servers = {}
        for name, tree in trees.items():
            path = place / name.replace(" ", "-")
            keys = prepare_store_in(tree, path, PHASE_ROUNDS, max(clients))
            address = f"sqlite:{path}?synchronous={options.synchronous}"
            process = stack.enter_context(banditmt_server(address, tree, environment))
            servers[name] = MeasuredServer(process, keys, {})
        run_steps(servers, clients, options.seconds)
        flush = options.flush_ms or flush_milliseconds(place, options.synchronous)
        print_limit(servers[THIS].steps, flush)
        return check_bounds(options, servers)


def check_bounds(options: argparse.Namespace, servers: Mapping[str, MeasuredServer]) -> bool:
    """Check the bounds that were measured; return whether all of them are met."""
    if not {1, BOUND_CLIENTS} <= servers[THIS].steps.keys():
        return True
    if options.synchronous == "normal":
        return check_processes(servers)
    return options.flush_ms != BOUND_FLUSH_MS or check_group_commit(servers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5, help="duration of each step")
    parser.add_argument("--clients", default=",".join(map(str, CLIENTS)), help="number of clients in each step")
    parser.add_argument(
        "--synchronous",
        choices=("full", "normal"),
        default="full",
        help="the setting of SQLite, as in the address of a store",
    )
    parser.add_argument("--flush-ms", type=float, help="how long every flush of the servers takes")
    parser.add_argument("--against", type=Path, metavar="TREE", help="a working tree of another commit to compare with")
    try:
        return not run(parser.parse_args())
    except (CompilerMissingError, TreeError) as problem:
        print(f"benchmarks.load: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
