"""Archives: the time to export the ledger, to check the archive and to restore it, and the size of the archive.

The rival is SQLite's own dump as text, gzipped and read back as a script. It checks nothing, and cannot be restored
into DynamoDB.

``--full-scale`` uses a run of all 1,297,974 rounds of training, without the rival, and reports peak memory
(``make bench-archive``; some minutes).
"""

import argparse
import gzip
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from benchmarks.harness.memory import peak_megabytes
from benchmarks.harness.playing import sentence_pairs
from lambdas.archive import Archive, export
from lambdas.phase_record import PhaseRecord, PhaseState
from lambdas.registry import Registry, default_runs
from lambdas.scoreboard import Scoreboard
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import await_text
from leaderboard.metrics.bleu import count_ngram_matches, sentence_score
from task.layout import Layout
from task.names import run_id
from task.phases import TRAINING, Phase
from task.rounds import Round, Run, to_ticks

ROUNDS = 50_000
SCORED_ROUNDS = 20_000  # longer runs repeat them
NOW = 1_800_000_000_000  # milliseconds
FINGERPRINT = "0" * 64  # of a text that is not loaded, since nothing here reads it
T = TypeVar("T")


def copy_source_rounds(run: Run, phase: Phase) -> Iterator[Round]:
    """Yield the rounds of a system that copies the source."""
    counted = [(source, count_ngram_matches(source, target)) for source, target in sentence_pairs(SCORED_ROUNDS)]
    packed = [(source, sentence_score(counts), counts.to_bytes()) for source, counts in counted]
    ticks = 0
    for index, (translation, reward, counts) in enumerate(islice(cycle(packed), phase.layout.total)):
        ticks += to_ticks(reward)
        yield Round(run, index, translation, reward, reward, counts, ticks, ticks, NOW + index)


def fill(store: SQLiteStore, phase: Phase) -> None:
    """Write a closed phase with one finished run, without playing it."""
    registry = Registry(store)
    registry.ensure_key_ring()
    registry.add_participant("bench")
    await_text(store, phase.name, [FINGERPRINT])
    runs = default_runs(phase)
    registry.create_phase(PhaseRecord(phase, 512, FINGERPRINT, runs, PhaseState.CLOSED))
    run = Run(run_id("bench", phase.name, "copy", 1), "bench", phase.name, "copy", 1, NOW, 1)
    registry.claim(run, 0)
    store.open_run(run)
    store.restore_rounds(copy_source_rounds(run, phase))


def leaderboard_json(store: SQLiteStore, phase: Phase) -> str:
    """Return the leaderboard of a phase."""
    scoreboard, record = Scoreboard(store, clock=lambda: NOW / 1000), Registry(store).require_phase(phase.name)
    scoreboard.catch_up(record)
    return json.dumps(scoreboard.board(record).as_dict())


def timed(step: str, work: Callable[[], T]) -> tuple[float, T]:
    """Do the work and print its times. Return its CPU time, which other programs disturb less, and its result."""
    start, cpu_start = time.perf_counter(), time.process_time()
    result = work()
    clock, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(f"{step:44}{clock:8.1f} s{cpu:8.1f} s of CPU time   peak {peak_megabytes():.0f} MB", flush=True)
    return cpu, result


def round_trip(folder: Path, phase: Phase) -> dict[str, float]:
    """Export one store and restore it into another. Return the CPU time of each step.

    Both stores must have the same leaderboard.
    """
    store, other = (SQLiteStore.open(f"{folder / name}?synchronous=normal") for name in ("store.db", "other.db"))
    archive = folder / "archive.jsonl.gz"
    timed(f"writing {phase.layout.total:,} rounds", lambda: fill(store, phase))
    expected = leaderboard_json(store, phase)
    seconds = {}
    seconds["export"], _ = timed("export", lambda: export(store, archive))
    seconds["check"], opened = timed("import, checking", lambda: Archive.open(archive))
    seconds["restore"], _ = timed("import, restoring and summarising", lambda: opened.restore(other))
    assert leaderboard_json(other, phase) == expected, "the leaderboards differ"
    print(f"the leaderboard is the same, byte for byte ({len(expected):,} bytes)")
    size, total = archive.stat().st_size, phase.layout.total
    store_size = _size(folder, "store.db")
    print(f"archive {size / 1e6:.1f} MB, {size / total:.1f} bytes per round; store {store_size / 1e6:.0f} MB")
    for each in (store, other):
        each.close()
    return seconds


def dump_and_restore(folder: Path) -> tuple[float, float]:
    """Dump the store with SQLite and read the dump back. Return the CPU time of both."""
    script = folder / "dump.sql.gz"

    def write() -> None:
        with closing(sqlite3.connect(folder / "store.db")) as source, gzip.open(script, "wt", compresslevel=6) as out:
            out.writelines(f"{line}\n" for line in source.iterdump())

    def read() -> None:
        with closing(sqlite3.connect(folder / "dumped.db")) as target, gzip.open(script, "rt") as lines:
            target.executescript(lines.read())

    dumped, _ = timed("SQLite's dump, gzipped", write)
    restored, _ = timed("SQLite's dump, read back", read)
    print(f"dump {script.stat().st_size / 1e6:.1f} MB")
    return dumped, restored


def main(*, full_scale: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if full_scale:
            round_trip(folder, TRAINING)
            return
        seconds = round_trip(folder, Phase("training", Layout.plain(ROUNDS), repeatable=False))
        dumped, restored = dump_and_restore(folder)
        imported = seconds["check"] + seconds["restore"]
        print(f"ratio of CPU time, export to dump                     {seconds['export'] / dumped:6.2f}")
        print(f"ratio of CPU time, import to reading the dump back    {imported / restored:6.2f}")


def _size(folder: Path, name: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"{name}*"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full-scale", action="store_true", help="all rounds of training, without the rival")
    main(full_scale=parser.parse_args().full_scale)
