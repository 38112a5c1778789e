"""Guards against runaway length and frozen habits."""

import pytest

from learners.bandit.safeguards import SafeguardConfig, Safeguards

GUARDED = SafeguardConfig(
    max_length_ratio=1.2, anchor_rounds=10, min_entropy=0.5, entropy_bonus=0.01, running_mean_decay=0.8
)


def watch(guards, rounds, *, output=5, surprise=1.0):
    for _ in range(rounds):
        guards.observe(source=5, output=output, log_probability=-surprise * output)
    return guards


def test_unguarded_nothing_changes():
    guards = watch(Safeguards(), 1_000, output=50, surprise=0)
    assert guards.allowed(0.3, source=5, output=50) == 0.3
    assert guards.entropy_weight == 0


def test_while_lengths_are_as_at_the_start_all_is_allowed():
    guards = watch(Safeguards(GUARDED), 30)
    assert guards.allowed(0.3, source=5, output=9) == 0.3


def test_when_outputs_have_grown_long_ones_are_no_longer_rewarded():
    guards = watch(watch(Safeguards(GUARDED), 10), 30, output=8)
    assert guards.allowed(0.3, source=5, output=8) == 0
    assert guards.allowed(0.3, source=5, output=5) == 0.3
    assert guards.allowed(-0.3, source=5, output=8) == -0.3
    watch(guards, 30, output=5)
    assert guards.allowed(0.3, source=5, output=8) == 0.3  # they are short again


def test_entropy_is_worth_something_once_there_is_little_left():
    guards = watch(Safeguards(GUARDED), 10, surprise=1.0)
    assert guards.entropy_weight == 0
    watch(guards, 30, surprise=0.1)
    assert guards.entropy_weight == 0.01


def test_the_surprise_is_that_per_token():
    guards = Safeguards(GUARDED)
    guards.observe(source=3, output=4, log_probability=-2.0)
    assert guards.save().values["state"] == [1, pytest.approx(4 / 3), pytest.approx(4 / 3), pytest.approx(0.5)]


def test_it_goes_on_where_it_was_saved():
    first, second = watch(Safeguards(GUARDED), 12, output=7), Safeguards(GUARDED)
    second.load(first.save())
    assert watch(second, 3).save() == watch(first, 3).save()


def test_blame_can_weigh_less_than_praise():
    guards = Safeguards(SafeguardConfig(negative_advantage_weight=0.25))
    assert guards.allowed(-0.4, source=5, output=5) == pytest.approx(-0.1)
    assert guards.allowed(0.4, source=5, output=5) == 0.4
