"""A baseline that learns which sources earn much."""

from copy import deepcopy

import numpy as np
import pytest

from learners.bandit.value import SourceValue

HARD, EASY = "die neue decke", "xk-77 147 cm"


def worth(value, source):
    """The reward that is expected of a source."""
    return 0.5 - deepcopy(value).advantage(source, 0.5)


def test_the_first_reward_is_compared_with_nothing():
    assert SourceValue().advantage("a b", 0.7) == 0


def test_it_learns_which_sources_earn_much():
    value = SourceValue()
    for _ in range(50):
        value.advantage(HARD, 0.1)
        value.advantage(EASY, 0.9)
    assert worth(value, HARD) == pytest.approx(0.1, abs=0.02)
    assert worth(value, EASY) == pytest.approx(0.9, abs=0.02)
    assert worth(value, "xk-77 200 cm") > 0.6  # its words are known


def test_a_source_of_unknown_words_is_worth_the_mean():
    value = SourceValue()
    for reward in (0.2, 0.4):
        value.advantage(HARD, reward)
    assert worth(value, "ganz anders formuliert hier") == pytest.approx(0.3)


def test_it_explains_rewards_that_depend_on_the_source():
    rng, value = np.random.default_rng(3), SourceValue()
    words = {f"w{number}": rng.uniform(0.1, 0.9) for number in range(40)}
    rewards, errors = [], []
    for _ in range(3_000):
        drawn = rng.choice(list(words), size=3)
        reward = float(np.clip(np.mean([words[word] for word in drawn]) + rng.normal(0, 0.05), 0, 1))
        errors.append(value.advantage(" ".join(drawn), reward))
        rewards.append(reward)
    assert np.var(errors[1_000:]) < 0.5 * np.var(rewards[1_000:])


def test_it_stays_a_reward():
    value = SourceValue()
    for _ in range(30):
        value.advantage(EASY, 1.0)
        value.advantage(HARD, 0.0)
    assert 0 <= worth(value, HARD) < worth(value, EASY) <= 1


def test_it_goes_on_where_it_was_saved():
    first, second = SourceValue(), SourceValue()
    for reward in (0.2, 0.8, 0.5):
        first.advantage(HARD, reward)
    second.load(first.save())
    assert [second.advantage(s, 0.4) for s in (HARD, EASY)] == [first.advantage(s, 0.4) for s in (HARD, EASY)]
