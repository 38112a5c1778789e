"""The seed models: what each is trained on, what it requires, and its config for each size."""

from typing import Any

import pytest

from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import (
    BNMT,
    BNMT_CONTROL,
    BNMT_ORACLE,
    DICTIONARY,
    SEED_MODELS,
    SMT,
    SMT_ORACLE,
    WMT16,
    WNMT,
    with_requirements,
)
from learners.seed_models.seed_model import Texts
from learners.seed_models.settings import Architecture, BuildSettings, Size
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
        "smt",
        "smt-oracle",
    ]


def test_only_oracles_need_references():
    assert [model for model in SEED_MODELS if model.needs_references] == [BNMT_ORACLE, SMT_ORACLE]


def test_requirements_come_before_the_models_that_need_them():
    assert with_requirements([BNMT_ORACLE]) == [BNMT, BNMT_ORACLE]
    assert with_requirements([BNMT_CONTROL, WNMT]) == [DICTIONARY, BNMT, WNMT, BNMT_CONTROL]
    assert with_requirements([SMT_ORACLE, SMT, DICTIONARY]) == [DICTIONARY, SMT, SMT_ORACLE]
    assert with_requirements(reversed(SEED_MODELS)) == list(SEED_MODELS)


def test_there_is_a_network_for_every_size_and_architecture():
    every = {BuildSettings(size, architecture) for size in Size for architecture in Architecture}
    for model in (BNMT, WNMT, WMT16):
        assert set(model.configs) == every
        for settings, config in model.configs.items():
            assert config.architecture == settings.architecture


def test_the_published_networks_are_as_published():
    """Sokolov et al. 2017, sections 4.2 and 5.2."""
    published = [model.configs[BuildSettings(Size.PAPER)] for model in (BNMT, WNMT, WMT16)]
    for config in published:
        assert (config.embedding, config.encoder, config.decoder) == (500, 1_024, 1_024)
        assert (config.learning_rate, config.beta2, config.inverse_sqrt, config.dropout) == (1e-4, 0.999, False, 0.2)
        assert config.max_source == 50
    assert [config.vocabulary_size for config in published] == [30_000, 30_000, 89_500]


def test_the_names_of_configs_in_model_files_stay():
    """A model of another size or architecture is known by the name of its config."""
    names = {model.name: {config.name for config in model.configs.values()} for model in (BNMT, WNMT, WMT16)}
    assert names == {
        "bnmt": {
            "gru-small-tiny",
            "gru-small",
            "gru-paper",
            "transformer-small-tiny",
            "transformer-small",
            "transformer-base",
        },
        "wnmt": {
            "word-gru-small-tiny",
            "word-gru-small",
            "word-gru-paper",
            "word-transformer-small-tiny",
            "word-transformer-small",
            "word-transformer-base",
        },
        "wmt16": {
            "gru-small-tiny",
            "gru-small-wmt16",
            "gru-paper-wmt16",
            "transformer-small-tiny",
            "transformer-small-wmt16",
            "transformer-base-wmt16",
        },
    }


def test_the_control_is_trained_at_the_rate_and_dropout_of_our_learners():
    config = BNMT_CONTROL.pretraining(PretrainingConfig())
    assert config.learning_rate == EL_VALUE.optimiser.learning_rate == 3e-4
    assert config.dropout == EL_VALUE.dropout == 0.1


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
        train_missing(ModelStore(tmp_path), [WMT16], Texts([*tiny.TEXTS.out_of_domain, *long]))
    assert given["pairs"] == long
    assert given["parts"]
    assert all(any(part in source for source, _ in long) for part, _ in given["parts"])


@pytest.mark.parametrize(("model", "more"), [(SMT, []), (SMT_ORACLE, tiny.TEXTS.in_domain)])
def test_weights_are_tuned_on_the_end_of_the_out_of_domain_text(model, more, monkeypatch, tmp_path):
    given = {}

    class FakeTranslator:
        @staticmethod
        def train(pairs, report):
            given["training"] = pairs
            return FakeTranslator()

        def save(self, path):
            path.touch()

    def mert(_translator, pairs, *_, **__):
        given["tuning"] = pairs

    monkeypatch.setattr("learners.seed_models.statistical.SmtTranslator", FakeTranslator)
    monkeypatch.setattr("learners.seed_models.statistical.mert", mert)
    train_missing(ModelStore(tmp_path), [model], tiny.TEXTS, settings=tiny.SETTINGS)
    assert given["tuning"] == tiny.TEXTS.out_of_domain[180:]  # at most a tenth
    assert given["training"] == [*tiny.TEXTS.out_of_domain[:180], *more]
