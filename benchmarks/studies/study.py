"""What studies of learning have in common: systems over the dev phase of a task with several seeds, and their table.

A study keeps everything in a folder: the task, the seed models, the ledger, the runs. The same command goes on where it
was stopped, and prints the table of what has been played so far.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.studies.figures import save_figures
from benchmarks.studies.played import Played
from corpora.task import Task
from lambdas.phases import Layout
from lambdas.store import open_store
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.journal import Journal
from learners.nmt.pretraining import Schedule
from learners.systems import SYSTEMS
from simulator.competition import Arena, Contestant, Status, compete, contestants
from simulator.pretraining import make_seed_models, needed_models
from simulator.tasks import load_task

PHASE = "dev"
IN_DOMAIN = 13_199  # rounds of training in a synthetic task: what the oracle is trained on


@dataclass(frozen=True)
class Study:
    """Which systems are played, and what they are measured against."""

    question: str
    folder: Path
    systems: Sequence[str]
    static: str  # the system that does not learn
    oracle: str  # the system that knows what the others have to learn
    departments: int | None = None  # of the shop of a synthetic task; None for all


def row(run: Played, static: Played, oracle: Played | None) -> str:
    """A line of the table."""
    rewards = run.rewards
    difference = paired_block_bootstrap(rewards, static.rewards)
    gap = float(oracle.rewards.mean() - static.rewards.mean()) if oracle else float("nan")
    first_seen, repeats = run.by_novelty()
    (first, _), (last, ratio) = run.held_out(0), run.held_out(run.layout.blocks - 1)
    cells = (
        run.contestant.system,
        str(run.contestant.seed) if SYSTEMS[run.contestant.system].random else "-",
        f"{rewards.mean():.4f}",
        f"{difference.mean:+.4f} ({difference.low:+.4f} to {difference.high:+.4f})",
        f"{100 * difference.mean / gap:.1f} %",
        f"{first_seen:.4f}",
        f"{repeats:.4f}",
        f"{first:.1f} to {last:.1f}",
        f"{ratio:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def table(runs: Sequence[Played], study: Study) -> str:
    """All finished runs, in Markdown; the static system must be among them."""
    header = (
        f"| system | seed | mean reward | minus {study.static} (95 %) | of the gap closed | first seen | repeats "
        "| held-out BLEU, first to last pass | length ratio, last pass |"
    )
    by_system = {run.contestant.system: run for run in runs}
    static, oracle = by_system[study.static], by_system.get(study.oracle)
    return "\n".join([header, "|---" * (header.count("|") - 1) + "|", *(row(run, static, oracle) for run in runs)])


def read_runs(arena: Arena, runs: Sequence[Contestant], task: Task) -> list[Played]:
    """Those that are finished."""
    cut = task.description.phases[PHASE]
    layout = Layout(cut.blocks, cut.block, cut.gap)
    references = [pair.target for pair in task.pairs(PHASE)]
    played = []
    for contestant in runs:
        path = arena.run_folder(contestant) / "journal.jsonl"
        if path.exists():
            with Journal(path) as journal:
                entries = list(journal.entries())
            if len(entries) == layout.total:
                played.append(Played(contestant, entries, references, layout))
    return played


def make_task(path: Path, given: argparse.Namespace) -> Task:
    if not path.exists():
        from simulator.cli import corpus
        from simulator.scales import ScaleName

        corpus.synth(
            path,
            scale=ScaleName.DEV,
            seed=given.task_seed,
            dev=given.rounds,
            training=IN_DOMAIN,
            out_of_domain=given.out_of_domain,
            departments=given.departments,
        )
    return Task.open(path)


def announce(status: Status) -> None:
    if status.state != "playing":
        print(f"{status.contestant.label}: {status.state}, {status.rounds:,} rounds {status.message}", flush=True)


def carry_out(study: Study) -> list[Played]:
    """Do as the command line says; returns the runs that are finished."""
    given = _options(study).parse_args()
    if study.static not in given.systems:
        raise SystemExit(f"--systems must have {study.static}: all others are compared with it")
    task = Task.open(given.task) if given.task else make_task(given.folder / "task", given)
    arena = Arena(f"sqlite:{given.folder / 'store'}", PHASE, given.folder / "models", given.folder / "runs")
    given.folder.mkdir(parents=True, exist_ok=True)
    store = open_store(arena.store)
    load_task(store, task.path)
    store.close()
    make_seed_models(
        task.path,
        arena.models,
        needed_models(given.systems),
        schedule=Schedule(steps=given.steps),
        report=lambda model, progress: print(model, progress.standing if progress else "made", flush=True),
    )
    runs = contestants(given.systems, given.seeds)
    compete(arena, runs, processes=given.processes, watch=announce)
    played = read_runs(arena, runs, task)
    static = next((run for run in played if run.contestant.system == study.static), None)
    if static is None:
        raise SystemExit(f"{study.static} has not finished yet: the same command goes on")
    printed = table(played, study)
    print(printed)
    if given.out:
        drawn = save_figures(played, static, study.oracle, given.out)
        (given.out / "table.md").write_text(printed + "\n", encoding="utf-8")
        print(*drawn, sep="\n")
    return played


def _options(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=study.question)
    parser.add_argument("--folder", type=Path, default=study.folder)
    parser.add_argument("--task", type=Path, default=None, help="a task that is there; a synthetic one is made without")
    parser.add_argument("--task-seed", type=int, default=2017, help="another seed is a fresh stream")
    parser.add_argument("--rounds", type=int, default=40_000, help="of the synthetic task")
    parser.add_argument(
        "--out-of-domain", type=int, default=60_000, help="pairs to pre-train on, of the synthetic task"
    )
    parser.add_argument("--departments", type=int, default=study.departments, help="of the synthetic task's shop")
    parser.add_argument("--steps", type=int, default=5_000, help="of pre-training, at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--systems", nargs="*", default=list(study.systems))
    parser.add_argument("--out", type=Path, default=None, help="a folder for the table and the figures")
    return parser
