"""Safeguards against growing outputs and vanishing entropy."""

import pytest

from learners.bandit.safeguards import SafeguardConfig, Safeguards

GUARDED = SafeguardConfig(
    max_length_ratio=1.2, anchor_rounds=10, min_entropy=0.5, entropy_bonus=0.01, running_mean_decay=0.8
)


def observe(guards, rounds, *, output=5, entropy=1.0):
    for _ in range(rounds):
        guards.observe(source_length=5, output_length=output, log_probability=-entropy * output)
    return guards


def test_by_default_nothing_is_limited():
    guards = observe(Safeguards(), 1_000, output=50, entropy=0)
    assert guards.limit(0.3, source_length=5, output_length=50) == 0.3
    assert guards.entropy_weight == 0


def test_advantages_are_kept_while_lengths_are_as_in_the_first_rounds():
    guards = observe(Safeguards(GUARDED), 30)
    assert guards.limit(0.3, source_length=5, output_length=9) == 0.3


def test_long_outputs_have_no_positive_advantage_while_outputs_are_too_long():
    guards = observe(observe(Safeguards(GUARDED), 10), 30, output=8)
    assert guards.limit(0.3, source_length=5, output_length=8) == 0
    assert guards.limit(0.3, source_length=5, output_length=5) == 0.3
    assert guards.limit(-0.3, source_length=5, output_length=8) == -0.3
    observe(guards, 30, output=5)
    assert guards.limit(0.3, source_length=5, output_length=8) == 0.3  # outputs are short again


def test_the_entropy_bonus_starts_when_the_entropy_is_low():
    guards = observe(Safeguards(GUARDED), 10, entropy=1.0)
    assert guards.entropy_weight == 0
    observe(guards, 30, entropy=0.1)
    assert guards.entropy_weight == 0.01


def test_length_ratio_and_entropy_per_token():
    guards = Safeguards(GUARDED)
    guards.observe(source_length=3, output_length=4, log_probability=-2.0)
    assert guards.save().values["state"] == [1, pytest.approx(4 / 3), pytest.approx(4 / 3), pytest.approx(0.5)]


def test_loaded_safeguards_continue_exactly():
    first, second = observe(Safeguards(GUARDED), 12, output=7), Safeguards(GUARDED)
    second.load(first.save())
    assert observe(second, 3).save() == observe(first, 3).save()


def test_negative_advantages_can_weigh_less():
    guards = Safeguards(SafeguardConfig(negative_advantage_weight=0.25))
    assert guards.limit(-0.4, source_length=5, output_length=5) == pytest.approx(-0.1)
    assert guards.limit(0.4, source_length=5, output_length=5) == 0.4
