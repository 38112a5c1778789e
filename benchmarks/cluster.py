"""A run on Ray, compared with the same run in a process of this machine: its time, and whether it is the same run.

The cluster is this machine alone, so that what is measured is the connection of a run to the command that keeps its
ledger and its folder, and the processes of Ray. Time is from the start to the end of a run, with the start of its
process. Processor time is that of the run's process and of the command, without what Ray does by itself: it depends
less on what else the machine does. Both places take turns, and the fastest run of each counts, since noise only slows
down.

``make bench-cluster`` runs it, because Ray is in an environment of its own.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.bounds import Bounds
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from lambdas.registry import Registry
from lambdas.store import open_store
from learners.nmt.engine import cache_folder
from learners.nmt.engine.compilation import ensure_compiled
from learners.nmt.pretraining import PretrainingConfig
from learners.run_folder import JOURNAL_FILE, SNAPSHOT_FILE
from learners.snapshot import Snapshot
from simulator.cluster.cluster_run import ClusterRun
from simulator.cluster.ray_engine import RayEngine, RayTask, connect
from simulator.competition import Competition, PlayState, RunSpec, StartRun, compete
from simulator.pretraining import needed_models, train_seed_models
from simulator.tasks import load_task
from task.layout import Layout

PHASE = "dev"
RUN = RunSpec("BNMT-EL-CV")
MAX_OVERHEAD = 0.05


@dataclass(frozen=True)
class Played:
    """A run that was played: the time that it took, and all that it left."""

    seconds: float
    cpu_seconds: float  # of the command, and once it is known of the run's own process
    ledger: list[tuple[Any, ...]]  # of rounds, without the times at which they were committed
    journal: bytes
    model: tuple[Any, ...]  # the last snapshot, without the id of the run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15_000, help="of each run (%(default)s: about a minute)")
    parser.add_argument("--repeats", type=int, default=2, help="of both places (%(default)s)")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        prepared = prepare(Path(scratch), given.rounds)
        here, on_ray = [], []
        for repeat in range(given.repeats):
            before = children_seconds()
            played = play(prepared, f"here-{repeat}", None)
            here.append(print_times(played, f"here-{repeat}", children_seconds() - before))
            with connect() as engine:
                timed = TimedEngine(engine, Path(scratch, "seconds"))
                played = play(prepared, f"ray-{repeat}", partial(ClusterRun, timed))
            on_ray.append(print_times(played, f"ray-{repeat}", float(Path(scratch, "seconds").read_text())))
    sys.exit(0 if report(here, on_ray) else 1)


def print_times(played: Played, place: str, seconds: float) -> Played:
    """Add the processor time of the run's own process to that of the command, and print it."""
    played = replace(played, cpu_seconds=played.cpu_seconds + seconds)
    print(f"{place:8}{len(played.ledger):8,} rounds{played.seconds:8.1f} s", end="")
    print(f"{played.cpu_seconds:8.1f} s of processor time", flush=True)
    return played


def prepare(folder: Path, rounds: int) -> Competition:
    """Return a competition on a synthetic task, with a seed model that has hardly been trained: speed is the same."""
    scale = replace(SCALES[ScaleName.DEMO].resized(out_of_domain=5_000), dev=Layout.plain(rounds))
    task = synthesise_task(folder / "task", scale, processes=2)
    ensure_compiled(cache_folder())
    models = folder / "models"
    train_seed_models(task.path, models, needed_models([RUN.system]), pretraining=PretrainingConfig(max_steps=20))
    return Competition("", PHASE, models, folder / "runs")


def play(prepared: Competition, place: str, start: StartRun | None) -> Played:
    """Play the run on a ledger of its own."""
    folder = prepared.models.parent
    competition = replace(prepared, store=f"sqlite:{folder / place}?synchronous=normal", folder=folder / "runs" / place)
    with closing(open_store(competition.store)) as store:
        load_task(store, folder / "task")
    begin, cpu_begin = time.perf_counter(), time.process_time()
    (end,) = compete(competition, [RUN], start=start)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
    assert end.state is PlayState.FINISHED, end.message
    with closing(open_store(competition.store)) as store:
        (run,) = Registry(store).runs(PHASE)
        ledger = [
            (one.index, one.translation, one.observed_reward, one.true_reward, one.statistics, one.log_probability)
            for one in store.rounds(run.id)
        ]
    run_folder = competition.run_folder(RUN)
    snapshot = Snapshot.read(run_folder / SNAPSHOT_FILE)
    del snapshot.values["run"]
    arrays = [(name, array.tobytes()) for name, array in snapshot.arrays.items()]
    return Played(seconds, cpu, ledger, (run_folder / JOURNAL_FILE).read_bytes(), (snapshot.values, arrays))


class TimedEngine:
    """A Ray cluster of this machine whose tasks write their processor time to a file."""

    def __init__(self, engine: RayEngine, path: Path) -> None:
        self._engine, self._path = engine, path
        self.host, self.share = engine.host, engine.share

    def submit(self, function: Callable[..., None], *arguments: Any) -> RayTask:
        return self._engine.submit(write_cpu_seconds, self._path, function, *arguments)


def write_cpu_seconds(path: Path, function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a process of its own, and write the processor time of the process."""
    function(*arguments)
    path.write_text(str(time.process_time()))


def children_seconds() -> float:
    """Return the processor time of the children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(here: list[Played], on_ray: list[Played]) -> bool:
    """Print the overhead and whether all runs are the same; return whether both are as they should be."""
    bounds = Bounds()
    overheads = [
        min(getattr(one, name) for one in on_ray) / min(getattr(one, name) for one in here) - 1
        for name in ("seconds", "cpu_seconds")
    ]
    met = bounds.check(overheads[0] <= MAX_OVERHEAD)
    print(f"\noverhead of Ray: {overheads[0]:+.1%} time (at most {MAX_OVERHEAD:.0%}: {met}), ", end="")
    print(f"{overheads[1]:+.1%} processor time")
    for name in ("ledger", "journal", "model"):
        same = all(getattr(one, name) == getattr(here[0], name) for one in (*here, *on_ray))
        print(f"{name}: {'equal' if same else 'DIFFERENT'} ({bounds.check(same)})")
    return bounds.all_met


if __name__ == "__main__":
    main()
