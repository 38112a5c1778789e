"""What studies of learning have in common: systems over the dev phase of a task with several seeds, and their table.

A study keeps everything in a folder: the task, the seed models, the ledger, the runs. The same command resumes it, and
prints the table of all finished runs. Each finished run is saved beside the table: with ``--keep``, only the missing
ones are played, so that a new system can be compared with all earlier ones.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.studies.comparison import Comparison, mean_rewards, ranking
from benchmarks.studies.figures import save_figures
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import quality_table, rewards_table
from corpora.errors import CorpusError
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from lambdas.store import open_store
from learners.errors import LearnerError, ResumeError, SnapshotError
from learners.journal import JournalEntry
from learners.nmt.pretraining import PretrainingConfig
from learners.run_folder import RunFolder
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.store import ModelStore
from learners.systems.system import Family
from simulator.cluster.place import check_place, open_place
from simulator.competition import Competition, PlayState, RunSpec, RunStatus, compete, run_specs
from simulator.errors import SimulatorError
from simulator.pretraining import needed_models, train_seed_models
from simulator.tasks import load_task
from task.atomic_files import write_bytes
from task.layout import LayoutError

PHASE = "dev"
RUNS = "runs"  # the folder of saved runs, beside the table
OPTIONS_FILE = "options.json"
TRAINING_ROUNDS = 13_199  # of a synthetic task; the oracle learns their references and those of the dev phase


@dataclass(frozen=True)
class Study:
    """The systems of a study, and the family with those that the others are compared with."""

    question: str
    folder: Path
    systems: Sequence[str]
    family: Family  # has a static system
    departments: int | None = None  # of the shop of a synthetic task; None for all
    task_seed: int = 2017

    @property
    def static(self) -> str:
        """The system that all others are compared with."""
        assert self.family.static, "there is no study without a static system"
        return self.family.static


def run_study(study: Study) -> list[StudyRun]:
    """Run or resume a study with the options of the command line, and return its finished runs."""
    parser = study_parser(study)
    parser.add_argument("--keep", action="store_true", help="do not play the runs again that --out has")
    given = parser.parse_args()
    _check_options(given, study)
    with errors_in_one_line():
        return _run(study, given)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Exit with one line at an error that the user can mend, and at an interrupt."""
    try:
        yield
    except KeyboardInterrupt:  # while a task is made or a model is trained; runs end by themselves
        raise SystemExit("interrupted: the same command resumes the study") from None
    except (CorpusError, LayoutError, LearnerError, SimulatorError, OSError) as wrong:
        raise SystemExit(str(wrong)) from None


def _run(study: Study, given: argparse.Namespace) -> list[StudyRun]:
    check_place(given.on)  # first: what is wrong is told before anything is made
    specs = run_specs(given.systems, given.seeds)
    options = task_options(given)
    claim_folder(given.folder, options)
    task = Task.open(given.task) if given.task else make_task(given.folder / "task", given)
    identity, saved = TaskIdentity(options, task.digest), SavedRuns((given.out or given.folder) / RUNS)
    competition = load_competition(given.folder, task)
    specs = competition.under_begun_names(specs)
    kept = saved.find(specs, identity, task.description.phases[PHASE]) if given.keep else []
    missing = [spec for spec in specs if spec not in {run.spec for run in kept}]
    models = saved.merge_models(kept, train_models(competition, missing, task, given.steps))
    check_settings_of_runs(competition, missing)
    statuses = play_runs(competition, missing, given)
    failed = {status.spec: status.message for status in statuses if status.state is PlayState.FAILED}
    played = read_finished_runs(competition, [spec for spec in missing if spec not in failed], task)
    runs = sorted([*kept, *played], key=lambda run: specs.index(run.spec))
    _require_static_run(study.static, runs, failed)
    finished = {run.spec for run in runs}  # also those that an earlier command had finished before this one was stopped
    unfinished = [one for one in statuses if one.state is not PlayState.FINISHED and one.spec not in finished]
    comparison = Comparison(runs, study.family)
    report = _report(comparison, [pair.source for pair in task.pairs(PHASE)], unfinished, options)
    print(report)
    if given.out:
        saved.save(runs, identity, models)
        write_bytes(given.out / "table.md", f"{report}\n".encode())
        print(*save_figures(comparison, given.out), sep="\n")
    if unfinished:
        raise SystemExit(1)
    return runs


def play_runs(competition: Competition, specs: Sequence[RunSpec], given: argparse.Namespace) -> list[RunStatus]:
    """Play runs where the options say, and return how each ended."""
    if not specs:
        return []
    with open_place(given.on) as start:
        return compete(competition, specs, processes=given.processes, watch=print_end, start=start)


def make_task(path: Path, given: argparse.Namespace) -> Task:
    """Return the synthetic task of a study, which is generated the first time."""
    if path.exists():
        return Task.open(path)
    scale = SCALES[ScaleName.DEV].resized(dev=given.rounds, training=TRAINING_ROUNDS, out_of_domain=given.out_of_domain)
    return synthesise_task(path, scale, seed=given.task_seed, departments=given.departments, processes=2)


def read_finished_runs(competition: Competition, specs: Sequence[RunSpec], task: Task) -> list[StudyRun]:
    """Return the finished ones of these runs."""
    layout = task.description.phases[PHASE]
    references = [pair.target for pair in task.pairs(PHASE)]
    runs = []
    for spec in specs:
        entries = complete_journal(competition.run_folder(spec), layout.total)
        if entries:
            runs.append(StudyRun.from_journal(spec, entries, references, layout))
    return runs


