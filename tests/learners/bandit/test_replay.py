"""A replay buffer keeps the last experiences, and samples only committed ones."""

import numpy as np
import pytest

from learners.bandit.replay import Experience, ReplayBuffer


def filled(count, capacity=3):
    buffer = ReplayBuffer(capacity)
    for number in range(count):
        buffer.add(Experience([number], [number, 1], 0.5))
    buffer.commit()
    return buffer


def sampled(buffer, count, seed=0):
    return [one.source[0] for one in buffer.sample(count, np.random.default_rng(seed))]


def test_a_new_experience_replaces_the_oldest():
    assert sorted(sampled(filled(5), 3)) == [2, 3, 4]


def test_experiences_are_sampled_at_most_once():
    assert sorted(sampled(filled(2), 8)) == [0, 1]
    assert sampled(filled(0), 8) == []


def test_pending_experiences_are_not_sampled_before_they_are_committed():
    buffer = filled(1)
    buffer.add(Experience([90], [2], 0.1))
    assert sampled(buffer, 8) == [0]
    assert [one.source for one in buffer.pending] == [[90]]
    buffer.commit()
    assert sorted(sampled(buffer, 8)) == [0, 90]
    assert buffer.pending == []


def test_a_loaded_buffer_continues_exactly():
    first, second = filled(4), ReplayBuffer(3)
    first.add(Experience([80], [3], 0.2))
    second.load(first.save())
    for buffer in (first, second):
        buffer.add(Experience([90], [2], 0.1))
        buffer.commit()
    assert sampled(second, 2) == sampled(first, 2)
    assert len(second) == 3


def test_a_capacity_of_0_is_refused():
    with pytest.raises(ValueError, match="a capacity of at least 1"):
        ReplayBuffer(0)
