"""Which systems learn? All of them over the dev phase of a fresh synthetic task, with several seeds.

``make study-learning`` keeps everything in a folder: the task, the seed models, the ledger, the runs. The same command
goes on where it was stopped, and prints the table of what has been played so far.
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
STATIC, ORACLE = "BNMT-static", "BNMT-oracle"
HEADER = (
    "| system | seed | mean reward | minus BNMT-static (95 %) | of the gap closed | first seen | repeats "
    "| held-out BLEU, first to last pass | length ratio, last pass |"
)


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


def table(runs: Sequence[Played]) -> str:
    """All finished runs, in Markdown; BNMT-static must be among them."""
    by_system = {run.contestant.system: run for run in runs}
    static, oracle = by_system[STATIC], by_system.get(ORACLE)
    return "\n".join([HEADER, "|---" * (HEADER.count("|") - 1) + "|", *(row(run, static, oracle) for run in runs)])


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-learning"))
    parser.add_argument("--task-seed", type=int, default=2017, help="another seed is a fresh stream")
    parser.add_argument("--rounds", type=int, default=40_000)
    parser.add_argument("--out-of-domain", type=int, default=60_000, help="pairs to pre-train on")
    parser.add_argument("--steps", type=int, default=5_000, help="of pre-training, at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--out", type=Path, default=None, help="where the table goes, besides the terminal")
    given = parser.parse_args()
    task = make_task(given.folder / "task", given.task_seed, given.rounds, given.out_of_domain)
    arena = Arena(f"sqlite:{given.folder / 'store'}", PHASE, given.folder / "models", given.folder / "runs")
    store = open_store(arena.store)
    load_task(store, task.path)
    store.close()
    make_seed_models(
        task.path,
        arena.models,
        needed_models(given.systems),
        schedule=Schedule(steps=given.steps),
        report=lambda model, progress: print(model, progress or "made", flush=True),
    )
    runs = contestants(given.systems, given.seeds)
    compete(arena, runs, processes=given.processes, watch=announce)
    printed = table(read_runs(arena, runs, task))
    print(printed)
    if given.out:
        given.out.write_text(printed + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
