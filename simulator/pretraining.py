"""Pre-training: from a task to the seed models of its systems."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from corpora.task import CONTRASTIVE_FOLDER, Task
from leaderboard.metrics.contrastive import ContrastiveGroup
from learners.context.training import CurvePoint
from learners.errors import LearnerError
from learners.nmt.pretraining import PretrainingConfig
from learners.nmt.processor import denormals_as_zero
from learners.references import PhaseReferences, References
from learners.seed_models.catalogue import in_catalogue_order, with_requirements
from learners.seed_models.contextual import ContextSeedModel
from learners.seed_models.seed_model import SeedModel, TrainingTexts
from learners.seed_models.settings import BuildSettings
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import Report, train_missing
from learners.systems.registry import find_system
from simulator.contrastive_sets import read_sets
from task.atomic_files import write_bytes
from task.description import OUT_OF_DOMAIN, UNKNOWN_DOCUMENT

TASK_DIGEST_FILE = "task.sha256"  # of the task whose text a folder's models were trained on


def needed_models(systems: Sequence[str]) -> list[SeedModel[Any]]:
    """Return the seed models that these systems start from."""
    return in_catalogue_order(dict.fromkeys(model for name in systems for model in find_system(name).seed_models))


def train_seed_models(
    task: Path,
    folder: Path,
    wanted: Sequence[SeedModel[Any]],
    *,
    settings: BuildSettings = BuildSettings(),  # noqa: B008 (it is immutable)
    pretraining: PretrainingConfig | None = None,
    report: Report = lambda _model, _progress: None,
) -> list[SeedModel[Any]]:
    """Train the wanted seed models that the folder lacks, and return what was trained.

    Raise ``LearnerError`` if the folder holds models of another task or of other settings.
    """
    opened = Task.open(task)
    _claim(folder, opened)
    store = ModelStore(folder)
    store.check(wanted, settings)
    if all(store.has(model) for model in wanted):
        return []
    oracles = [model for model in wanted if model.needs_references]
    if oracles and not _phases(opened):
        raise LearnerError(
            f"{task} has no phases with references, which {', '.join(map(str, oracles))} cannot do without"
        )
    in_context = any(model.needs_documents for model in with_requirements(wanted))
    texts = TrainingTexts(
        out_of_domain=[(pair.source, pair.target) for pair in opened.pairs(OUT_OF_DOMAIN)],
        served_sources=_served_sources(opened),
        in_domain=_in_domain_pairs(opened) if oracles else [],
        references=_references(opened) if oracles else {},
        source_language=opened.description.languages[0],
        documents=_documents(opened) if in_context else [],
        contrastive=_development_sets(opened) if in_context else {},
    )
    with denormals_as_zero():
        trained = train_missing(store, wanted, texts, settings=settings, pretraining=pretraining, report=report)
    for model in trained:
        if isinstance(model, ContextSeedModel):
            _draw_curve(store.load(model).curve, folder / f"{model.name}.curve.svg")
    return trained


def _draw_curve(curve: Sequence[CurvePoint], path: Path) -> None:
    """Draw how BLEU and consistency rose in a training."""
    from leaderboard.evaluation.figures import save_figure, training_figure  # altair takes a moment to load

    sets = {name: [(point.step, point.accuracies[name]) for point in curve] for name in curve[0].accuracies}
    save_figure(training_figure([(point.step, point.bleu) for point in curve], sets), path)


def _documents(task: Task) -> list[list[tuple[str, str]]]:
    """Return the out-of-domain text by document; a pair of no known document is one by itself."""
    documents: list[list[tuple[str, str]]] = []
    for document, pairs in groupby(task.pairs(OUT_OF_DOMAIN), key=attrgetter("document")):
        texts = [(pair.source, pair.target) for pair in pairs]
        documents += [texts] if document != UNKNOWN_DOCUMENT else [[pair] for pair in texts]
    return documents


def _development_sets(task: Task) -> dict[str, Sequence[ContrastiveGroup]]:
    """Return the contrastive sets that a task has for development."""
    files = sorted((task.path / CONTRASTIVE_FOLDER).glob("*_dev.json*"))
    return {each.name: each.groups for each in read_sets(files)}


def _in_domain_pairs(task: Task) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for phase in _phases(task) for pair in task.distinct_pairs(phase)]


def _served_sources(task: Task) -> list[str]:
    """Return the distinct sources of the phases that participants can play again and again, so that they know them."""
    repeatable = [phase for phase in _phases(task) if task.description.phase(phase).repeatable]
    return list(dict.fromkeys(pair.source for phase in repeatable for pair in task.distinct_pairs(phase)))


def _references(task: Task) -> References:
    """Return the sources and references of every phase in the order served."""
    source, target = task.description.languages
    return {
        phase: PhaseReferences(
            phase,
            task.description.phase(phase).feedback.metric.name,
            list(task.lines(phase, source)),
            list(task.lines(phase, target)),
        )
        for phase in _phases(task)
    }


def _phases(task: Task) -> list[str]:
    return [part for part in task.parts if part != OUT_OF_DOMAIN]


def check_models_are_of_task(folder: Path, task: Task) -> None:
    """Raise ``LearnerError`` if the folder's models were trained on another task's text.

    An oracle has read the references of its own task only, and a seed model the words of its own task.
    """
    recorded = folder / TASK_DIGEST_FILE
    if recorded.exists() and recorded.read_bytes() != task.digest.encode():
        raise LearnerError(f"the models in {folder} are of another task than {task.path}: choose another folder")


def _claim(folder: Path, task: Task) -> None:
    """Record the task whose models the folder holds."""
    check_models_are_of_task(folder, task)
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(folder / TASK_DIGEST_FILE, task.digest.encode())  # whole at once: an empty file would fit no task
