"""Statistical seed models: what is trained on, and what is tuned on."""

import pytest

from learners.seed_models.catalogue import SMT, SMT_ORACLE
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from tests.learners import tiny


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
