"""The seed models: what each is trained on, what it requires, and its config for each size."""

from typing import Any

import pytest

from learners.errors import TrainingError
from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import (
    ADAPT,
    ADAPT_FIXED,
    BNMT,
    BNMT_CONTROL,
    BNMT_ORACLE,
    DICTIONARY,
    REFERENCES,
    SEED_MODELS,
    SMT,
    SMT_ORACLE,
    SMT_SPLIT_ORACLE,
    WMT16,
    WNMT,
    with_requirements,
)
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from learners.systems.bnmt import EL_VALUE
from tests.learners import tiny


def test_the_names_of_the_files_stay():
    assert [model.name for model in SEED_MODELS] == [
        "dictionary",
        "bnmt",
        "wnmt",
        "wmt16",
        "oracle",
        "control",
        "adapt",
        "adapt-fixed",
        "umd-adaptation",
        "out-of-domain",
        "critic",
        "smt",
        "smt-oracle",
        "smt-split",
        "smt-split-oracle",
        "adapting-smt",
        "references",
        "context-base",
        "concat",
        "s-hier-to-2-tied",
        "cadec",
    ]


def test_only_oracles_need_references():
    needing = [model for model in SEED_MODELS if model.needs_references]
    assert needing == [BNMT_ORACLE, SMT_ORACLE, SMT_SPLIT_ORACLE, REFERENCES]


def test_requirements_come_before_the_models_that_need_them():
    assert with_requirements([BNMT_ORACLE]) == [BNMT, BNMT_ORACLE]
    assert with_requirements([BNMT_CONTROL, WNMT]) == [DICTIONARY, BNMT, WNMT, BNMT_CONTROL]
    assert with_requirements([SMT_ORACLE, SMT, DICTIONARY]) == [DICTIONARY, SMT, SMT_ORACLE]
    assert with_requirements([ADAPT_FIXED]) == [ADAPT, ADAPT_FIXED]
    assert with_requirements(reversed(SEED_MODELS)) == list(SEED_MODELS)


def test_the_control_is_trained_at_the_rate_and_dropout_of_our_learners():
    config = BNMT_CONTROL.adapt_config(PretrainingConfig())
    assert config.learning_rate == EL_VALUE.optimiser.learning_rate == 3e-4
    assert config.dropout == EL_VALUE.dropout == 0.1


@pytest.mark.parametrize(("pretrained", "bound", "steps"), [(30, None, 30), (30, 20, 20), (30, 90, 30), (None, 20, 20)])
def test_the_control_is_trained_for_as_many_steps_as_its_seed_model(pretrained, bound, steps, tmp_path):
    store, seed = ModelStore(tmp_path), tiny.translator()
    seed.training_steps = pretrained
    seed.save(store.path(BNMT))
    config = PretrainingConfig(max_steps=bound, validate_every=10, held_out=10)
    train_missing(store, [BNMT_CONTROL], tiny.TEXTS, settings=tiny.SETTINGS, pretraining=config)
    assert store.load(BNMT_CONTROL).training_steps == steps


def test_the_control_of_an_earlier_versions_model_needs_a_number_of_steps(tmp_path):
    store, seed = ModelStore(tmp_path), tiny.translator()
    seed.training_steps = None
    seed.save(store.path(BNMT))
    with pytest.raises(TrainingError, match="did not record its number of steps: give --steps"):
        train_missing(store, [BNMT_CONTROL], tiny.TEXTS, settings=tiny.SETTINGS)


def test_the_third_party_has_read_long_sentences_and_parts_of_them(monkeypatch, tmp_path):
    given: dict[str, Any] = {}

    def train(_translator, pairs, _config, *, augment, **_):
        given.update(pairs=pairs, parts=augment(pairs))
        raise InterruptedError

    monkeypatch.setattr("learners.seed_models.neural.new_translator", lambda *_, **__: None)
    monkeypatch.setattr("learners.seed_models.neural.train", train)
    words = [range(n, n + 12) for n in range(9)]
    long = [(" ".join(f"wort{k}" for k in each), " ".join(f"word{k}" for k in each)) for each in words]
    with pytest.raises(InterruptedError):
        train_missing(ModelStore(tmp_path), [WMT16], TrainingTexts([*tiny.TEXTS.out_of_domain, *long]))
    assert given["pairs"] == long
    assert given["parts"]
    assert all(any(part in source for source, _ in long) for part, _ in given["parts"])
