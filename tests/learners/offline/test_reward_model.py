"""The reward model: it learns which words earn rewards, and says how much it explains."""

import pytest

from learners.offline.logged_round import LogError, LoggedRound
from learners.offline.reward_model import RewardModel

WORDS = ("rot", "blau", "seil", "decke", "neu")
GOOD, BAD = {"rot": "red", "blau": "blue", "seil": "rope", "decke": "blanket", "neu": "new"}, "thing"


def log(count=300):
    """Return rounds in which each right word earns its share of the reward."""
    rounds = []
    for number in range(count):
        sources = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 2, 3)]
        written = [GOOD[word] if (number >> place) % 2 else BAD for place, word in enumerate(sources)]
        reward = sum(text != BAD for text in written) / len(written)
        rounds.append(LoggedRound(f"{' '.join(sources)} {number % 50}", " ".join(written), reward))
    return rounds


def test_it_prefers_the_translation_with_more_right_words():
    model = RewardModel.fit(log())
    right, half, wrong = model.predict("rot seil neu", ["red rope new", "red thing new", "thing thing thing"]).tolist()
    assert right > half > wrong
    assert model.explained > 0.5


def test_predictions_are_rewards():
    predicted = RewardModel.fit(log()).predict("rot", ["red " * 50, "", "x"])
    assert all(0 <= value <= 1 for value in predicted.tolist())
    assert RewardModel.fit(log()).predict("rot", []).tolist() == []


def test_rewards_without_a_pattern_are_predicted_by_their_mean():
    same = [LoggedRound(f"w{number} x", "y", 0.25) for number in range(50)]
    model = RewardModel.fit(same)
    assert model.predict("anything", ["at all"]).tolist() == pytest.approx([0.25])
    assert model.explained == 0


def test_the_same_log_and_seed_give_the_same_model():
    first, second = (RewardModel.fit(log(80), seed=3).predict("rot neu", ["red new"]).item() for _ in range(2))
    assert first == second


def test_one_round_is_too_little():
    with pytest.raises(LogError, match="a reward model needs at least 2 logged rounds, but there are 1"):
        RewardModel.fit(log(1))
