"""The references in a model store."""

import pytest

from learners.errors import SnapshotError, TrainingError
from learners.references import PhaseReferences
from learners.seed_models.catalogue import REFERENCES
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from learners.snapshot import Snapshot
from tests.learners import tiny


def test_references_come_back_as_they_were(tmp_path):
    references = {
        "mock": PhaseReferences("mock", "chrf", ["größe ☃"], ["size ☃"]),
        "dev": PhaseReferences("dev", "sentence-bleu", ["rot", "blau", "rot"], ["red", "blue", "crimson"]),
    }
    store = ModelStore(tmp_path)
    train_missing(store, [REFERENCES], TrainingTexts([], [], references))
    assert store.load(REFERENCES) == references


def test_a_task_without_references_has_none_to_store(tmp_path):
    with pytest.raises(TrainingError, match="the task has no phases with references"):
        train_missing(ModelStore(tmp_path), [REFERENCES], TrainingTexts(tiny.sentences(3)))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({}, "does not hold references"),
        ({"kind": "references 1", "metrics": {"dev": "chrf"}}, "lacks a part of the references"),
    ],
)
def test_another_file_is_refused(values, complaint, tmp_path):
    Snapshot(values=values).write(tmp_path / "references.model")
    with pytest.raises(SnapshotError, match=f"{complaint}; remove it, and banditmt pretrain trains it again"):
        ModelStore(tmp_path).load(REFERENCES)
