"""The references of a task in a model store: not a model, but what oracles need before the first round, as they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from learners.errors import SnapshotError, TrainingError
from learners.references import PhaseReferences, References
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.snapshot import Snapshot
from learners.value_encoding import Array

KIND = "references 1"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReferencesSeedModel(SeedModel[References]):
    """The sources and references of all phases, in the order served."""

    needs_references: bool = True

    def train(self, job: TrainingJob) -> References:
        """Return the task's references."""
        if not job.texts.references:
            raise TrainingError("the task has no phases with references")
        return dict(job.texts.references)

    def save(self, model: References, path: Path) -> None:
        snapshot = Snapshot(values={"kind": KIND, "metrics": {phase: one.metric for phase, one in model.items()}})
        for phase, one in model.items():
            snapshot.arrays |= {
                f"{phase}/sources": pack_lines(one.sources),
                f"{phase}/references": pack_lines(one.references),
            }
        snapshot.write(path)

    def load(self, path: Path) -> References:
        snapshot = Snapshot.read(path)
        if snapshot.values.get("kind") != KIND:
            raise SnapshotError(f"{path} does not hold references")
        arrays = snapshot.arrays
        try:
            return {
                phase: PhaseReferences(
                    phase, metric, unpack_lines(arrays[f"{phase}/sources"]), unpack_lines(arrays[f"{phase}/references"])
                )
                for phase, metric in snapshot.values["metrics"].items()
            }
        except (KeyError, UnicodeDecodeError):
            raise SnapshotError(f"{path} lacks a part of the references") from None


def pack_lines(lines: Sequence[str]) -> Array:
    """Return lines of text, which have no line breaks, as bytes."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def unpack_lines(packed: Array) -> list[str]:
    """Return the lines that ``pack_lines`` packed."""
    return packed.tobytes().decode().split("\n")
