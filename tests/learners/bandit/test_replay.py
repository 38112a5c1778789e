"""A memory of good rounds."""

import numpy as np
import pytest

from learners.bandit.replay import Experience, ReplayBuffer


def filled(count, capacity=3):
    memory = ReplayBuffer(capacity)
    for number in range(count):
        memory.hold(Experience(f"s{number}", [number, 1], 0.5))
    memory.settle()
    return memory


def drawn(memory, count, seed=0):
    return [one.source for one in memory.draw(count, np.random.default_rng(seed))]


def test_the_oldest_is_forgotten():
    assert sorted(drawn(filled(5), 3)) == ["s2", "s3", "s4"]


def test_nothing_is_drawn_twice_and_no_more_than_there_is():
    assert sorted(drawn(filled(2), 8)) == ["s0", "s1"]
    assert drawn(filled(0), 8) == []


def test_what_is_held_back_is_not_drawn_before_it_has_settled():
    memory = filled(1)
    memory.hold(Experience("new", [2], 0.1))
    assert drawn(memory, 8) == ["s0"]
    assert [one.source for one in memory.fresh] == ["new"]
    memory.settle()
    assert sorted(drawn(memory, 8)) == ["new", "s0"]
    assert memory.fresh == []


def test_it_goes_on_where_it_was_saved():
    first, second = filled(4), ReplayBuffer(3)
    first.hold(Experience("held", [3], 0.2))
    second.load(first.save())
    for memory in (first, second):
        memory.hold(Experience("new", [2], 0.1))
        memory.settle()
    assert drawn(second, 2) == drawn(first, 2)
    assert len(second) == 3


def test_a_memory_holds_something():
    with pytest.raises(ValueError, match="one experience or more"):
        ReplayBuffer(0)
