"""The trainer of seed models: it trains what a model store lacks, and resumes what was interrupted."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import with_requirements
from learners.seed_models.networks import pretraining_config
from learners.seed_models.progress import TrainingProgress
from learners.seed_models.seed_model import SeedModel, TrainingJob, TrainingTexts
from learners.seed_models.settings import BuildSettings
from learners.seed_models.store import ModelStore, advise_pretrain
from learners.slow_notice import notice_if_slow

Report = Callable[[SeedModel[Any], TrainingProgress | None], None]  # None once the model is trained


def train_missing(
    store: ModelStore,
    wanted: Sequence[SeedModel[Any]],
    texts: TrainingTexts,
    *,
    settings: BuildSettings = BuildSettings(),  # noqa: B008 (it is immutable)
    pretraining: PretrainingConfig | None = None,
    report: Report = lambda _model, _progress: None,
) -> list[SeedModel[Any]]:
    """Train the wanted models that the store lacks, and those that they require; return what was trained."""
    store.folder.mkdir(parents=True, exist_ok=True)
    with _lock(store.folder):
        store.check(wanted, settings)
        missing = [model for model in with_requirements(wanted) if not store.has(model)]
        for model in missing:
            job = TrainingJob(
                texts=texts,
                settings=settings,
                pretraining=pretraining or pretraining_config(settings),
                load=lambda required: required.load(store.path(required)),
                checkpoints=store.folder / f"{model.name}.training",
                report=partial(report, model),
            )
            _train(model, job, store.path(model))
            report(model, None)
    return missing


def _train(model: SeedModel[Any], job: TrainingJob, path: Path) -> None:
    with advise_pretrain():
        trained = model.train(job)
    model.save(trained, path)
    if job.checkpoints.exists():
        shutil.rmtree(job.checkpoints)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep other processes from training in the same folder; the lock ends with its process."""
    lock = FileLock(folder / "lock")
    with notice_if_slow(f"another process is training seed models in {folder}: this one waits for it"):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
