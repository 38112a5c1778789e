"""What studies of learning have in common: systems over the dev phase of a task with several seeds, and their table.

A study keeps everything in a folder: the task, the seed models, the ledger, the runs. The same command goes on where it
was stopped, and prints the table of what has been played so far.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpora.task import Task
from lambdas.phases import Layout
from lambdas.store import open_store
from leaderboard.metrics.bleu import corpus_bleu, statistics, total
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.journal import Entry, Journal
from learners.nmt.pretraining import Schedule
from learners.systems import SYSTEMS
from simulator.competition import Arena, Contestant, Status, compete, contestants
from simulator.pretraining import make_seed_models, needed_models
from simulator.tasks import load_task

PHASE = "dev"


@dataclass(frozen=True)
class Study:
    """Which systems are played, and what they are measured against."""

    question: str
    folder: Path
    systems: Sequence[str]
    static: str  # the system that does not learn
    oracle: str  # the system that knows what the others have to learn


@dataclass(frozen=True)
class Played:
    """A finished run, beside the references that it never saw."""

    contestant: Contestant
    entries: Sequence[Entry]
    references: Sequence[str]
    layout: Layout

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        return np.array([entry.reward for entry in self.entries])

    def held_out(self, number: int) -> tuple[float, float]:
        """Corpus BLEU and length ratio of a held-out pass."""
        places = [k for k in range(self.layout.total) if self.layout.place(k).held_out_pass == number]
        counts = total(statistics(self.entries[k].translation, self.references[k]) for k in places)
        return corpus_bleu(counts), counts.candidates[0] / counts.reference_length

    def by_novelty(self) -> tuple[float, float]:
        """Mean reward on sources seen for the first time, and on repeats."""
        first: dict[str, int] = {}
        for entry in self.entries:
            first.setdefault(entry.source, entry.index)
        fresh = np.array([first[entry.source] == entry.index for entry in self.entries])
        rewards = self.rewards
        return float(rewards[fresh].mean()), float(rewards[~fresh].mean())


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


def make_task(path: Path, seed: int, rounds: int, out_of_domain: int) -> Task:
    if not path.exists():
        from simulator.cli import corpus
        from simulator.scales import ScaleName

        corpus.synth(path, scale=ScaleName.DEV, seed=seed, dev=rounds, training=13_199, out_of_domain=out_of_domain)
    return Task.open(path)


def announce(status: Status) -> None:
    if status.state != "playing":
        print(f"{status.contestant.label}: {status.state}, {status.rounds:,} rounds {status.message}", flush=True)


def carry_out(study: Study) -> list[Played]:
    """Do as the command line says; returns the runs that are finished."""
    given = _options(study).parse_args()
    if study.static not in given.systems:
        raise SystemExit(f"--systems must have {study.static}: all others are compared with it")
    made = given.folder / "task"
    task = Task.open(given.task) if given.task else make_task(made, given.task_seed, given.rounds, given.out_of_domain)
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
    if not any(run.contestant.system == study.static for run in played):
        raise SystemExit(f"{study.static} has not finished yet: the same command goes on")
    printed = table(played, study)
    print(printed)
    if given.out:
        given.out.write_text(printed + "\n", encoding="utf-8")
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
    parser.add_argument("--steps", type=int, default=5_000, help="of pre-training, at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--systems", nargs="*", default=list(study.systems))
    parser.add_argument("--out", type=Path, default=None, help="where the table goes, besides the terminal")
    return parser
