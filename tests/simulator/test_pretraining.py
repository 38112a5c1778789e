"""Pre-training of a task's seed models."""

import pytest

from corpora.task import Task, TaskWriter, write_pairs
from learners.errors import LearnerError
from learners.seed_models.catalogue import BNMT, BNMT_ORACLE, REFERENCES, SMT, SMT_ORACLE
from learners.seed_models.store import ModelStore
from simulator.pretraining import needed_models, train_seed_models
from task.description import OUT_OF_DOMAIN
from tests.corpora.tasks import description
from tests.learners.tiny import sentences
from tests.simulator.small_task import write_task


def test_models_of_another_task_are_refused(tmp_path):
    train_seed_models(write_task(tmp_path / "one"), tmp_path / "models", [])
    with pytest.raises(LearnerError, match="are of another task"):
        train_seed_models(write_task(tmp_path / "two", seed=1), tmp_path / "models", [])


def test_a_damaged_task_digest_is_of_another_task(tmp_path):
    task = write_task(tmp_path / "one")
    train_seed_models(task, tmp_path / "models", [])
    (tmp_path / "models" / "task.sha256").write_bytes(b"\xff\xfe")
    with pytest.raises(LearnerError, match="are of another task"):
        train_seed_models(task, tmp_path / "models", [])


def test_references_are_stored_in_the_order_served_with_the_metric_of_their_phase(tmp_path):
    task = write_task(tmp_path / "task")
    train_seed_models(task, tmp_path / "models", [REFERENCES])
    stored = ModelStore(tmp_path / "models").load(REFERENCES)
    assert list(stored) == ["mock", "dev", "training"]
    for phase, references in stored.items():
        pairs = list(Task.open(task).pairs(phase))
        assert references.metric == "sentence-bleu"
        assert references.sources == [pair.source for pair in pairs]
        assert references.references == [pair.target for pair in pairs]
    assert len(stored["dev"].sources) == 30  # its held-out block is served three times


def test_oracles_cannot_be_trained_on_a_task_without_phases(tmp_path):
    with TaskWriter(tmp_path / "task", description()) as writer:
        pairs = sentences(20)
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), pairs))
    complaint = "task has no phases with references, which smt-oracle, references cannot do without$"
    with pytest.raises(LearnerError, match=complaint):
        train_seed_models(tmp_path / "task", tmp_path / "models", [SMT_ORACLE, REFERENCES])


def test_systems_need_only_the_seed_models_that_they_start_from():
    assert needed_models(["copy-source"]) == []
    assert needed_models(["BNMT-oracle", "BNMT-EL", "BNMT-static"]) == [BNMT, BNMT_ORACLE]
    assert needed_models(["BNMT-k-best-oracle"]) == [BNMT, REFERENCES]
    assert needed_models(["LIMSI-UCB1", "SMT-static", "SMT-oracle"]) == [SMT, SMT_ORACLE]
