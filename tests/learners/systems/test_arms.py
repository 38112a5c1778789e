"""ARMS in the registry: any set of systems as a setting, and an exact resume with members that learn."""

import pytest

from learners.contract import Feedback, Sentence, as_proposal
from learners.errors import SettingError, UnknownSystemError
from learners.systems.registry import SYSTEMS, find_system
from learners.systems.system import System
from tests.learners import tiny

ARMS = [name for name in SYSTEMS if name.startswith("ARMS-")]
MEMBERS = "SMT-EL-CV-ADAM,BNMT-EL-VALUE,copy-source"


def with_members(name: str, members: str) -> System:
    return find_system(name).with_settings({"systems": members})


def play(learner, rounds):
    proposed = []
    for source, target in rounds:
        sentence = Sentence(source)
        proposed.append(as_proposal(learner.propose(sentence)).translation)
        learner.update(sentence, proposed[-1], Feedback(1.0 if proposed[-1] == target else 0.2))
    return proposed


@pytest.mark.parametrize("name", ARMS)
def test_a_registered_system_is_what_its_default_members_make_of_it(name):
    registered = find_system(name)
    assert registered.with_settings({}) == registered
    assert {model.name for model in registered.seed_models} == {"smt", "bnmt"}
    assert registered.stochastic == (name == "ARMS-THOMPSON")


def test_members_decide_on_seed_models_randomness_control_and_feedback():
    arms = with_members("ARMS-UCB1", "BNMT-EL-VALUE,BNMT-REPLAY,copy-source")
    assert [model.name for model in arms.seed_models] == ["bnmt"]
    assert arms.stochastic
    assert arms.control == "BNMT-sampling"
    assert not arms.needs_post_edits
    assert with_members("ARMS-LINEAR", "ADAPT-none,ADAPT-full").needs_post_edits


def test_members_are_part_of_the_identity_of_a_run(store):
    identity = with_members("ARMS-LINEAR", "copy-source,word-for-word").identity(store, 3)
    assert identity["setting systems"] == "copy-source,word-for-word"
    assert identity["seed"] == 1  # nothing is random
    assert "model dictionary" in identity


@pytest.mark.parametrize(
    ("members", "error", "complaint"),
    [
        ("SMT-static", SettingError, "systems must be two or more different ones, not 'SMT-static'"),
        ("SMT-static,SMT-static", SettingError, "two or more different ones"),
        ("SMT-static,nothing", UnknownSystemError, "there is no system 'nothing'"),
        ("SMT-static,ARMS-UCB1", SettingError, "ARMS-LINEAR cannot play ARMS-UCB1, which chooses among systems itself"),
        ("SMT-static,BNMT-oracle", SettingError, "ARMS-LINEAR cannot play BNMT-oracle, which sees references"),
    ],
)
def test_impossible_members_are_refused(members, error, complaint):
    with pytest.raises(error, match=complaint):
        with_members("ARMS-LINEAR", members)


@pytest.mark.parametrize("setting", [("discount", "0.4"), ("discount", "1.1"), ("systems", "")])
def test_impossible_settings_are_refused(setting):
    with pytest.raises(SettingError, match=setting[0]):
        find_system("ARMS-THOMPSON").with_settings(dict([setting]))


@pytest.mark.parametrize("name", ARMS)
def test_a_run_with_members_that_learn_is_resumed_exactly(name, store):
    system, rounds = with_members(name, MEMBERS), tiny.sentences(40, seed=3)
    undisturbed = system.new_learner(store, 1)
    expected = play(undisturbed, rounds)
    first, second = system.new_learner(store, 1), system.new_learner(store, 1)
    begun = play(first, rounds[:25])
    second.load(first.save())
    assert begun + play(second, rounds[25:]) == expected
    final, same = undisturbed.save(), second.save()
    assert {key: array.tolist() for key, array in same.arrays.items()} == {
        key: array.tolist() for key, array in final.arrays.items()
    }
