"""How much `banditmt serve` holds: 1 to 64 clients play at once over loopback, each with a key and a run of its own.

    python -m benchmarks.load [--seconds S] [--clients 1,2,4,...] [--synchronous full|normal]

Every step lets its clients play for some seconds. Printed are committed rounds per second, how long a round takes
(median, 95 and 99 in a hundred), the memory of the server, its share of one processor, and answers that were refused;
and then what a round costs the server with nobody waiting, in processor time, next to what the disk takes for a flush:
the larger of the two is the limit. The clients are one other process; they speak just enough HTTP to cost little.
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

from benchmarks.gateway import SENTENCE, Client, Served, banditmt_server
from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import Phase

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 20_000  # of the phase: more than one client plays in some seconds; who is through is done
FLUSHES = 50  # measured


class Step(NamedTuple):
    """What so many clients met with."""

    clients: int
    rounds: int
    seconds: float
    latencies: list[float]  # sorted, in milliseconds
    memory: float  # of the server, in MB
    cpu: float  # seconds that the server used
    errors: int

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]

    def line(self) -> str:
        percentiles = "".join(f"{self.percentile(share):9.1f}" for share in (0.5, 0.95, 0.99))
        rate, busy = self.rounds / self.seconds, self.cpu / self.seconds
        return f"{self.clients:8}{rate:11,.0f}{percentiles}{self.memory:9.0f}{busy:8.0%}{self.errors:8}"


def prepare(path: Path, clients: int) -> list[str]:
    """A store with one long phase, and a participant for each client; returns their keys."""
    store = open_store(f"sqlite:{path}")
    phase = Phase("dev", Layout.plain(ROUNDS), repeatable=True)
    load_phase(store, phase, ((SENTENCE, "cotton , blue , size xl") for _ in range(ROUNDS)))
    keys = [Registry(store).add_participant(f"client-{number}") for number in range(clients)]
    store.close()
    return keys


def play(client: Client, step: int, until: float, begin: threading.Barrier) -> tuple[list[float], int]:
    """Play until the time is over; returns how long each round took, in milliseconds, and how many were refused."""
    run = client.call("POST", "/v1/runs", {"phase": "dev", "system": f"step-{step}"})["run"]
    sentence = client.call("GET", f"/v1/runs/{run}/sentence")
    begin.wait()
    latencies, errors, deadline = [], 0, time.perf_counter() + until
    while sentence and (began := time.perf_counter()) < deadline:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        try:
            sentence = client.call("POST", f"/v1/runs/{run}/translations", body)["next"]
        except RuntimeError:
            errors += 1
            continue
        latencies.append(1_000 * (time.perf_counter() - began))
    return latencies, errors


def measure(server: Served, keys: Sequence[str], seconds: float) -> Step:
    """All clients at once, for some seconds."""
    count = len(keys)
    clients = [Client(server.port, key) for key in keys]
    begin = threading.Barrier(count + 1)
    with ThreadPoolExecutor(count) as pool:
        playing = [pool.submit(play, client, count, seconds, begin) for client in clients]
        begin.wait()
        began, cpu = time.perf_counter(), server.cpu_seconds()
        outcomes = [each.result() for each in playing]
        took, cpu = time.perf_counter() - began, server.cpu_seconds() - cpu
    for client in clients:
        client.close()
    latencies = sorted(latency for latencies, _ in outcomes for latency in latencies)
    errors = sum(errors for _, errors in outcomes)
    return Step(count, len(latencies), took, latencies, resident(server.pid), cpu, errors)


def resident(pid: int) -> float:
    """What a process holds in memory, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def flush_milliseconds(folder: Path, synchronous: str) -> float:
    """What one commit of a few bytes takes here: the median of some."""
    connection = sqlite3.connect(folder / "flush", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE t (x)")
    taken = []
    for number in range(FLUSHES):
        began = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        taken.append(1_000 * (time.perf_counter() - began))
    connection.close()
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5, help="of each step")
    parser.add_argument("--clients", default=",".join(map(str, CLIENTS)), help="how many, step by step")
    parser.add_argument("--synchronous", choices=("full", "normal"), default="full", help="as in the store's address")
    wishes = parser.parse_args()
    steps = [int(count) for count in wishes.clients.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        keys = prepare(path, max(steps))
        address = f"sqlite:{path}?synchronous={wishes.synchronous}"
        print(f"a server over sqlite:PATH?synchronous={wishes.synchronous}, {wishes.seconds:g} s a step")
        print(f"{'clients':>8}{'rounds/s':>11}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'MB':>9}{'CPU':>8}{'errors':>8}")
        done = []
        with banditmt_server(address) as server:
            for count in steps:
                done.append(measure(server, keys[:count], wishes.seconds))
                print(done[-1].line(), flush=True)
        best = max(done, key=lambda step: step.rounds / step.seconds)
        cpu = 1_000 * best.cpu / best.rounds
        flush = flush_milliseconds(Path(folder), wishes.synchronous)
        limit = (
            "the processor: one process computes one round at a time" if cpu > flush else "the disk: commits take turns"
        )
        print(
            f"at its best ({best.clients} clients) a round takes {cpu:.2f} ms of processor and {flush:.2f} ms to commit"
        )
        print(f"so the limit is {limit}")


if __name__ == "__main__":
    main()
