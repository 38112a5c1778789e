"""Rounds per second of the service: the service object and the functions, on SQLite and on DynamoDB mocked by moto.

Every row plays the same copy-source run. A round is a key check, a score, one conditional write and the next sentence.
``normal`` leaves flushing to the operating system; ``full`` waits for the disk in every round (see
lambdas/store/sqlite.py). The rival is the same service on moto in the same process, which is what tests on a mocked
cloud would pay. Then benchmarks/round_cost.py measures what a post-edit costs, with ``--against TREE`` also against
another commit, and benchmarks/gateway.py what HTTP adds, over one connection and over four, against an echo.

All rows play short slices in turn, and medians count, because other programs share the machine. Each bound is printed
with whether it is met. The exit code is 1 if one is missed.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks import gateway, round_cost
from benchmarks.harness.bounds import Bounds
from benchmarks.harness.http_servers import TreeError
from benchmarks.harness.playing import Play, moto_store, play_handlers, play_service, sentence_pairs, sqlite_store
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import Store
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import Phase

SLICES = 9  # of each row, in turn
MIN_ROUNDS_PER_SECOND, MIN_RATIO_TO_MOTO = 6_000, 20  # one of the two has to be met


class RoundRates(NamedTuple):
    """Rounds per second by the clock, and per second of CPU time, which other programs disturb less."""

    clock: float
    cpu: float


class MeasuredService:
    """One row of the table: a store, and a way to play slices of this many rounds on it."""

    def __init__(self, store: Store, play: Play, rounds: int) -> None:
        load_phase(store, Phase("dev", Layout.plain(rounds), repeatable=True), sentence_pairs(rounds))
        self._play, self._service = play, Service(store)
        self._key = Registry(store).add_participant("bench")
        self._slices: list[RoundRates] = []
        self._play(self._service, self._key, "warming-up")

    def play_slice(self) -> None:
        """Play a run, and record its rates."""
        start, cpu_start = time.perf_counter(), time.process_time()
        played = self._play(self._service, self._key, f"system-{len(self._slices)}")
        clock, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        self._slices.append(RoundRates(played / clock, played / cpu))

    @property
    def rates(self) -> RoundRates:
        """The medians of the slices."""
        return RoundRates(*(median(column) for column in zip(*self._slices, strict=True)))


def compare(other_tree: Path | None = None) -> bool:
    """Play and print the rates, and compare the cost of rounds. Return whether every bound is met."""
    embedded, mocked = "service object on SQLite, normal", "service object on moto"
    with ExitStack() as stores:
        rows = {
            embedded: MeasuredService(stores.enter_context(sqlite_store("normal")), play_service, 1_000),
            "service object on SQLite, full": MeasuredService(
                stores.enter_context(sqlite_store("full")), play_service, 100
            ),
            "functions on SQLite, normal": MeasuredService(
                stores.enter_context(sqlite_store("normal")), play_handlers, 500
            ),
            mocked: MeasuredService(stores.enter_context(moto_store("objects")), play_service, 30),
            "functions on moto": MeasuredService(stores.enter_context(moto_store("functions")), play_handlers, 30),
        }
        for _ in range(SLICES):
            for row in rows.values():
                row.play_slice()
    print(f"{'rounds per second of':36}{'clock':>10}{'CPU time':>12}")
    for label, row in rows.items():
        print(f"{label:36}{row.rates.clock:10,.0f}{row.rates.cpu:12,.0f}")
    ratio = rows[embedded].rates.cpu / rows[mocked].rates.cpu
    is_met = rows[embedded].rates.clock >= MIN_ROUNDS_PER_SECOND or ratio >= MIN_RATIO_TO_MOTO
    bounds = Bounds()
    print(f"service objects, SQLite to moto, by CPU time: {ratio:.1f}")
    print(
        f"bound, {MIN_ROUNDS_PER_SECOND:,} rounds/s or {MIN_RATIO_TO_MOTO} times moto: {bounds.check(is_met)}",
        flush=True,
    )
    return all((bounds.all_met, round_cost.compare(other_tree), gateway.compare(other_tree)))


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the rounds per second of the service.")
    parser.add_argument("--against", type=Path, metavar="TREE", help="a working tree of another commit to compare with")
    try:
        return not compare(parser.parse_args().against)
    except TreeError as problem:
        print(f"benchmarks.service: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
