"""What is learned from post-edits? ``make study-adaptation`` plays the systems of the sister papers, and their tables.

The tasks are those that are given, and the synthetic shop with documents. On each, networks and SMT systems start from
base models of several seeds, which are the seeds of their training; the learners themselves are deterministic.

Models, snapshots of trainings and outputs are kept in the folder: the same command resumes the study.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.studies.adaptation_results import ADAPTING, HeldOutTexts, SeedTexts, measure
from benchmarks.studies.adaptation_runs import (
    HALVES,
    PHASE,
    Pair,
    play_half,
    played,
    shuffled,
)
from benchmarks.studies.adaptation_tables import StreamResults, report
from benchmarks.studies.outputs import Outputs
from benchmarks.studies.study import claim_folder, errors_in_one_line
from corpora.errors import CorpusError
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from leaderboard.evaluation.figures import learning_figure, reliability_figure, save_figure
from leaderboard.metrics.learning_curve import CurveModel, ErrorRate
from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import ADAPT
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.settings import BuildSettings, Size
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from task.atomic_files import write_bytes
from task.description import OUT_OF_DOMAIN
from task.feedback import FeedbackKind, FeedbackSpec

SHOP = "shop"
SHOP_SEED = 2019


@dataclass(frozen=True)
class Scale:
    """How much is trained and played; a folder holds studies of one scale."""

    rounds: int  # of networks
    smt_rounds: int
    training_pairs: int
    steps: int  # of the networks' pre-training, at most
    size: Size  # of the networks


@dataclass(frozen=True)
class Job:
    """One half of the systems, on one task, with base models of one seed."""

    folder: Path  # of the study
    task: Path
    name: str  # of the task
    seed: int
    half: str  # the name of the systems
    scale: Scale

    @property
    def rounds(self) -> list[Pair]:
        """The first rounds of the task, in natural order."""
        count = self.scale.smt_rounds if HALVES[self.half].shuffled else self.scale.rounds
        return [(pair.source, pair.target) for pair in Task.open(self.task).pairs(PHASE)][:count]

    @property
    def outputs(self) -> Outputs:
        return Outputs(self.folder / self.name / f"s{self.seed}" / self.half)

    @property
    def store(self) -> ModelStore:
        return ModelStore(self.folder / self.name / f"s{self.seed}" / f"{self.half}-models")

    def __str__(self) -> str:
        return f"{self.name}, {self.half}, seed {self.seed}"


def training_text(task: Task, scale: Scale) -> list[Pair]:
    """Return the text that base models are trained on; tasks hold it in random order."""
    return [(pair.source, pair.target) for pair in task.pairs(OUT_OF_DOMAIN)][: scale.training_pairs]


def run(job: Job) -> None:
    """Train and play what is missing of a job."""
    job.outputs.get("training", lambda: _train(job, training_text(Task.open(job.task), job.scale)))
    play_half(HALVES[job.half], job.rounds, job.store, job.outputs)


def _train(job: Job, text: Sequence[Pair]) -> None:
    train_missing(
        job.store,
        HALVES[job.half].models,
        TrainingTexts(out_of_domain=text),
        settings=BuildSettings(job.scale.size),
        pretraining=PretrainingConfig(max_steps=job.scale.steps, seed=job.seed),
        report=lambda model, progress: print(
            f"{job}: {model} {progress.status if progress else 'trained'}", flush=True
        ),
    )


def run_all(jobs: Sequence[Job], processes: int) -> None:
    """Run jobs, several at a time, and print about how long the rest will take."""
    start = time.monotonic()
    for done, job in enumerate(_finished(jobs, processes), start=1):
        left = (time.monotonic() - start) / 60 / done * (len(jobs) - done)
        print(f"{job}: done; {done} of {len(jobs)}, about {left:.0f} minutes left", flush=True)


def _finished(jobs: Sequence[Job], processes: int) -> Iterator[Job]:
    """Yield the jobs when they are done."""
    if processes == 1:
        for job in jobs:
            run(job)
            yield job
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run, job): job for job in jobs}
        try:
            for future in as_completed(running):
                future.result()
                yield running[future]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def results(name: str, task: Task, jobs: Sequence[Job]) -> StreamResults:
    """Return the results of all seeds on one task, whose jobs are done."""
    networks, statistical = ([job for job in jobs if job.name == name and job.half == half] for half in HALVES)
    scale, languages = jobs[0].scale, task.description.languages
    known = {word for _, target in training_text(task, scale) for word in target.split()}
    seeds = [
        measure(_texts(one, other), languages.target, known) for one, other in zip(networks, statistical, strict=True)
    ]
    return StreamResults(f"{task.description.generator}, {'-'.join(languages)}", seeds)


def _texts(networks: Job, statistical: Job) -> SeedTexts:
    """Return what the systems of one seed have translated."""
    vocabulary = networks.store.load(ADAPT).target_vocabulary
    (natural, held_out), (in_blocks, more) = (played(HALVES[job.half], job.outputs) for job in (networks, statistical))
    references, smt_references = ([target for _, target in job.rounds] for job in (networks, statistical))
    return SeedTexts(
        references,
        [target for _, target in shuffled(statistical.rounds)],
        natural,
        in_blocks,
        {
            name: HeldOutTexts(outputs, wanted)
            for found, wanted in ((held_out, references), (more, smt_references))
            for name, outputs in found.items()
        },
        lambda text: " ".join(vocabulary.encode(text)[1]),
    )


def cpu_minutes(jobs: Sequence[Job]) -> str:
    """Return what the parts of the study cost."""
    sums: dict[str, float] = {}
    for job in jobs:
        for name, seconds in job.outputs.seconds().items():
            part = f"{name.partition('/')[0]} of {job.half}"
            sums[part] = sums.get(part, 0.0) + seconds
    shown = ", ".join(f"{part} {seconds / 60:.1f}" for part, seconds in sorted(sums.items()))
    return f"CPU minutes: {shown}; {sum(sums.values()) / 60:.0f} in all."


def save(out: Path, tables: str, streams: dict[str, StreamResults]) -> None:
    """Write the tables, and for each task the learning curves and the reliability of the first base model."""
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / "table.md", f"{tables}\n".encode())
    for name, stream in streams.items():
        first = stream.seeds[0]
        if curves := first.slopes[CurveModel.UNIT]:
            save_figure(learning_figure(curves, CurveModel.UNIT, ErrorRate.TER), out / f"{name}-slopes.svg")
        save_figure(reliability_figure(first.reliability[ADAPTING].parts, "BLEU"), out / f"{name}-reliability.svg")


def make_shop(path: Path, scale: Scale) -> Path:
    """Return the synthetic shop with documents, which is generated the first time."""
    if not path.exists():
        size = SCALES[ScaleName.DEV].without_held_out.resized(
            dev=max(scale.rounds, scale.smt_rounds), training=scale.rounds, out_of_domain=scale.training_pairs
        )
        spec = FeedbackSpec(seed=SHOP_SEED, kind=FeedbackKind.POST_EDIT)
        synthesise_task(path, size, seed=SHOP_SEED, departments=3, feedback=spec, documents=True)
    return path


def study(given: argparse.Namespace) -> str:
    """Run or resume the study; return its tables."""
    scale = Scale(given.rounds, given.smt_rounds, given.training_pairs, given.steps, given.size)
    tasks = {path.name: path for path in given.tasks}
    if SHOP in tasks or len(tasks) < len(given.tasks):
        raise CorpusError(f"tasks are told apart by the names of their folders: name none {SHOP}, and no two alike")
    opened = {name: Task.open(path) for name, path in tasks.items()}
    for task in opened.values():
        if (count := task.description.phases[PHASE].total) < max(scale.rounds, scale.smt_rounds):
            raise CorpusError(f"{task.path} has only {count:,} rounds: give fewer --rounds and --smt-rounds")
    claim_folder(given.folder, asdict(scale))
    for name, task in opened.items():
        claim_folder(given.folder / name, {"task": task.digest})
    tasks[SHOP] = make_shop(given.folder / SHOP / "task", scale)
    jobs = [
        Job(given.folder, path, name, seed, half, scale)
        for seed in range(1, given.seeds + 1)
        for name, path in tasks.items()
        for half in HALVES
    ]
    run_all(jobs, given.processes)
    streams = {name: results(name, Task.open(path), jobs) for name, path in tasks.items()}
    size = (
        f"{scale.rounds:,} rounds of each task for networks, {scale.smt_rounds:,} for SMT systems; "
        f"{scale.training_pairs:,} training pairs, at most {scale.steps:,} steps, {given.seeds} base models"
    )
    tables = f"{report(streams, size)}\n\n{cpu_minutes(jobs)}"
    if given.out:
        save(given.out, tables, streams)
    return tables


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or resume the study, and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=Path, nargs="*", default=[], help="tasks with post-edits, besides the shop")
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-adaptation"), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=1_000, help="of each task for networks (%(default)s)")
    parser.add_argument("--smt-rounds", type=int, default=3_000, help="for SMT systems, which are faster (%(default)s)")
    parser.add_argument("--training-pairs", type=int, default=60_000, help="for the base models (%(default)s)")
    parser.add_argument("--steps", type=int, default=2_000, help="of pre-training, at most (%(default)s)")
    parser.add_argument("--size", type=Size, choices=list(Size), default=Size.SMALL, help="of networks (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="base models of each task (%(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="jobs at a time (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for the tables and figures")
    with errors_in_one_line():
        print(study(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
