"""The registry: published names, and what the recipes behind them say."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from learners import systems
from learners.bandit.expected_loss import ExpectedLossLearner
from learners.bandit.gradient import GradientLearner
from learners.bandit.optimiser import Method
from learners.contract import PLACEHOLDER, StaticSystem
from learners.errors import UnknownSystemError
from learners.nmt.static import StaticTranslator
from learners.seed_models import TRAINED_ON, SeedModel, Shelf
from learners.snapshot import Snapshot
from learners.systems import SYSTEMS, find_system
from tests.learners import tiny
from tests.learners.nmt.toys import TINY, tiny_translator

NAMES = [
    "copy-source",
    "word-for-word",
    "BNMT-static",
    "BNMT-beam",
    "BNMT-control",
    "WMT16-static",
    "BNMT-oracle",
    "WNMT-EL",
    "BNMT-EL",
    "BNMT-EL-CV",
    "BNMT-SZO-CV",
    "BNMT-EL-VALUE",
    "BNMT-REPLAY",
    "SMT-static",
    "SMT-oracle",
    "SMT-EL-CV-ADADELTA",
    "SMT-EL-CV-ADAM",
    "SMT-SZO-CV-ADAM",
    "LIMSI-UCB1",
    "LIMSI-UCB1-SAMPLING",
    "LIMSI-UCB1-SELECT",
    "SMT-EL-WORDS",
]
LATE = {"SMT-EL-WORDS"}  # learns where words have more than one translation
SOURCES = [source for source, _ in tiny.sentences(4, seed=8)] + ["xk-77 ☃", "rot " * 300]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tiny.shelf(tmp_path_factory.mktemp("shelf"))


def play(learner):
    proposed = []
    for source in SOURCES:
        proposed.append(learner.propose(source))
        learner.update(source, proposed[-1], 1 / (1 + len(proposed[-1])))
    return proposed


def test_the_papers_names_are_there():
    assert list(SYSTEMS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_system_plays_and_is_what_its_seed_says(name, shelf):
    system = find_system(name)
    proposed = play(system.learner(shelf, 1))
    assert all(text.strip() for text in proposed)
    assert play(system.learner(shelf, 1)) == proposed
    if not system.random:
        assert play(system.learner(shelf, 2)) == proposed


def learned(learner):
    """What a learner changes: its parameters, or its regression."""
    arrays = learner.save().arrays
    return arrays["vector" if "vector" in arrays else "regression/moment"].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_learners_learn_on_a_copy_of_their_seed_model_and_static_systems_save_nothing(name, shelf):
    learner = find_system(name).learner(shelf, 1)
    play(learner)
    play(learner)
    if isinstance(learner, StaticSystem):
        assert learner.save() == Snapshot()
    elif name not in LATE:
        assert learned(learner) != learned(find_system(name).learner(shelf, 1))


def test_the_published_learners_are_set_as_published():
    published = {"WNMT-EL": systems.WNMT_EL, "BNMT-EL": systems.BNMT_EL}
    assert {name: (r.optimiser.method, r.optimiser.learning_rate) for name, r in published.items()} == {
        "WNMT-EL": (Method.SGD, 1e-5),
        "BNMT-EL": (Method.ADAM, 1e-5),
    }
    for recipe in published.values():
        assert (recipe.schedule.temperature, recipe.schedule.start, recipe.dropout) == (1.0, 700_000, 0.5)
        assert (recipe.optimiser.clip_norm, recipe.optimiser.betas, recipe.batch) == (1.0, (0.9, 0.999), 1)


@pytest.mark.parametrize(
    ("name", "variate"),
    [
        ("WNMT-EL", {"kind": "NoControlVariate"}),
        ("BNMT-EL", {"kind": "NoControlVariate"}),
        ("BNMT-EL-CV", {"kind": "RunningMean", "include_current": True}),  # the mean knows the current reward
        ("BNMT-SZO-CV", {"kind": "RunningMean", "include_current": True}),
        ("SMT-EL-CV-ADADELTA", {"kind": "RunningMean", "include_current": True}),
        ("SMT-EL-CV-ADAM", {"kind": "RunningMean", "include_current": True}),
        ("SMT-SZO-CV-ADAM", {"kind": "RunningMean", "include_current": True}),
    ],
)
def test_the_published_learners_compare_rewards_as_published(name, variate, shelf):
    learner = find_system(name).learner(shelf, 1)
    assert isinstance(learner, GradientLearner)
    assert learner._control_variate.identity() == variate


@pytest.mark.parametrize(
    ("name", "beam"),
    [("BNMT-static", 1), ("BNMT-control", 1), ("BNMT-oracle", 1), ("BNMT-beam", 12), ("WMT16-static", 12)],
)
def test_who_searches_with_a_beam(name, beam, shelf):
    learner = find_system(name).learner(shelf, 1)
    assert isinstance(learner, StaticTranslator)
    assert learner._beam == beam


@pytest.mark.parametrize(("trained_with", "learns_with"), [(0.2, 0.5), (0.0, 0.0)])
def test_the_published_dropout_is_for_models_that_know_dropout(trained_with, learns_with):
    translator = tiny_translator(replace(TINY, dropout=trained_with))
    shelf = Mock(Shelf, translator=lambda _model: translator)
    for name in ("WNMT-EL", "BNMT-EL", "BNMT-EL-CV"):
        learner = find_system(name).learner(shelf, 1)
        assert isinstance(learner, ExpectedLossLearner)
        assert learner._config.dropout == learns_with


def test_a_learner_is_known_by_its_system_its_seed_and_its_models(shelf):
    bnmt = shelf.digest(SeedModel.BNMT)
    assert find_system("BNMT-EL").about(shelf, 3) == {"system": "BNMT-EL", "seed": 3, "model bnmt": bnmt}
    assert find_system("copy-source").about(shelf, 3) == {"system": "copy-source", "seed": 1}  # it draws nothing


def test_practice_without_feedback_is_at_our_learners_rate():
    assert TRAINED_ON[SeedModel.CONTROL]["learning_rate"] == systems.EL_VALUE.optimiser.learning_rate == 3e-4
    assert TRAINED_ON[SeedModel.CONTROL]["dropout"] == systems.EL_VALUE.dropout


@pytest.mark.parametrize("name", ["copy-source", "word-for-word"])
@pytest.mark.parametrize("source", ["", "  "])
def test_even_nothing_is_translated(name, source, shelf):
    assert find_system(name).learner(shelf, 1).propose(source) == PLACEHOLDER


def test_unknown_words_are_replaced_in_the_word_model(shelf):
    text = find_system("WNMT-EL").learner(shelf, 1).propose("rot xk-77 seil")
    assert "<unk>" not in text


def test_an_unknown_system_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownSystemError, match="there is no system 'BNMT'; there are copy-source, word-for-word"):
        find_system("BNMT")
