"""Data selection during a run: when it adapts, to what, and that it resumes exactly."""

import pytest

from learners.errors import SnapshotError
from learners.selection.online import OnlineSelectionConfig, OnlineSelectionLearner
from learners.selection.selection import SelectionConfig
from tests.learners import tiny
from tests.learners.rounds import propose, update

SOURCES = list(dict.fromkeys(source for source, _ in tiny.sentences(40, seed=9)))
CONFIG = OnlineSelectionConfig(selection=SelectionConfig(share=0.3), new_sources=8, steps=2)


def learner(config=CONFIG, seed=1):
    return OnlineSelectionLearner(tiny.translator(), tiny.TEXTS.out_of_domain, config, seed=seed)


def play(player, sources, reward=0.5):
    for source in sources:
        update(player, source, propose(player, source), reward)
    return player.save().arrays["vector"].tolist()


def test_it_is_the_seed_model_until_enough_new_sources_were_served():
    player = learner()
    before = player.save().arrays["vector"].tolist()
    assert play(player, SOURCES[:7]) == before
    assert play(player, SOURCES[:7] * 3) == before  # repeats are not new
    assert play(player, SOURCES[7:8]) != before


def test_it_adapts_again_after_as_many_new_sources():
    player = learner()
    first = play(player, SOURCES[:8])
    assert play(player, SOURCES[8:15]) == first
    assert play(player, SOURCES[15:16]) != first


def test_rewards_are_ignored():
    assert play(learner(), SOURCES[:8], reward=0.0) == play(learner(), SOURCES[:8], reward=1.0)


def test_the_seed_changes_the_order_of_training():
    assert play(learner(seed=1), SOURCES[:8]) != play(learner(seed=2), SOURCES[:8])


@pytest.mark.parametrize("rounds", [5, 8, 11])
def test_a_resumed_run_ends_with_the_same_parameters(rounds):
    whole, first, second = learner(), learner(), learner()
    expected = play(whole, SOURCES[:16])
    play(first, SOURCES[:rounds])
    second.load(first.save())
    assert play(second, SOURCES[rounds:16]) == expected


def test_training_makes_the_selected_text_more_probable():
    player = learner(OnlineSelectionConfig(selection=SelectionConfig(share=0.3), new_sources=4, steps=20, dropout=0.0))
    pairs = tiny.sentences(8, seed=9)

    def loss():
        translator = player._translator
        encoded = [(translator.encode_source(source), translator.encode_target(target)) for source, target in pairs]
        return -translator.log_probabilities(*map(list, zip(*encoded, strict=True))).sum().item()

    before = loss()
    play(player, SOURCES[:8])
    assert loss() < before


def test_a_snapshot_of_other_settings_is_refused():
    with pytest.raises(SnapshotError, match="the snapshot is of another learner, or of other settings"):
        learner().load(learner(seed=2).save())
