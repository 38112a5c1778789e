"""Archives: how long it takes to write the ledger out, to check it and to restore it, and how large the file is.

The rival is SQLite's own way to do the same: its dump as text, gzipped, read back as a script. It checks nothing, and
cannot be restored into DynamoDB.

``--full-scale`` does it with a run of all 1,297,974 rounds of training, without the rival, and reports peak memory
(``make bench-archive``; some minutes).
"""

import argparse
import gzip
import json
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from benchmarks.service import pairs
from lambdas.archive import Archive, export
from lambdas.registry import DEFAULT_RUNS, PhaseRecord, PhaseState, Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import await_text
from leaderboard.metrics.bleu import count_ngram_matches, sentence_score
from task.feedback import FeedbackSpec
from task.layout import Layout
from task.names import run_id
from task.phases import TRAINING, Phase
from task.rounds import Round, Run, to_ticks

ROUNDS = 50_000
DIFFERENT = 20_000  # rounds that are really scored; longer runs repeat them
NOW = 1_800_000_000_000  # milliseconds
FINGERPRINT = "0" * 64  # of a text that is never loaded: nothing here needs it
T = TypeVar("T")


def rounds(run: Run, phase: Phase) -> Iterator[Round]:
    """Rounds as a copying system would play them."""
    counted = [(source, count_ngram_matches(source, target)) for source, target in pairs(DIFFERENT)]
    packed = [(source, sentence_score(counts), counts.to_bytes()) for source, counts in counted]
    ticks = 0
    for index, (translation, reward, counts) in enumerate(islice(cycle(packed), phase.layout.total)):
        ticks += to_ticks(reward)
        yield Round(run, index, translation, reward, reward, counts, ticks, ticks, NOW + index)


def fill(store: SQLiteStore, phase: Phase) -> None:
    """A closed phase with one finished run, written as fast as the store takes it."""
    registry = Registry(store)
    registry.ensure_key_ring()
    registry.add_participant("bench")
    await_text(store, phase.name, [FINGERPRINT])
    runs = DEFAULT_RUNS[phase.repeatable]
    registry.create_phase(PhaseRecord(phase, FeedbackSpec(), 512, FINGERPRINT, runs, PhaseState.CLOSED))
    run = Run(run_id("bench", phase.name, "copy", 1), "bench", phase.name, "copy", 1, NOW, 1)
    registry.claim(run, 0)
    store.open_run(run)
    store.restore_rounds(rounds(run, phase))


def board(store: SQLiteStore, phase: Phase) -> str:
    scoreboard, record = Scoreboard(store, clock=lambda: NOW / 1000), Registry(store).require_phase(phase.name)
    scoreboard.catch_up(record)
    return json.dumps(scoreboard.board(record).as_dict())


def timed(what: str, work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of processor time, which other programs disturb less than the clock."""
    start, cpu_start = time.perf_counter(), time.process_time()
    done = work()
    clock, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(f"{what:44}{clock:8.1f} s{cpu:8.1f} s of processor time   peak {_peak_megabytes():.0f} MB", flush=True)
    return cpu, done


def round_trip(folder: Path, phase: Phase) -> dict[str, float]:
    """Out of one store and into another; the boards must be the same."""
    store, other = (SQLiteStore.open(f"{folder / name}?synchronous=normal") for name in ("store.db", "other.db"))
    archive = folder / "archive.jsonl.gz"
    timed(f"playing {phase.layout.total:,} rounds, pretended", lambda: fill(store, phase))
    shown = board(store, phase)
    took = {}
    took["export"], _ = timed("export", lambda: export(store, archive))
    took["check"], opened = timed("import, checking", lambda: Archive.open(archive))
    took["restore"], _ = timed("import, restoring and summarising", lambda: opened.restore(other))
    assert board(other, phase) == shown, "the boards differ"
    print(f"the board is the same, byte for byte ({len(shown):,} bytes)")
    size, total = archive.stat().st_size, phase.layout.total
    print(
        f"archive {size / 1e6:.1f} MB, {size / total:.1f} bytes a round; store {_size(folder, 'store.db') / 1e6:.0f} MB"
    )
    for each in (store, other):
        each.close()
    return took


def dump(folder: Path) -> tuple[float, float]:
    """The rival: out and in again."""
    script = folder / "dump.sql.gz"

    def write() -> None:
        with closing(sqlite3.connect(folder / "store.db")) as source, gzip.open(script, "wt", compresslevel=6) as out:
            out.writelines(f"{line}\n" for line in source.iterdump())

    def read() -> None:
        with closing(sqlite3.connect(folder / "dumped.db")) as target, gzip.open(script, "rt") as lines:
            target.executescript(lines.read())

    out, _ = timed("SQLite's dump, gzipped", write)
    back, _ = timed("SQLite's dump, read back", read)
    print(f"dump {script.stat().st_size / 1e6:.1f} MB")
    return out, back


def main(*, full_scale: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if full_scale:
            round_trip(folder, TRAINING)
            return
        took = round_trip(folder, Phase("training", Layout.plain(ROUNDS), repeatable=False))
        out, back = dump(folder)
        imported = took["check"] + took["restore"]
        print(f"ratio of processor time, export to dump                     {took['export'] / out:6.2f}")
        print(f"ratio of processor time, import to reading the dump back    {imported / back:6.2f}")


def _size(folder: Path, name: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"{name}*"))


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full-scale", action="store_true", help="all rounds of training, without the rival")
    main(full_scale=parser.parse_args().full_scale)
