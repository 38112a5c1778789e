"""Rounds per second of the service: the service object and the functions, on SQLite and on DynamoDB as moto plays it.

Every line plays the same copy-source run; a round is a key check, a score, one conditional write and the next sentence.
``normal`` leaves flushing to the operating system, ``full`` waits for the disk in every round (see
lambdas/store/sqlite.py). The rival is the same service on moto in process: what tests on a mocked cloud would pay.
Then, in the same run, what HTTP adds: benchmarks/gateway.py, over one connection and four, against a bare echo.

All play short slices in turn, and medians count, because other programs share the machine. Every bound is printed with
whether it is met, and the exit code is 1 if one is not.

``--full-scale`` plays all 1,297,974 rounds of training instead, on SQLite, in one process, and reports loading time,
playing time, peak memory and the size of the ledger (``make bench-full``; some minutes; ``--rounds N`` for fewer).

``--cost`` counts the calls to DynamoDB of a run through the functions, and multiplies them with list prices.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import boto3
from moto import mock_aws

from benchmarks import gateway
from lambdas import wiring
from lambdas.answers import Sentence
from lambdas.handlers import read, score
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import Store
from lambdas.store.dynamodb import PATIENT_CONFIG, DynamoDBStore
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import TRAINING, Phase

SLICES = 9  # of each line, in turn
TARGET, TIMES_MOTO = 6_000, 20  # rounds per second, or so many times what moto makes
LOADING_SECONDS, MEGABYTES = 120, 300  # of the whole training phase
COUNTED = 300  # rounds of --cost
WORDS = 5_000

# List prices in us-east-1, November 2026, in dollars per million, and what a request takes of Lambda.
REST_REQUESTS, LAMBDA_REQUESTS, WRITE_UNITS, READ_UNITS = 3.50, 0.20, 0.625, 0.125
LAMBDA_GB_SECOND = 0.0000133334  # arm64, in dollars
LAMBDA_GB_SECONDS = 0.5 * 0.016  # 512 MB for 16 ms: an estimate, most of it waiting for the write
STORED_GB_MONTH = 0.25 + 0.20  # in dollars, with point-in-time recovery


def pairs(count: int, seed: int = 17) -> Iterator[tuple[str, str]]:
    """Source and reference of 6.6 tokens on average; about half of the tokens are the same on both sides."""
    rng = random.Random(seed)
    german, english = ([f"{side}{rank:04d}" for rank in range(WORDS)] for side in ("wort", "word"))
    for _ in range(count):
        length = rng.randint(1, 3) if rng.random() < 0.45 else min(25, 8 + int(rng.expovariate(0.4)))
        ranks = [int(WORDS * rng.random() ** 3) for _ in range(length)]
        source = [german[rank] for rank in ranks]
        reference = [english[rank] if rank % 2 else german[rank] for rank in ranks]
        yield " ".join(source), " ".join(reference)


def play_service(service: Service, key: str, system: str, phase: str = "dev") -> int:
    """The service object, as in-process play uses it, but with the key checked in every round as over HTTP."""
    run = service.open_run(service.authenticate(key), phase, system).run
    sentence: Sentence | None = service.sentence(service.authenticate(key), run)
    rounds = 0
    while sentence is not None:
        sentence = service.translate(service.authenticate(key), run, sentence.id, sentence.source).next
        rounds += 1
    return rounds


def play_handlers(service: Service, key: str, system: str) -> int:
    """The functions, with the events that API Gateway would send."""
    wiring.use_service(service)
    run = _call(read.handler, "POST", "/v1/runs", key, {"phase": "dev", "system": system})["run"]
    sentence, rounds = _call(read.handler, "GET", f"/v1/runs/{run}/sentence", key), 0
    while sentence:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        sentence, rounds = _call(score.handler, "POST", f"/v1/runs/{run}/translations", key, body)["next"], rounds + 1
    return rounds


def _call(handler: Callable[..., Any], method: str, path: str, key: str, body: object = None) -> Any:
    event = {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": {"X-Api-Key": key},
        "multiValueHeaders": {"X-Api-Key": [key]},
        "requestContext": {"requestId": "bench", "stage": "", "path": path},
        "body": json.dumps(body) if body else None,
        "isBase64Encoded": False,
    }
    response = handler(event, None)
    assert response["statusCode"] == 200, response
    return json.loads(response["body"])


@contextlib.contextmanager
def on_sqlite(synchronous: str) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore.open(f"{Path(folder) / 'store.db'}?synchronous={synchronous}")
        yield store
        store.close()


@contextlib.contextmanager
def on_moto(prefix: str = "bench") -> Iterator[DynamoDBStore]:
    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench")
    with mock_aws():
        yield DynamoDBStore(
            boto3.client("dynamodb", region_name="us-east-1", config=PATIENT_CONFIG), prefix, may_create=True
        )


class Rate(NamedTuple):
    """Rounds per second on the clock, and per second of processor time, which other programs disturb less."""

    clock: float
    processor: float


class Line:
    """One line of the table: a store, and a way to play a slice of so many rounds on it."""

    def __init__(self, store: Store, play: Callable[[Service, str, str], int], rounds: int) -> None:
        load_phase(store, Phase("dev", Layout.plain(rounds), repeatable=True), pairs(rounds))
        self._play, self._service = play, Service(store)
        self._key = Registry(store).add_participant("bench")
        self.rates: list[Rate] = []
        self._play(self._service, self._key, "warming-up")

    def slice(self) -> None:
        start, cpu_start = time.perf_counter(), time.process_time()
        played = self._play(self._service, self._key, f"system-{len(self.rates)}")
        self.rates.append(Rate(played / (time.perf_counter() - start), played / (time.process_time() - cpu_start)))

    @property
    def rate(self) -> Rate:
        return Rate(*(median(column) for column in zip(*self.rates, strict=True)))


def compare() -> bool:
    """Play, print, and tell whether every bound is met."""
    embedded, mocked = "service object on SQLite, normal", "service object on moto"
    with ExitStack() as stores:
        lines = {
            embedded: Line(stores.enter_context(on_sqlite("normal")), play_service, 1_000),
            "service object on SQLite, full": Line(stores.enter_context(on_sqlite("full")), play_service, 100),
            "functions on SQLite, normal": Line(stores.enter_context(on_sqlite("normal")), play_handlers, 500),
            mocked: Line(stores.enter_context(on_moto("objects")), play_service, 30),
            "functions on moto": Line(stores.enter_context(on_moto("functions")), play_handlers, 30),
        }
        for _ in range(SLICES):
            for line in lines.values():
                line.slice()
    print(f"{'rounds per second of':36}{'clock':>10}{'processor':>12}")
    for label, line in lines.items():
        print(f"{label:36}{line.rate.clock:10,.0f}{line.rate.processor:12,.0f}")
    times = lines[embedded].rate.processor / lines[mocked].rate.processor
    met = lines[embedded].rate.clock >= TARGET or times >= TIMES_MOTO
    print(f"service objects, SQLite to moto, by processor time: {times:.1f}")
    print(f"bound, {TARGET:,} rounds/s or {TIMES_MOTO} times moto: {'met' if met else 'MISSED'}", flush=True)
    return gateway.compare() and met


def full_scale(rounds: int) -> bool:
    """One copy-source run over the training phase, or over as many rounds; tells whether every bound is met."""
    phase = TRAINING if rounds == TRAINING.layout.total else replace(TRAINING, layout=Layout.plain(rounds))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        store = SQLiteStore.open(f"{path}?synchronous=normal")
        start = time.perf_counter()
        load_phase(store, phase, pairs(phase.layout.distinct))
        loaded, task_bytes = time.perf_counter(), _size(path)
        in_time = loaded - start <= LOADING_SECONDS
        print(f"loaded {phase.layout.distinct:,} pairs in {loaded - start:.0f} s: {task_bytes / 1e6:.0f} MB")
        print(f"bound, {LOADING_SECONDS} s: {'met' if in_time else 'MISSED'}", flush=True)
        before, cpu_before = _peak_megabytes(), time.process_time()
        played = play_service(Service(store), Registry(store).add_participant("bench"), "copy", phase.name)
        seconds, cpu = time.perf_counter() - loaded, time.process_time() - cpu_before
        store.close()
        ledger = _size(path) - task_bytes
    peak = _peak_megabytes()
    flat = peak < MEGABYTES
    print(f"played {played:,} rounds in {seconds:.0f} s: {played / seconds:,.0f} rounds/s")
    print(f"processor time {cpu:.0f} s: {played / cpu:,.0f} rounds per second of it")
    print(f"ledger {ledger / 1e6:.1f} MB: {ledger / played:.0f} bytes a round")
    print(f"peak memory {peak:.0f} MB ({before:.0f} MB before the first round)")
    print(f"bound, {MEGABYTES} MB: {'met' if flat else 'MISSED'}")
    return in_time and flat


def cost() -> None:
    """What a million rounds cost, from counted calls."""
    rounds = COUNTED
    calls: Counter[str] = Counter()
    units: Counter[str] = Counter()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        calls[model.name] += 1
        if model.name == "PutItem":
            units["stored bytes"] += _item_bytes(params["Item"])
            units["write units"] += -(-_item_bytes(params["Item"]) // 1024)

    with on_moto() as store:
        load_phase(store, Phase("dev", Layout.plain(rounds), repeatable=True), pairs(rounds))
        key, service = Registry(store).add_participant("bench"), Service(store)
        play_handlers(service, key, "warming-up")
        store._client.meta.events.register("provide-client-params.dynamodb.*", note)
        play_handlers(service, key, "counted")
    per_round = {name: count / rounds for name, count in (calls | units).items()}
    for name, count in sorted(per_round.items()):
        print(f"{name:16}{count:10.3f} per round")
    reads = sum(count for name, count in per_round.items() if name in ("GetItem", "Query"))
    lines = {
        "API Gateway, REST": REST_REQUESTS,
        "Lambda, requests": LAMBDA_REQUESTS,
        "Lambda, time": LAMBDA_GB_SECONDS * LAMBDA_GB_SECOND * 1e6,
        "DynamoDB, writes": per_round["write units"] * WRITE_UNITS,
        "DynamoDB, reads": reads * READ_UNITS,
    }
    print(f"\nper million rounds ({rounds} counted)")
    for name, dollars in lines.items():
        print(f"{name:24}{dollars:8.3f} $")
    print(f"{'together':24}{sum(lines.values()):8.3f} $")
    print(f"{'keeping them, a month':24}{per_round['stored bytes'] / 1e3 * STORED_GB_MONTH:8.3f} $")


def _item_bytes(item: dict[str, dict[str, Any]]) -> int:
    """DynamoDB's own arithmetic: names and values in UTF-8; a number takes a byte for two digits, and one more."""
    size = 0
    for name, typed in item.items():
        ((kind, value),) = typed.items()
        size += len(name) + (len(value) // 2 + 2 if kind == "N" else len(value.encode() if kind == "S" else value))
    return size


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir())


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full-scale", action="store_true", help="play the whole training phase on SQLite")
    parser.add_argument("--rounds", type=int, default=TRAINING.layout.total, help="with --full-scale: play fewer")
    parser.add_argument("--cost", action="store_true", help="count calls to DynamoDB and print what they cost")
    chosen = parser.parse_args()
    if chosen.cost:
        cost()
    else:
        sys.exit(not (full_scale(chosen.rounds) if chosen.full_scale else compare()))
