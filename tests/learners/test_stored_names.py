"""Names on disk: files that were written before a name changed in the code still load."""

from dataclasses import fields
from typing import Any

import pytest

from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue, SourceValueConfig
from learners.bandit.zeroth_order import ZerothOrderConfig, ZerothOrderLearner
from learners.errors import SnapshotError
from learners.nmt.configs import ModelConfig
from learners.nmt.pretraining import PretrainingConfig
from learners.smt.configs import SmtConfig
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.stored_names import CLASS_NAMES, FIELD_NAMES, from_stored, stored_class_name, to_stored

OPTIMISER = {"method": "adam", "rate": 1e-5, "clip": 1.0, "betas": [0.9, 0.999], "rho": 0.95, "epsilon": 1e-8}
SAFEGUARDS = {
    "stretch": None,
    "min_length_ratio": None,
    "anchor_rounds": 500,
    "length_bands": 5,
    "exclude_loops": False,
    "surprise_floor": 0.0,
    "entropy_bonus": 0.0,
    "blame": 1.0,
    "memory": 0.99,
}
MODEL = {
    "name": "mine",
    "architecture": "gru",
    "vocabulary": "bpe",
    "vocabulary_size": 4_000,
    "embedding": 128,
    "encoder": 64,
    "decoder": 128,
    "lexical": False,
    "layers": 3,
    "heads": 4,
    "feed_forward": 512,
    "tied": True,
    "longest": 50,
    "max_source": 100,
    "max_target": 100,
    "dropout": 0.1,
    "learning_rate": 5e-3,
    "beta2": 0.98,
    "warmup": 300,
    "fading": True,
    "batch_tokens": 600,
    "clip": 1.0,
}


def test_a_model_file_keeps_its_names():
    config = ModelConfig(name="mine", layers=3)
    assert to_stored(config) == MODEL
    assert from_stored(ModelConfig, MODEL) == config


@pytest.mark.parametrize("values", [{**MODEL, "colour": "red"}, {k: v for k, v in MODEL.items() if k != "fading"}])
def test_a_model_file_with_other_names_is_of_another_version(values):
    with pytest.raises(SnapshotError, match="written by another version"):
        from_stored(ModelConfig, values)


def test_a_snapshot_of_pretraining_keeps_its_names():
    assert to_stored(PretrainingConfig()) == {
        "steps": None,
        "validate_every": 250,
        "plateau": {"min_gain": 0.01, "patience": 1, "factor": 0.5, "reductions": 2},
        "held_out": 500,
        "hide": 0.02,
        "rename": 0.15,
        "rate": 1.0,
        "learning_rate": None,
        "dropout": None,
        "practice": False,
        "keep": 0,
        "seed": 0,
    }


def test_a_snapshot_of_expected_loss_keeps_its_names():
    assert to_stored(ExpectedLossConfig()) == {
        "optimiser": OPTIMISER,
        "schedule": {"temperature": 1.0, "start": 700_000, "cooling": 0.99, "decay": "cumulative"},
        "safeguards": SAFEGUARDS,
        "batch": 1,
        "dropout": 0.0,
        "replayed": 0,
        "memory": 4_000,
    }


def test_snapshots_of_the_other_learners_keep_their_names():
    assert to_stored(SelfImitationConfig()) == {
        "optimiser": {**OPTIMISER, "rate": 1e-4},
        "safeguards": SAFEGUARDS,
        "batch": 32,
        "replayed": 32,
        "memory": 4_000,
        "dropout": 0.1,
    }
    assert to_stored(ZerothOrderConfig()) == {"optimiser": {**OPTIMISER, "clip": None}, "scale": 0.01, "chosen": ""}
    schedule = {"temperature": 1.0, "start": None, "cooling": 0.99, "decay": "cumulative"}
    assert to_stored(LogLinearExpectedLossConfig()) == {
        "optimiser": OPTIMISER,
        "scale": 1.0,
        "schedule": schedule,
        "batch": 1,
    }
    assert to_stored(LogLinearZerothOrderConfig()) == {"optimiser": OPTIMISER, "scale": 1.0, "noise": 1.0}
    assert to_stored(TargetNgramConfig()) == {
        "optimiser": {**OPTIMISER, "method": "adagrad", "rate": 1.0, "clip": None},
        "scale": 80.0,
        "candidates": 40,
        "buckets": 65_536,
    }
    identity = {"kind": "SourceValue", "buckets": 16_384, "rate": 1.0, "fading": 0.3, "longest": 12}
    assert SourceValue().identity() == identity


LEARNERS = {
    ExpectedLossLearner: "ExpectedLossLearner",
    SelfImitationLearner: "ImitationLearner",
    ZerothOrderLearner: "PerturbationLearner",
    LogLinearExpectedLossLearner: "ExpectedLossWeights",
    LogLinearZerothOrderLearner: "PerturbedWeights",
    TargetNgramLearner: "WordingLearner",
}


@pytest.mark.parametrize(("kind", "name"), LEARNERS.items())
def test_snapshots_name_their_learner_as_before(kind, name):
    assert stored_class_name(kind) == name


def test_every_name_in_the_table_is_one_in_the_code():
    assert set(CLASS_NAMES) <= {kind.__name__ for kind in LEARNERS}
    configs: tuple[Any, ...] = (
        ModelConfig(name="any"),
        PretrainingConfig(),
        OptimiserConfig(),
        AnnealingSchedule(),
        SafeguardConfig(),
        SourceValueConfig(),
        ExpectedLossConfig(),
        SelfImitationConfig(),
        ZerothOrderConfig(),
        LogLinearExpectedLossConfig(),
        LogLinearZerothOrderConfig(),
        TargetNgramConfig(),
        SmtConfig(),
    )
    assert list(FIELD_NAMES) == [type(config).__name__ for config in configs]
    for config in configs:
        assert set(FIELD_NAMES[type(config).__name__]) <= {field.name for field in fields(config)}
