"""Seed models: made once, in an order in which they can be made."""

import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learners.errors import LearnerError, SnapshotError
from learners.nmt.transformer import TransformerModel
from learners.seed_models import NETWORKS, TRAINED_ON, Architecture, Build, SeedModel, Shelf, Size, Texts
from learners.snapshot import Snapshot
from learners.systems import find_system
from tests.learners import tiny


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tiny.shelf(tmp_path_factory.mktemp("shelf"))


def test_everything_is_made_and_nothing_unfinished_is_left(shelf):
    assert sorted(path.name for path in shelf.folder.iterdir()) == sorted(
        ["lock", *(f"{model}.model" for model in SeedModel)]
    )


def test_the_oracle_goes_on_from_the_subword_model(shelf):
    seed, oracle = shelf.translator(SeedModel.BNMT), shelf.translator(SeedModel.ORACLE)
    assert oracle.config == seed.config
    assert oracle.vector.tolist() != seed.vector.tolist()


def test_the_control_goes_on_from_it_too_but_gently(shelf):
    seed, oracle, control = (shelf.translator(model).vector for model in (SeedModel.BNMT, *TRAINED_ON))
    assert 0 < (control - seed).norm() < (oracle - seed).norm()


def test_the_third_partys_model_is_an_ensemble_of_four(shelf):
    translator = shelf.translator(SeedModel.WMT16)
    assert len(translator.ensemble_members) + 1 == 4
    assert translator.beam("rot seil", 12).text


def test_the_third_party_has_read_long_sentences_and_parts_of_them(monkeypatch, tmp_path):
    given: dict[str, Any] = {}

    def read(_translator, pairs, _schedule, *, augment, **_):
        given.update(pairs=pairs, parts=augment(pairs))
        raise InterruptedError

    monkeypatch.setattr("learners.seed_models.new_translator", lambda *_, **__: None)
    monkeypatch.setattr("learners.seed_models.train", read)
    words = [range(n, n + 12) for n in range(9)]
    long = [(" ".join(f"wort{k}" for k in each), " ".join(f"word{k}" for k in each)) for each in words]
    with pytest.raises(InterruptedError):
        Shelf(tmp_path).make([SeedModel.WMT16], Texts([*tiny.TEXTS.out_of_domain, *long]))
    assert given["pairs"] == long
    assert given["parts"]
    assert all(any(part in source for source, _ in long) for part, _ in given["parts"])


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
    Shelf(tmp_path).make([model], tiny.TEXTS, build=Build(Size.TINY))
    assert given["tuning"] == tiny.TEXTS.out_of_domain[180:]  # at most a tenth
    assert given["training"] == [*tiny.TEXTS.out_of_domain[:180], *more]


def test_each_translator_is_a_copy(shelf):
    first, second = (shelf.translator(SeedModel.BNMT) for _ in range(2))
    first.vector.data.zero_()
    assert second.vector.abs().sum() > 0


def test_what_is_there_is_not_made_again(shelf):
    made = []

    def report(model, _progress):
        made.append(model)

    assert not shelf.make(list(SeedModel), tiny.TEXTS, build=Build(Size.TINY), report=report)
    assert made == []


@pytest.mark.parametrize("model", [SeedModel.BNMT, SeedModel.WNMT, SeedModel.WMT16, *TRAINED_ON])
def test_networks_of_another_size_are_not_taken_for_what_is_wanted(shelf, model):
    complaint = rf"the seed model {'bnmt' if model in TRAINED_ON else model} in .* is of size tiny, not small: "
    with pytest.raises(LearnerError, match=complaint):
        shelf.make([model], tiny.TEXTS, build=Build(Size.SMALL))


def test_nor_are_networks_of_another_architecture(shelf):
    transformers = Build(Size.TINY, Architecture.TRANSFORMER)
    complaint = "is of architecture gru, not transformer: choose another folder, or --architecture gru"
    with pytest.raises(LearnerError, match=complaint):
        shelf.make([SeedModel.WNMT], tiny.TEXTS, build=transformers)


def test_transformers_can_be_had_in_place_of_gated_networks(tmp_path):
    made = Shelf(tmp_path)
    networks = [SeedModel.BNMT, SeedModel.WNMT, SeedModel.WMT16]
    transformers = Build(Size.TINY, Architecture.TRANSFORMER)
    made.make(networks, tiny.TEXTS, build=transformers, schedule=replace(tiny.SCHEDULE, steps=8, validate_every=2))
    for model in networks:
        assert isinstance(made.translator(model).model, TransformerModel)
    learner = find_system("BNMT-EL-VALUE").learner(made, 1)
    for source, _ in tiny.sentences(9):
        learner.update(source, learner.propose(source), 0.5)


def test_every_build_has_every_network():
    for build, recipes in NETWORKS.items():
        assert list(recipes) == [SeedModel.BNMT, SeedModel.WNMT, SeedModel.WMT16]
        assert {recipe.architecture for recipe in recipes.values()} == {build.architecture}
    assert len(NETWORKS) == len(Size) * len(Architecture)


