"""A load test of ``banditmt serve``: 1 to 64 clients play at once over loopback, each with its own key and run.

    python -m benchmarks.load [--seconds S] [--clients 1,2,4,...] [--synchronous full|normal]

In every step the clients play for some seconds. The table shows committed rounds per second, the latency of a round
(median, 95th and 99th percentile), the memory of the server, its share of one CPU, and errors. Below it are the CPU
time of the server per round and the time of one flush to disk: the larger of the two is the limit. All clients run in
one other process, with as little HTTP as possible.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.http_servers import KeepAliveClient, ServerProcess, banditmt_server, prepare_store

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
PHASE_ROUNDS = 20_000  # more than one client plays in some seconds; a client that reaches the end stops
FLUSHES = 50  # to measure


class StepResult(NamedTuple):
    """The result of one step."""

    clients: int
    rounds: int
    seconds: float
    latencies: list[float]  # sorted, in milliseconds
    memory: float  # of the server, in MB
    cpu: float  # CPU seconds of the server
    errors: int

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]

    def line(self) -> str:
        percentiles = "".join(f"{self.percentile(share):9.1f}" for share in (0.5, 0.95, 0.99))
        rate, busy = self.rounds / self.seconds, self.cpu / self.seconds
        return f"{self.clients:8}{rate:11,.0f}{percentiles}{self.memory:9.0f}{busy:8.0%}{self.errors:8}"


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
    return StepResult(count, len(latencies), took, latencies, resident_megabytes(server.pid), cpu, errors)


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5, help="duration of each step")
    parser.add_argument("--clients", default=",".join(map(str, CLIENTS)), help="number of clients in each step")
    parser.add_argument(
        "--synchronous",
        choices=("full", "normal"),
        default="full",
        help="the setting of SQLite, as in the address of a store",
    )
    options = parser.parse_args()
    steps = [int(count) for count in options.clients.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        keys = prepare_store(path, PHASE_ROUNDS, max(steps))
        address = f"sqlite:{path}?synchronous={options.synchronous}"
        print(f"a server over sqlite:PATH?synchronous={options.synchronous}, {options.seconds:g} s per step")
        print(f"{'clients':>8}{'rounds/s':>11}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'MB':>9}{'CPU':>8}{'errors':>8}")
        done = []
        with banditmt_server(address) as server:
            for count in steps:
                done.append(measure(server, keys[:count], options.seconds))
                print(done[-1].line(), flush=True)
        best = max(done, key=lambda step: step.rounds / step.seconds)
        cpu = 1_000 * best.cpu / best.rounds
        flush = flush_milliseconds(Path(folder), options.synchronous)
        limit = "the CPU: one process computes one round at a time" if cpu > flush else "the disk: commits take turns"
        print(f"at best ({best.clients} clients) a round takes {cpu:.2f} ms of CPU and {flush:.2f} ms to commit")
        print(f"so the limit is {limit}")


if __name__ == "__main__":
    main()
