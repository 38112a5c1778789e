"""Does a learner win on real text? ``make study-champion`` plays the learners that rerank on draws and shops.

All learners choose among the k best translations of the same seed models, so a stream's lists are searched once and
kept in memory: learners are played in this process, with the rewards that the service would give. Settings were tuned
on one draw and on one more shop; the others confirm them. With ``--keep``, runs that are saved are not played again.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.searched_lists import SearchedLists
from benchmarks.studies.comparison import Comparison
from benchmarks.studies.figures import save_figures
from benchmarks.studies.in_process import play_rounds
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study import PHASE, RUNS, TRAINING_ROUNDS
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import quality_table, rewards_table
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.seed_model import ModelT, SeedModel
from learners.seed_models.store import ModelStore
from learners.smt.translator import SmtTranslator
from learners.systems import smt_split
from learners.systems.registry import find_system
from simulator.competition import run_specs
from simulator.pretraining import needed_models, train_seed_models
from task.atomic_files import write_bytes

SYSTEMS = [
    "SMT-static",
    "SMT-EL-WORDS",
    "SMT-SPLIT-static",
    "SMT-SPLIT-k-best-oracle",
    "SMT-SPLIT-full-information",
    "SMT-LINEAR",
    "CHAMPION",
]
SHOP_ROUNDS, SHOP_OUT_OF_DOMAIN = 10_000, 60_000


@dataclass(frozen=True)
class Stream:
    """A task of the study."""

    name: str
    is_tuned_on: bool = False
    shop_seed: int | None = None  # of a synthetic task; None if the task must be there

    def open(self, tasks: Path) -> Task:
        path = tasks / self.name
        if self.shop_seed is not None and not path.exists():
            scale = SCALES[ScaleName.DEV].resized(
                dev=SHOP_ROUNDS, training=TRAINING_ROUNDS, out_of_domain=SHOP_OUT_OF_DOMAIN
            )
            return synthesise_task(path, scale, seed=self.shop_seed, departments=None, processes=2)
        return Task.open(path)


STREAMS = [
    Stream("debian-4711", is_tuned_on=True),
    Stream("shop-31", is_tuned_on=True, shop_seed=31),
    Stream("debian-999"),
    Stream("shop-2017", shop_seed=2017),
    Stream("shop-555", shop_seed=555),
]


class SharedModels(ModelStore):
    """A model store that loads each model once, so that all learners share its searched lists."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._loaded: dict[str, Any] = {}

    def load(self, model: SeedModel[ModelT]) -> ModelT:
        if model.name not in self._loaded:
            loaded: Any = super().load(model)
            self._loaded[model.name] = SearchedLists(loaded) if isinstance(loaded, SmtTranslator) else loaded
        shared: ModelT = self._loaded[model.name]
        return shared


def play_stream(stream: Stream, given: argparse.Namespace) -> Comparison:
    """Play the systems on a stream, write its table and its runs, and return their comparison."""
    task = stream.open(given.tasks)
    models = SharedModels(given.folder / stream.name / "models")
    layout = task.description.phases[PHASE]
    out = given.out / stream.name
    saved, identity = SavedRuns(out / RUNS), TaskIdentity({"stream": stream.name}, task.digest)
    specs = run_specs(given.systems, given.seeds)
    runs = saved.find(specs, identity, layout) if given.keep else []
    missing = [spec for spec in specs if spec not in {run.spec for run in runs}]
    needed = needed_models([spec.system for spec in missing])
    train_seed_models(task.path, models.folder, needed, report=_print_progress)
    digests = saved.merge_models(runs, {model.name: models.digest(model) for model in with_requirements(needed)})
    pairs = [(pair.source, pair.target) for pair in task.pairs(PHASE)]
    references = [reference for _, reference in pairs]
    for spec in missing:
        learner = find_system(spec.system).new_learner(models, spec.seed, PHASE)
        runs.append(StudyRun.from_journal(spec, play_rounds(learner, pairs), references, layout))
        print(f"{stream.name} {spec.label}: {runs[-1].rewards.mean():.4f}", flush=True)
    runs.sort(key=lambda run: specs.index(run.spec))
    comparison = Comparison(runs, smt_split.FAMILY)
    saved.save(runs, identity, digests)
    report = [_heading(stream), "", rewards_table(comparison, [source for source, _ in pairs])]
    report += ["", quality_table(comparison), ""]
    write_bytes(out / "table.md", "\n".join(report).encode())
    print("\n".join(report))
    save_figures(comparison, out)
    return comparison


def _heading(stream: Stream) -> str:
    use = "settings were tuned on this stream" if stream.is_tuned_on else "confirmation: settings were frozen before"
    return f"{stream.name}: {use}"


def _print_progress(model: SeedModel[Any], progress: Any) -> None:
    print(model, progress.status if progress else "trained", flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [stream.name for stream in STREAMS]
    parser.add_argument("streams", nargs="*", default=names, choices=[*names, []], help="default: all")
    parser.add_argument("--tasks", type=Path, default=Path(".banditmt"), help="the folder of the tasks (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-champion"), help="for seed models")
    parser.add_argument("--out", type=Path, required=True, help="a folder for tables, figures and runs")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, help="the systems to play")
    parser.add_argument("--keep", action="store_true", help="do not play the runs again that --out has")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each system with randomness (%(default)s)")
    return parser.parse_args()


def main() -> None:
    given = _parse()
    for stream in STREAMS:
        if stream.name in given.streams:
            play_stream(stream, given)


if __name__ == "__main__":
    main()
