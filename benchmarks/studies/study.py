"""What studies of learning have in common: systems over the dev phase of a task with several seeds, and their table.

A study keeps everything in a folder: the task, the seed models, the ledger, the runs. The same command goes on where it
was stopped, and prints the table of what has been played so far. What came of every run is kept beside the table: with
``--keep``, only what is not there yet is played, so that a new system can be compared with all that went before.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.studies.figures import save_figures
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import ComparisonSystems, means, ordering, table
from corpora.task import Task
from lambdas.store import open_store
from learners.errors import ResumeError, SnapshotError
from learners.journal import JournalEntry
from learners.nmt.pretraining import PretrainingConfig
from learners.run_folder import RunFolder
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.store import ModelStore
from learners.systems.registry import find_system
from simulator.competition import Competition, RunSpec, RunState, RunStatus, compete, run_specs
from simulator.pretraining import needed_models, train_seed_models
from simulator.tasks import load_task

PHASE = "dev"
RUNS = "runs"  # beside the table: what came of each run
OPTIONS = "options.json"
IN_DOMAIN = 13_199  # rounds of training in a synthetic task; the oracle learns their references and those of dev


@dataclass(frozen=True)
class Study:
    """Which systems are played, and what they are measured against."""

    question: str
    folder: Path
    systems: Sequence[str]
    measured_against: ComparisonSystems
    departments: int | None = None  # of the shop of a synthetic task; None for all
    task_seed: int = 2017


def read_runs(competition: Competition, runs: Sequence[RunSpec], task: Task) -> list[StudyRun]:
    """Those that are finished."""
    layout = task.description.phases[PHASE]
    references = [pair.target for pair in task.pairs(PHASE)]
    played = []
    for spec in runs:
        entries = _whole_journal(competition.run_folder(spec), layout.total)
        if entries:
            played.append(StudyRun.from_journal(spec, entries, references, layout))
    return played


def _whole_journal(folder: Path, total: int) -> list[JournalEntry]:
    """That of a run which is finished; one that is still being written is left alone."""
    try:
        run = RunFolder(folder)
        entries = list(run.journal.entries()) if run.snapshot_rounds() == total else []
    except (SnapshotError, ResumeError, FileNotFoundError):  # reported when the run is resumed
        return []
    return entries if len(entries) == total else []


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


def announce(status: RunStatus) -> None:
    if status.state != "playing":
        print(f"{status.spec.label}: {status.state}, {status.rounds:,} rounds {status.message}", flush=True)


def carry_out(study: Study) -> list[StudyRun]:
    """Do as the command line says; returns the runs that are finished."""
    given = _options(study).parse_args()
    _refuse_wrong_usage(given, study)
    made_of = _made_of(given)
    _settle(given.folder, made_of)
    task = Task.open(given.task) if given.task else make_task(given.folder / "task", given)
    stream = TaskIdentity(made_of, task.digest)
    archive = SavedRuns((given.out or given.folder) / RUNS)
    runs = run_specs(given.systems, given.seeds)
    kept = archive.find(runs, stream, task.description.phases[PHASE]) if given.keep else []
    missing = [run for run in runs if run not in {one.spec for one in kept}]
    competition = _competition(given.folder, task)
    models = archive.join(kept, _make_models(competition, missing, task, given.steps))
    _refuse_runs_of_others(competition, missing)
    ended = compete(competition, missing, processes=given.processes, watch=announce) if missing else []
    failed = {one.spec: one.message for one in ended if one.state is RunState.FAILED}
    finished = read_runs(competition, [run for run in missing if run not in failed], task)
    played = sorted([*kept, *finished], key=lambda run: runs.index(run.spec))
    _refuse_without_yardstick(study.measured_against.static, played, failed)
    done = {run.spec for run in played}  # also what an earlier command had finished before this one was stopped
    unfinished = [one for one in ended if one.state is not RunState.FINISHED and one.spec not in done]
    sources = [pair.source for pair in task.pairs(PHASE)]
    report = _report(table(played, study.measured_against, sources), played, unfinished, made_of)
    print(report)
    if given.out:
        archive.save(played, stream, models)
        (given.out / "table.md").write_text(report + "\n", encoding="utf-8")
        print(*save_figures(played, study.measured_against, given.out), sep="\n")
    if unfinished:
        raise SystemExit(1)
    return played


def _refuse_wrong_usage(given: argparse.Namespace, study: Study) -> None:
    if study.measured_against.static not in given.systems:
        raise SystemExit(f"--systems must have {study.measured_against.static}: all others are compared with it")
    if given.keep and not given.out:
        raise SystemExit("--keep looks for runs in --out, which is missing")


def _refuse_without_yardstick(static: str, played: Sequence[StudyRun], failed: Mapping[RunSpec, str]) -> None:
    if any(run.spec.system == static for run in played):
        return
    for run, message in failed.items():
        if run.system == static:
            raise SystemExit(f"{static}, which all others are compared with, failed: {message}")
    raise SystemExit(f"{static} has not finished yet: the same command goes on")


def _refuse_runs_of_others(competition: Competition, runs: Sequence[RunSpec]) -> None:
    """What is in the folder was begun with the models that are there now: it would else be told of them."""
    for run in runs:
        folder = competition.run_folder(run)
        try:
            details = RunFolder(folder).details()
        except SnapshotError as damage:
            raise SystemExit(f"{damage}; or give the study another --folder") from None
        settings = find_system(run.system).identity(ModelStore(competition.models), run.seed)
        if details is not None and details.settings != settings:
            raise SystemExit(
                f"the run in {folder} was begun by another version of {run.system}, or with another seed model than the"
                f" one in {competition.models}: give another --folder"
            )


def _make_models(competition: Competition, runs: Sequence[RunSpec], task: Task, steps: int) -> dict[str, str]:
    """Make the seed models that these runs need; returns the digests of all that they were made of, by name."""
    needed = needed_models([run.system for run in runs])
    train_seed_models(
        task.path,
        competition.models,
        needed,
        pretraining=PretrainingConfig(steps=steps),
        report=lambda model, progress: print(model, progress.status if progress else "made", flush=True),
    )
    return {model.name: ModelStore(competition.models).digest(model) for model in with_requirements(needed)}


def _made_of(given: argparse.Namespace) -> dict[str, object]:
    """What a study's folder is made of, and cannot be changed later."""
    names = ["steps"] if given.task else ["task_seed", "rounds", "out_of_domain", "departments", "steps"]
    return {name: getattr(given, name) for name in names}


