"""One copy-source run over all 1,297,974 rounds of training, on SQLite, in one process (``make bench-full``).

Prints loading time, playing time, peak memory and the size of the ledger, each bound with whether it is met. The exit
code is 1 if one is missed. This takes some minutes; ``--rounds N`` plays fewer rounds.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.memory import peak_megabytes
from benchmarks.harness.playing import play_service, sentence_pairs
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import TRAINING

MAX_LOADING_SECONDS, MAX_MEGABYTES = 120, 300


def play_training(rounds: int) -> bool:
    """Load and play the training phase, or one of fewer rounds. Return whether every bound is met."""
    phase = TRAINING if rounds == TRAINING.layout.total else replace(TRAINING, layout=Layout.plain(rounds))
    bounds = Bounds()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        store = SQLiteStore.open(f"{path}?synchronous=normal")
        start = time.perf_counter()
        load_phase(store, phase, sentence_pairs(phase.layout.distinct))
        loaded, task_bytes = time.perf_counter(), _directory_bytes(path.parent)
        print(f"loaded {phase.layout.distinct:,} pairs in {loaded - start:.0f} s: {task_bytes / 1e6:.0f} MB")
        print(f"bound, {MAX_LOADING_SECONDS} s: {bounds.check(loaded - start <= MAX_LOADING_SECONDS)}", flush=True)
        before, cpu_before = peak_megabytes(), time.process_time()
        played = play_service(Service(store), Registry(store).add_participant("bench"), "copy", phase.name)
        seconds, cpu = time.perf_counter() - loaded, time.process_time() - cpu_before
        store.close()
        ledger = _directory_bytes(path.parent) - task_bytes
    peak = peak_megabytes()
    print(f"played {played:,} rounds in {seconds:.0f} s: {played / seconds:,.0f} rounds/s")
    print(f"CPU time {cpu:.0f} s: {played / cpu:,.0f} rounds per second of it")
    print(f"ledger {ledger / 1e6:.1f} MB: {ledger / played:.0f} bytes per round")
    print(f"peak memory {peak:.0f} MB ({before:.0f} MB before the first round)")
    print(f"bound, {MAX_MEGABYTES} MB: {bounds.check(peak < MAX_MEGABYTES)}")
    return bounds.all_met


def _directory_bytes(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.iterdir())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=TRAINING.layout.total, help="play fewer rounds")
    sys.exit(not play_training(parser.parse_args().rounds))
