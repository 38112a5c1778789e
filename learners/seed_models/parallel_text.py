"""The out-of-domain text in a model store: not a model, but what systems need that go on training while they play."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from learners.errors import SnapshotError
from learners.nmt.batches import Pair
from learners.seed_models.references import pack_lines, unpack_lines
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.snapshot import Snapshot

KIND = "parallel text 1"


@dataclass(frozen=True, kw_only=True, eq=False)
class ParallelTextSeedModel(SeedModel[Sequence[Pair]]):
    """The out-of-domain sentence pairs of a task."""

    def train(self, job: TrainingJob) -> Sequence[Pair]:
        """Return the text as it is."""
        return job.texts.out_of_domain

    def save(self, model: Sequence[Pair], path: Path) -> None:
        sources, targets = zip(*model, strict=True)
        Snapshot({"sources": pack_lines(sources), "targets": pack_lines(targets)}, {"kind": KIND}).write(path)

    def load(self, path: Path) -> Sequence[Pair]:
        snapshot = Snapshot.read(path)
        if snapshot.values.get("kind") != KIND:
            raise SnapshotError(f"{path} does not hold parallel text")
        try:
            sources, targets = (unpack_lines(snapshot.arrays[name]) for name in ("sources", "targets"))
            return list(zip(sources, targets, strict=True))
        except (KeyError, UnicodeDecodeError, ValueError):
            raise SnapshotError(f"{path} lacks a part of its text") from None