def _settle(folder: Path, made_of: Mapping[str, object]) -> None:
    """A folder stays with what it was begun with: nobody shall take an old stream for a fresh one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / OPTIONS
    if not path.exists():
        path.write_text(json.dumps(made_of), encoding="utf-8")
    before = json.loads(path.read_text(encoding="utf-8"))
    if before != made_of:
        raise SystemExit(
            f"{folder} was begun with {before}, not with {made_of}: give another --folder, or the same options"
        )


def _competition(folder: Path, task: Task) -> Competition:
    # Without a flush to disk in every round: what a power cut takes from a study can be played again.
    competition = Competition(
        f"sqlite:{folder / 'store'}?synchronous=normal", PHASE, folder / "models", folder / "runs"
    )
    store = open_store(competition.store)
    load_task(store, task.path)
    store.close()
    return competition


def _report(
    rows: str, played: Sequence[StudyRun], unfinished: Sequence[RunStatus], made_of: Mapping[str, object]
) -> str:
    """The table, what it was made with, and who is missing in it: a run that failed is a result, too."""
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in made_of.items() if value is not None)
    lines = [rows, "", f"Seeds averaged: {ordering(means(played))}"]
    lines += ["", f"{len(played[0].rewards):,} rounds; {options}"]
    lines += [f"- {status.spec.label}: {status.state} {status.message}".rstrip() for status in unfinished]
    return "\n".join(lines)


def _options(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=study.question)
    parser.add_argument("--folder", type=Path, default=study.folder)
    parser.add_argument("--task", type=Path, default=None, help="a task that is there; a synthetic one is made without")
    parser.add_argument("--task-seed", type=int, default=study.task_seed, help="another seed is a fresh stream")
    parser.add_argument("--rounds", type=int, default=40_000, help="of the synthetic task")
    parser.add_argument(
        "--out-of-domain", type=int, default=60_000, help="pairs to pre-train on, of the synthetic task"
    )
    parser.add_argument("--departments", type=int, default=study.departments, help="of the synthetic task's shop")
    parser.add_argument("--steps", type=int, default=4_000, help="of pre-training, at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--systems", nargs="*", default=list(study.systems))
    parser.add_argument(
        "--out", type=Path, default=None, help="a folder for the table, the figures and what came of each run"
    )
    parser.add_argument("--keep", action="store_true", help="do not play again what --out has")
    return parser
