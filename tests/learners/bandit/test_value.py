"""A baseline that learns the expected reward of each source."""

from copy import deepcopy

import numpy as np
import pytest

from learners.bandit.value import SourceValue

HARD, EASY = "die neue decke", "xk-77 147 cm"


def expected(value, source):
    """Return the reward that is expected of a source."""
    return 0.5 - deepcopy(value).advantage(source, 0.5)


def test_the_first_reward_has_an_advantage_of_0():
    assert SourceValue().advantage("a b", 0.7) == 0


def test_sources_are_told_apart_by_their_words():
    value = SourceValue()
    for _ in range(50):
        value.advantage(HARD, 0.1)
        value.advantage(EASY, 0.9)
    assert expected(value, HARD) == pytest.approx(0.1, abs=0.02)
    assert expected(value, EASY) == pytest.approx(0.9, abs=0.02)
    assert expected(value, "xk-77 200 cm") > 0.6  # its words are known


def test_the_mean_is_expected_of_a_source_of_unknown_words():
    value = SourceValue()
    for reward in (0.2, 0.4):
        value.advantage(HARD, reward)
    assert expected(value, "ganz anders formuliert hier") == pytest.approx(0.3)


def test_half_the_variance_of_source_dependent_rewards_is_explained():
    rng, value = np.random.default_rng(3), SourceValue()
    words = {f"w{number}": rng.uniform(0.1, 0.9) for number in range(40)}
    rewards, errors = [], []
    for _ in range(3_000):
        drawn = rng.choice(list(words), size=3)
        reward = float(np.clip(np.mean([words[word] for word in drawn]) + rng.normal(0, 0.05), 0, 1))
        errors.append(value.advantage(" ".join(drawn), reward))
        rewards.append(reward)
    assert np.var(errors[1_000:]) < 0.5 * np.var(rewards[1_000:])


def test_the_expected_reward_stays_between_0_and_1():
    value = SourceValue()
    for _ in range(30):
        value.advantage(EASY, 1.0)
        value.advantage(HARD, 0.0)
    assert 0 <= expected(value, HARD) < expected(value, EASY) <= 1


def test_a_loaded_baseline_continues_exactly():
    first, second = SourceValue(), SourceValue()
    for reward in (0.2, 0.8, 0.5):
        first.advantage(HARD, reward)
    second.load(first.save())
    assert [second.advantage(s, 0.4) for s in (HARD, EASY)] == [first.advantage(s, 0.4) for s in (HARD, EASY)]
