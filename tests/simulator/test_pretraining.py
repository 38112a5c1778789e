"""Pre-training of a task's seed models."""

import pytest

from learners.errors import LearnerError
from learners.seed_models.catalogue import BNMT, BNMT_ORACLE, SMT, SMT_ORACLE
from simulator.pretraining import needed_models, train_seed_models
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


def test_systems_need_only_the_seed_models_that_they_start_from():
    assert needed_models(["copy-source"]) == []
    assert needed_models(["BNMT-oracle", "BNMT-EL", "BNMT-static"]) == [BNMT, BNMT_ORACLE]
    assert needed_models(["LIMSI-UCB1", "SMT-static", "SMT-oracle"]) == [SMT, SMT_ORACLE]