def complete_journal(folder: Path, total: int) -> list[JournalEntry]:
    """Return the journal of a finished run; an empty list for any other, whose journal may still be written."""
    try:
        run = RunFolder(folder)
        entries = list(run.journal.entries()) if run.snapshot_rounds() == total else []
    except (SnapshotError, ResumeError, FileNotFoundError):  # reported when the run is resumed
        return []
    return entries if len(entries) == total else []


def print_end(status: RunStatus) -> None:
    """Print how a run ended."""
    if status.state is not PlayState.PLAYING:
        message = f"; {status.message}" if status.message else ""
        print(f"{status.spec.label}: {status.state}, {status.rounds:,} rounds{message}", flush=True)


def _check_options(given: argparse.Namespace, study: Study) -> None:
    if study.static not in given.systems:
        raise SystemExit(f"--systems must have {study.static}: all others are compared with it")
    if given.keep and not given.out:
        raise SystemExit("--keep looks for runs in --out, which is missing")


def task_options(given: argparse.Namespace) -> dict[str, object]:
    """Return the options that the task and the seed models of a study depend on."""
    names = ["steps"] if given.task else ["task_seed", "rounds", "out_of_domain", "departments", "steps"]
    return {name: getattr(given, name) for name in names}


def claim_folder(folder: Path, options: Mapping[str, object]) -> None:
    """Write the options into a new folder; exit if the folder was begun with other options."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / OPTIONS_FILE
    if not path.exists():
        write_bytes(path, json.dumps(options).encode())
    before = json.loads(path.read_text(encoding="utf-8"))
    if before != options:
        raise SystemExit(
            f"{folder} was begun with {before}, not with {options}: give another --folder, or the same options"
        )


def load_competition(folder: Path, task: Task, phase: str = PHASE) -> Competition:
    """Return the competition of a study over a phase, with the task loaded into its store."""
    # The store is not flushed to the disk in every round: what a power cut takes from a study can be played again.
    store_address = f"sqlite:{folder / 'store'}?synchronous=normal"
    store = open_store(store_address)
    load_task(store, task.path)
    store.close()
    return Competition(store_address, phase, folder / "models", folder / "runs")


def train_models(competition: Competition, specs: Sequence[RunSpec], task: Task, steps: int | None) -> dict[str, str]:
    """Train the seed models of these runs; return the digests, by name, of these and the models they were made from."""
    needed = needed_models([spec.system for spec in specs])
    train_seed_models(
        task.path,
        competition.models,
        needed,
        pretraining=PretrainingConfig(max_steps=steps),
        report=lambda model, progress: print(model, progress.status if progress else "trained", flush=True),
    )
    return {model.name: ModelStore(competition.models).digest(model) for model in with_requirements(needed)}


def check_settings_of_runs(competition: Competition, specs: Sequence[RunSpec]) -> None:
    """Exit if a run in the folder was begun with other settings: it would be saved as if these models had played it."""
    for spec in specs:
        folder = competition.run_folder(spec)
        try:
            details = RunFolder(folder).details()
        except SnapshotError as damage:
            raise SystemExit(f"{damage}; or give the study another --folder") from None
        settings = spec.find_system().identity(ModelStore(competition.models), spec.seed)
        if details is not None and details.settings != settings:
            raise SystemExit(
                f"the run in {folder} was begun by another version of {spec.system}, or with another seed model than "
                f"the one in {competition.models}: give another --folder"
            )


def _require_static_run(static: str, runs: Sequence[StudyRun], failed: Mapping[RunSpec, str]) -> None:
    """Exit if the static system has no finished run: there is no table without it."""
    if any(run.spec.system == static for run in runs):
        return
    for spec, message in failed.items():
        if spec.system == static:
            raise SystemExit(f"{static}, which all others are compared with, failed: {message}")
    raise SystemExit(f"{static} has not finished yet: the same command resumes it")


def _report(
    comparison: Comparison, sources: Sequence[str], unfinished: Sequence[RunStatus], options: Mapping[str, object]
) -> str:
    """Return the tables, the options, and the runs that are missing in the tables: a failure is a result, too."""
    shown = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items() if value is not None)
    lines = [rewards_table(comparison, sources), "", quality_table(comparison)]
    lines += ["", f"Seeds averaged: {ranking(mean_rewards(comparison.runs))}"]
    lines += ["", f"{len(sources):,} rounds; {shown}".removesuffix("; ")]
    lines += [f"- {status.spec.label}: {status.state} {status.message}".rstrip() for status in unfinished]
    return "\n".join(lines)


def study_parser(study: Study) -> argparse.ArgumentParser:
    """Return the options that all studies have."""
    parser = argparse.ArgumentParser(description=study.question)
    parser.add_argument("--folder", type=Path, default=study.folder, help="the folder of the study (%(default)s)")
    parser.add_argument("--task", type=Path, help="an existing task (default: a synthetic one is generated)")
    parser.add_argument(
        "--task-seed", type=int, default=study.task_seed, help="random seed of the synthetic task (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=40_000, help="rounds of the synthetic task (%(default)s)")
    parser.add_argument(
        "--out-of-domain", type=int, default=60_000, help="sentence pairs to pre-train on (%(default)s)"
    )
    departments = f"departments of the synthetic shop ({study.departments or 'all'})"
    parser.add_argument("--departments", type=int, default=study.departments, help=departments)
    parser.add_argument("--steps", type=int, help="a bound on the steps of pre-training (default: until it converges)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each system with randomness (%(default)s)")
    parser.add_argument("--processes", type=int, help="runs at a time (default: the number of cores; with --on, all)")
    parser.add_argument("--on", metavar="ray[:ADDRESS]", help="play on a Ray cluster (docs/scaling.md)")
    parser.add_argument("--systems", nargs="*", default=list(study.systems), help="the systems to play")
    parser.add_argument("--out", type=Path, help="a folder for the table, the figures and the finished runs")
    return parser