def test_the_published_networks_are_as_published():
    """Cards B7 and B8."""
    published = NETWORKS[Build(Size.PAPER)]
    for recipe in published.values():
        assert (recipe.embedding, recipe.encoder, recipe.decoder) == (500, 1_024, 1_024)
        assert (recipe.learning_rate, recipe.beta2, recipe.inverse_sqrt, recipe.dropout) == (1e-4, 0.999, False, 0.2)
        assert recipe.max_source == 50
    assert [recipe.vocabulary_size for recipe in published.values()] == [30_000, 30_000, 89_500]


def test_what_has_no_size_is_of_any(shelf):
    sizeless = [SeedModel.DICTIONARY, SeedModel.SMT, SeedModel.SMT_ORACLE]
    assert shelf.make(sizeless, tiny.TEXTS, build=Build(Size.PAPER)) == []


def test_two_at_once_make_it_once(monkeypatch, tmp_path):
    arrived, learned, made = threading.Semaphore(0), [], []

    def make():
        made.append(Shelf(tmp_path).make([SeedModel.DICTIONARY], tiny.TEXTS))

    second = threading.Thread(target=make)

    @contextmanager
    def notice(line):
        assert "another process is making seed models" in line
        arrived.release()
        yield

    def learn(_pairs):
        learned.append(tiny.WORDS)
        second.start()
        assert all(arrived.acquire(timeout=300) for _ in range(2)), "the second does not wait for its turn"
        return tiny.WORDS

    monkeypatch.setattr("learners.seed_models.notice_if_slow", notice)
    monkeypatch.setattr("learners.seed_models.learn_dictionary", learn)
    make()
    second.join()
    assert learned == [tiny.WORDS]
    assert made == [[SeedModel.DICTIONARY], []]


def test_what_is_needed_is_made_too(tmp_path):
    made = []
    returned = Shelf(tmp_path).make(
        [SeedModel.ORACLE],
        tiny.TEXTS,
        build=Build(Size.TINY),
        schedule=tiny.SCHEDULE,
        report=lambda model, progress: made.append((model.value, progress and progress.step)),
    )
    steps = [25, 50, 75, 100, None]
    assert returned == [SeedModel.BNMT, SeedModel.ORACLE]
    assert made == [("bnmt", 0), *((model, step) for model in ("bnmt", "oracle") for step in steps)]


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(LearnerError, match=r"no seed model bnmt in .*: make it with banditmt pretrain"):
        Shelf(tmp_path).translator(SeedModel.BNMT)


@pytest.mark.parametrize("model", [SeedModel.DICTIONARY, SeedModel.SMT, SeedModel.BNMT])
def test_a_damaged_model_is_not_kept_as_if_it_were_whole(model, shelf, tmp_path):
    whole = (shelf.folder / f"{model}.model").read_bytes()
    (tmp_path / f"{model}.model").write_bytes(whole[:-9])
    with pytest.raises(SnapshotError, match=r"; remove it, and banditmt pretrain makes it again"):
        Shelf(tmp_path).make([model], tiny.TEXTS, build=Build(Size.TINY))


def test_a_training_that_cannot_go_on_can_begin_again(tmp_path):
    unfinished = tmp_path / "bnmt.training"
    unfinished.mkdir()
    (unfinished / "training").write_bytes(b"half of it")
    with pytest.raises(SnapshotError, match=r"bnmt.training/training is .*; remove it, and banditmt pretrain makes"):
        Shelf(tmp_path).make([SeedModel.BNMT], tiny.TEXTS, build=Build(Size.TINY), schedule=tiny.SCHEDULE)


def _scrambled(text):
    """Bytes that are no text in place of a common letter."""
    return np.where(text == ord("r"), 255, text).astype(np.uint8)


CHANGES = {
    "companions": lambda snapshot: snapshot.values.update(companions="x"),
    "dictionary": lambda snapshot: snapshot.values.update(lexicon=["a"]),
    "shape": lambda snapshot: snapshot.values["recipe"].update(embedding=-4),
    "vocabulary": lambda snapshot: snapshot.arrays.update(
        source_vocabulary=_scrambled(snapshot.arrays["source_vocabulary"])
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_model_whose_parts_do_not_fit_is_refused(change, shelf, tmp_path):
    """Its checksum fits: somebody has written it so."""
    snapshot = Snapshot.read(shelf.folder / "bnmt.model")
    change(snapshot)
    snapshot.write(tmp_path / "bnmt.model")
    with pytest.raises(SnapshotError, match=r"bnmt.model: .*; remove it, and banditmt pretrain makes it again"):
        Shelf(tmp_path).translator(SeedModel.BNMT)


def test_a_seed_model_is_known_by_the_digest_of_its_file(tmp_path):
    (tmp_path / "bnmt.model").write_bytes(b"abc")
    assert Shelf(tmp_path).digest(SeedModel.BNMT).startswith("ba7816bf8f01cfea414140de5dae2223")  # SHA-256 of "abc"
    with pytest.raises(LearnerError, match="no seed model wnmt"):
        Shelf(tmp_path).digest(SeedModel.WNMT)


def test_a_damaged_model_is_refused_with_what_to_do(shelf, tmp_path):
    whole = (shelf.folder / "bnmt.model").read_bytes()
    (tmp_path / "bnmt.model").write_bytes(whole[:-1])
    with pytest.raises(
        SnapshotError, match=r"bnmt.model is damaged .*; remove it, and banditmt pretrain makes it again"
    ):
        Shelf(tmp_path).translator(SeedModel.BNMT)
