"""Rounds per second of the service: the service object and the functions, on SQLite and on DynamoDB mocked by moto.

Every row plays the same copy-source run. A round is a key check, a score, one conditional write and the next sentence.
``normal`` leaves flushing to the operating system; ``full`` waits for the disk in every round (see
lambdas/store/sqlite.py). The rival is the same service on moto in the same process, which is what tests on a mocked
cloud would pay. Then benchmarks/gateway.py measures what HTTP adds, over one connection and over four, against an echo.

All rows play short slices in turn, and medians count, because other programs share the machine. Each bound is printed
with whether it is met. The exit code is 1 if one is missed.
"""

import sys
import time
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

from benchmarks import gateway
from benchmarks.harness.bounds import Bounds
from benchmarks.harness.playing import Play, moto_store, play_handlers, play_service, sentence_pairs, sqlite_store
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import Store
from lambdas.task_loader import load_phase
from task.feedback import BANDIT_FEEDBACK, FeedbackKind, FeedbackSpec
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

    def __init__(self, store: Store, play: Play, rounds: int, feedback: FeedbackSpec = BANDIT_FEEDBACK) -> None:
        phase = Phase("dev", Layout.plain(rounds), repeatable=True, feedback=feedback)
        load_phase(store, phase, sentence_pairs(rounds), language="en")
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


def compare() -> bool:
    """Play and print the rates. Return whether every bound is met."""
    embedded, mocked = "service object on SQLite, normal", "service object on moto"
    functions, post_edited = "functions on SQLite, normal", "functions, with post-edits"
    with ExitStack() as stores:
        rows = {
            embedded: MeasuredService(stores.enter_context(sqlite_store("normal")), play_service, 1_000),
            "service object on SQLite, full": MeasuredService(
                stores.enter_context(sqlite_store("full")), play_service, 100
            ),
            functions: MeasuredService(stores.enter_context(sqlite_store("normal")), play_handlers, 500),
            post_edited: MeasuredService(
                stores.enter_context(sqlite_store("normal")),
                play_handlers,
                500,
                FeedbackSpec(kind=FeedbackKind.POST_EDIT),
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
    dearer = rows[functions].rates.cpu / rows[post_edited].rates.cpu
    print(f"a round with its post-edit (TER and recall too) to a bandit round, by CPU time: {dearer:.2f}")
    print(f"service objects, SQLite to moto, by CPU time: {ratio:.1f}")
    print(
        f"bound, {MIN_ROUNDS_PER_SECOND:,} rounds/s or {MIN_RATIO_TO_MOTO} times moto: {bounds.check(is_met)}",
        flush=True,
    )
    return gateway.compare() and bounds.all_met


if __name__ == "__main__":
    sys.exit(not compare())
