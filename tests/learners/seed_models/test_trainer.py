"""The trainer: each seed model is trained once, after those that it requires."""

import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from learners.errors import LearnerError, SnapshotError
from learners.nmt.transformer import TransformerModel
from learners.seed_models.catalogue import (
    BNMT,
    BNMT_CONTROL,
    BNMT_ORACLE,
    DICTIONARY,
    OFFLINE_MODELS,
    SEED_MODELS,
    SMT,
    SMT_ORACLE,
    WMT16,
    WNMT,
)
from learners.seed_models.settings import Architecture, BuildSettings, Size
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from learners.systems.registry import find_system
from tests.learners import tiny
from tests.learners.rounds import propose, update


def test_everything_is_trained_and_nothing_unfinished_is_left(store):
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(
        ["lock", *(f"{model}.model" for model in (*SEED_MODELS, *OFFLINE_MODELS))]
    )


def test_the_oracle_is_trained_from_the_subword_model(store):
    seed, oracle = store.load(BNMT), store.load(BNMT_ORACLE)
    assert oracle.config == seed.config
    assert oracle.vector.tolist() != seed.vector.tolist()


def test_the_control_stays_closer_to_the_subword_model_than_the_oracle(store):
    seed, oracle, control = (store.load(model).vector for model in (BNMT, BNMT_ORACLE, BNMT_CONTROL))
    assert 0 < (control - seed).norm() < (oracle - seed).norm()


def test_the_third_partys_model_is_an_ensemble_of_four(store):
    translator = store.load(WMT16)
    assert len(translator.ensemble_members) + 1 == 4
    assert translator.beam("rot seil", 12).text


def test_the_word_model_has_the_dictionary_for_its_unknown_words(store):
    assert store.load(WNMT).lexicon == store.load(DICTIONARY) == tiny.WORDS


def test_statistical_models_are_tuned_and_the_oracle_has_read_both_texts(store):
    seed, oracle = store.load(SMT), store.load(SMT_ORACLE)
    assert abs(seed.weights).sum() == pytest.approx(1)
    assert oracle.model.grammar.rule_count.sum() > seed.model.grammar.rule_count.sum()


def test_existing_models_are_not_trained_again(store):
    trained = []

    def report(model, _progress):
        trained.append(model)

    assert train_missing(store, SEED_MODELS, tiny.TEXTS, settings=tiny.SETTINGS, report=report) == []
    assert trained == []


def test_models_of_other_settings_are_refused(store):
    with pytest.raises(LearnerError, match=r"the seed model bnmt in .* has size tiny, not small: "):
        train_missing(store, [BNMT], tiny.TEXTS, settings=BuildSettings(Size.SMALL))


def test_models_without_a_size_are_kept_whatever_the_settings(store):
    assert train_missing(store, (DICTIONARY, SMT, SMT_ORACLE), tiny.TEXTS, settings=BuildSettings(Size.PAPER)) == []


def test_transformers_can_be_trained_in_place_of_grus(tmp_path):
    store = ModelStore(tmp_path)
    networks = [BNMT, WNMT, WMT16]
    transformers = BuildSettings(Size.TINY, Architecture.TRANSFORMER)
    short = replace(tiny.PRETRAINING, max_steps=8, validate_every=2)
    train_missing(store, networks, tiny.TEXTS, settings=transformers, pretraining=short)
    for model in networks:
        assert isinstance(store.load(model).model, TransformerModel)
    learner = find_system("BNMT-EL-VALUE").new_learner(store, 1)
    for source, _ in tiny.sentences(9):
        update(learner, source, propose(learner, source), 0.5)


def test_two_trainers_at_once_train_a_model_once(monkeypatch, tmp_path):
    arrived, learned, trained = threading.Semaphore(0), [], []

    def train():
        trained.append(train_missing(ModelStore(tmp_path), [DICTIONARY], tiny.TEXTS))

    second = threading.Thread(target=train)

    @contextmanager
    def notice(line):
        assert "another process is training seed models" in line
        arrived.release()
        yield

    def learn(_pairs):
        learned.append(tiny.WORDS)
        second.start()
        assert all(arrived.acquire(timeout=300) for _ in range(2)), "the second does not wait for its turn"
        return tiny.WORDS

    monkeypatch.setattr("learners.seed_models.trainer.notice_if_slow", notice)
    monkeypatch.setattr("learners.seed_models.dictionary.learn_dictionary", learn)
    train()
    second.join()
    assert learned == [tiny.WORDS]
    assert trained == [[DICTIONARY], []]


def test_required_models_are_trained_too(tmp_path):
    reports = []
    trained = train_missing(
        ModelStore(tmp_path),
        [BNMT_ORACLE],
        tiny.TEXTS,
        settings=tiny.SETTINGS,
        pretraining=tiny.PRETRAINING,
        report=lambda model, progress: reports.append((model.name, progress and progress.step)),
    )
    steps = [25, 50, 75, 100, None]
    assert trained == [BNMT, BNMT_ORACLE]
    assert reports == [("bnmt", 0), *((name, step) for name in ("bnmt", "oracle") for step in steps)]


@pytest.mark.parametrize("model", [DICTIONARY, SMT, BNMT], ids=str)
def test_a_damaged_model_is_not_kept_as_if_it_were_whole(model, store, tmp_path):
    whole = (store.folder / f"{model}.model").read_bytes()
    (tmp_path / f"{model}.model").write_bytes(whole[:-9])
    with pytest.raises(SnapshotError, match=r"; remove it, and banditmt pretrain trains it again$"):
        train_missing(ModelStore(tmp_path), [model], tiny.TEXTS, settings=tiny.SETTINGS)


def test_a_training_that_cannot_resume_can_begin_again(tmp_path):
    unfinished = tmp_path / "bnmt.training"
    unfinished.mkdir()
    (unfinished / "training").write_bytes(b"half of it")
    complaint = r"bnmt.training/training is .*[^;]; remove it, and banditmt pretrain trains it again$"
    with pytest.raises(SnapshotError, match=complaint):
        train_missing(ModelStore(tmp_path), [BNMT], tiny.TEXTS, settings=tiny.SETTINGS, pretraining=tiny.PRETRAINING)
