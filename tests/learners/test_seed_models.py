"""Seed models: made once, in an order in which they can be made."""

import pytest

from learners.errors import LearnerError
from learners.seed_models import TRAINED_ON, SeedModel, Shelf, Size
from tests.learners import tiny


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tiny.shelf(tmp_path_factory.mktemp("shelf"))


def test_everything_is_made_and_nothing_unfinished_is_left(shelf):
    assert sorted(path.name for path in shelf.folder.iterdir()) == sorted(f"{model}.model" for model in SeedModel)


def test_the_oracle_goes_on_from_the_subword_model(shelf):
    seed, oracle = shelf.translator(SeedModel.BNMT), shelf.translator(SeedModel.ORACLE)
    assert oracle.recipe == seed.recipe
    assert oracle.vector.tolist() != seed.vector.tolist()


def test_the_control_goes_on_from_it_too_but_gently(shelf):
    seed, oracle, control = (shelf.translator(model).vector for model in (SeedModel.BNMT, *TRAINED_ON))
    assert 0 < (control - seed).norm() < (oracle - seed).norm()


def test_the_third_partys_model_is_an_ensemble_of_four(shelf):
    translator = shelf.translator(SeedModel.WMT16)
    assert len(translator.companions) + 1 == 4
    assert translator.beam("rot seil", 12).text


def test_the_word_model_has_the_dictionary_for_its_unknowns(shelf):
    assert shelf.translator(SeedModel.WNMT).lexicon == shelf.dictionary() == tiny.WORDS


def test_statistical_models_are_tuned_and_the_oracle_has_read_both_texts(shelf):
    seed, oracle = shelf.log_linear(SeedModel.SMT), shelf.log_linear(SeedModel.SMT_ORACLE)
    assert abs(seed.weights).sum() == pytest.approx(1)
    assert oracle.model.grammar.rule_count.sum() > seed.model.grammar.rule_count.sum()


@pytest.mark.parametrize(("model", "more"), [(SeedModel.SMT, []), (SeedModel.SMT_ORACLE, tiny.TEXTS.in_domain)])
def test_weights_are_tuned_on_the_end_of_the_out_of_domain_text(model, more, monkeypatch, tmp_path):
    given = {}

    class Estimated:
        @staticmethod
        def train(pairs, report):
            given["training"] = pairs
            return Estimated()

        def save(self, path):
            path.touch()

    monkeypatch.setattr("learners.seed_models.SmtTranslator", Estimated)
    monkeypatch.setattr("learners.seed_models.mert", lambda _translator, pairs, *_, **__: given.update(tuning=pairs))
    Shelf(tmp_path).make([model], tiny.TEXTS, size=Size.TINY)
    assert given["tuning"] == tiny.TEXTS.out_of_domain[180:]  # at most a tenth
    assert given["training"] == [*tiny.TEXTS.out_of_domain[:180], *more]


def test_each_translator_is_a_copy(shelf):
    first, second = (shelf.translator(SeedModel.BNMT) for _ in range(2))
    first.vector.data.zero_()
    assert second.vector.abs().sum() > 0


def test_what_is_there_is_not_made_again(shelf):
    made = []
    shelf.make(list(SeedModel), tiny.TEXTS, size=Size.TINY, report=lambda model, _: made.append(model))
    assert made == []


def test_what_is_needed_is_made_too(tmp_path):
    made = []
    Shelf(tmp_path).make(
        [SeedModel.ORACLE],
        tiny.TEXTS,
        size=Size.TINY,
        schedule=tiny.SCHEDULE,
        report=lambda model, progress: made.append((model.value, progress and progress.step)),
    )
    steps = [25, 50, 75, 100, None]
    assert made == [("bnmt", 0), *((model, step) for model in ("bnmt", "oracle") for step in steps)]


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(LearnerError, match=r"no seed model bnmt in .*: make it with banditmt pretrain"):
        Shelf(tmp_path).translator(SeedModel.BNMT)
