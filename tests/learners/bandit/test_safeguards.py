"""Safeguards against outputs that grow, shrink or loop, and against vanishing entropy."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.bandit.replay import Experience
from learners.bandit.safeguards import SafeguardConfig, Safeguards
from learners.nmt.hypothesis import Hypothesis

GUARDED = SafeguardConfig(
    max_length_ratio=1.2,
    min_length_ratio=0.8,
    anchor_rounds=20,
    length_bands=2,
    exclude_loops=True,
    min_entropy=0.5,
    entropy_bonus=0.01,
    running_mean_decay=0.8,
)
SHORT, LONG = 4, 12  # tokens of sources


def translation(source: int, output: int, *, text: str = "text", entropy: float = 1.0) -> Hypothesis:
    """Return a translation with so many tokens of a source with so many."""
    return Hypothesis([0] * source, [0] * output, text, -entropy * output)


def observe(
    guards: Safeguards, rounds: int, *, short: int = SHORT, long: int = LONG, entropy: float = 1.0
) -> Safeguards:
    """Observe a short and a long source in turn, with outputs of these lengths."""
    for number in range(rounds):
        lengths = (LONG, long) if number % 2 else (SHORT, short)
        guards.observe(translation(*lengths, entropy=entropy))
    return guards


def limited(guards: Safeguards, source: int, output: int) -> float:
    """Return what is left of an advantage of 0.3."""
    return guards.limit(0.3, "source", translation(source, output))


def test_by_default_nothing_is_limited():
    guards = observe(Safeguards(), 1_000, short=1, long=30, entropy=0)
    assert limited(guards, LONG, 30) == 0.3
    assert limited(guards, SHORT, 1) == 0.3
    assert guards.limit(0.3, "source", translation(LONG, 12, text="no no no no")) == 0.3
    assert guards.entropy_weight == 0


def test_advantages_are_kept_while_lengths_are_as_in_the_first_rounds():
    guards = observe(Safeguards(GUARDED), 60)
    for source, output in ((SHORT, 1), (SHORT, 9), (LONG, 2), (LONG, 30)):
        assert limited(guards, source, output) == 0.3


def test_advantages_are_kept_in_the_first_rounds():
    guards = observe(Safeguards(GUARDED), 19, short=1, long=30)
    assert limited(guards, LONG, 30) == limited(guards, SHORT, 1) == 0.3


def test_long_outputs_have_no_positive_advantage_while_outputs_of_such_sources_are_too_long():
    guards = observe(observe(Safeguards(GUARDED), 20), 40, long=18)
    assert limited(guards, LONG, 18) == 0
    assert limited(guards, LONG, 13) == 0
    assert limited(guards, LONG, 12) == 0.3  # no longer than in the first rounds
    assert limited(guards, SHORT, 8) == 0.3  # of short sources, outputs have not grown
    assert guards.limit(-0.3, "source", translation(LONG, 18)) == -0.3
    observe(guards, 40)
    assert limited(guards, LONG, 18) == 0.3  # outputs are short again


def test_short_outputs_have_no_positive_advantage_while_outputs_of_such_sources_are_too_short():
    guards = observe(observe(Safeguards(GUARDED), 20), 40, short=2)
    assert limited(guards, SHORT, 2) == 0
    assert limited(guards, SHORT, 3) == 0
    assert limited(guards, SHORT, 4) == 0.3
    assert limited(guards, LONG, 6) == 0.3
    assert guards.limit(-0.3, "source", translation(SHORT, 2)) == -0.3
    observe(guards, 40)
    assert limited(guards, SHORT, 2) == 0.3


def test_a_mean_over_all_sources_would_hide_short_ones_that_shrink_and_long_ones_that_grow():
    over_all = SafeguardConfig(
        max_length_ratio=1.2, min_length_ratio=0.8, anchor_rounds=20, length_bands=1, running_mean_decay=0.99
    )
    for config, expected in ((over_all, 0.3), (GUARDED, 0.0)):
        guards = observe(observe(Safeguards(config), 20), 40, short=2, long=24)  # half as long, and twice as long
        assert limited(guards, LONG, 24) == expected
        assert limited(guards, SHORT, 2) == expected


@pytest.mark.parametrize(("max_length_ratio", "expected"), [(None, 0.3), (2.1, 0.3), (1.9, 0.0)])
def test_the_limit_is_a_ratio_of_lengths(max_length_ratio, expected):
    config = SafeguardConfig(max_length_ratio=max_length_ratio, anchor_rounds=10, running_mean_decay=0.5)
    guards = observe(observe(Safeguards(config), 10), 200, short=8, long=24)
    assert limited(guards, LONG, 24) == expected


def bands(lengths: list[int], count: int) -> list[int]:
    """Return the longest source of each band after these first rounds."""
    guards = Safeguards(SafeguardConfig(anchor_rounds=len(lengths), length_bands=count))
    for length in lengths:
        guards.observe(translation(length, length))
    return [band[0] for band in guards.save().values["bands"]]


def test_each_band_has_its_share_of_the_first_rounds():
    assert bands([3, 1, 2, 5, 4, 6], 3) == [2, 4, 6]
    assert bands([1, 1, 1, 1, 2, 9], 3) == [1, 9]  # a length is not split
    assert bands([1, 1, 2, 2, 2, 9], 3) == [1, 2]  # and the rest joins the last band
    assert bands([7, 7, 7], 5) == [7]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 6))
def test_no_band_has_less_than_its_share(lengths, count):
    ends = bands(lengths, count)
    assert ends == sorted(set(ends))
    assert 1 <= len(ends) <= count
    lower = 0
    for upper in [*ends[:-1], max(lengths)]:
        assert sum(lower < length <= upper for length in lengths) >= len(lengths) / count
        lower = upper


def test_a_length_that_the_first_rounds_did_not_have_belongs_to_the_nearest_longer_band_or_to_the_last():
    guards = observe(observe(Safeguards(GUARDED), 20), 40, long=18)
    assert limited(guards, LONG - 5, 14) == 0
    assert limited(guards, LONG + 5, 30) == 0
    assert limited(guards, SHORT - 1, 7) == 0.3


def test_a_loop_has_no_positive_advantage():
    guards = Safeguards(GUARDED)
    loop = translation(SHORT, 9, text="red red red red")
    assert guards.limit(0.3, "rot", loop) == 0
    assert guards.limit(0.3, "rot rot rot rot", loop) == 0.3  # as often as in the source
    assert guards.limit(-0.3, "rot", loop) == -0.3


def test_earlier_experiences_are_not_replayed_while_they_add_to_the_drift():
    guards = Safeguards(GUARDED)
    stored = [Experience([0] * LONG, [0] * output, 0.5) for output in (18, 12)]
    assert guards.without_drift(stored) == stored
    observe(observe(guards, 20), 40, long=18)
    assert guards.without_drift(stored) == stored[1:]


def test_the_entropy_bonus_starts_when_the_entropy_is_low():
    guards = observe(Safeguards(GUARDED), 10, entropy=1.0)
    assert guards.entropy_weight == 0
    observe(guards, 30, entropy=0.1)
    assert guards.entropy_weight == 0.01


def test_a_snapshot_has_means_of_entropy_per_token_and_of_log_ratios():
    guards = Safeguards(SafeguardConfig(anchor_rounds=2, length_bands=1, running_mean_decay=0.75))
    guards.observe(translation(3, 6, entropy=0.5))
    assert guards.save().values == {
        "rounds": 1,
        "entropy": 0.5,
        "first": [[3, pytest.approx(0.693147, abs=1e-6)]],
        "bands": [],
    }
    guards.observe(translation(5, 5, entropy=1.0))
    guards.observe(translation(5, 20, entropy=0.75))
    assert guards.save().values == {
        "rounds": 3,
        "entropy": pytest.approx(0.75),
        "first": [],
        # The anchor is half of log 2. The running mean goes a quarter of the way to log 4.
        "bands": [[5, pytest.approx(0.346574, abs=1e-6), pytest.approx(0.606504, abs=1e-6)]],
    }


@pytest.mark.parametrize("rounds", [7, 19, 20, 33])
def test_loaded_safeguards_continue_exactly(rounds):
    first, second = observe(Safeguards(GUARDED), rounds, long=17), observe(Safeguards(GUARDED), 40)
    saved = first.save()
    second.load(saved)
    assert second.save() == saved
    observe(second, 30, short=3)
    assert second.save() == observe(first, 30, short=3).save()
    third = Safeguards(GUARDED)
    third.load(saved)  # which later rounds have not changed
    assert third.save() == saved


def test_negative_advantages_can_weigh_less():
    guards = Safeguards(SafeguardConfig(negative_advantage_weight=0.25))
    assert guards.limit(-0.4, "source", translation(5, 5)) == pytest.approx(-0.1)
    assert guards.limit(0.4, "source", translation(5, 5)) == 0.4


OUTPUTS: Any = st.builds(translation, st.integers(1, 15), st.integers(1, 40), text=st.sampled_from(["a b", "a a a a"]))


@given(st.lists(OUTPUTS, max_size=80), OUTPUTS, st.floats(-1, 1))
def test_an_advantage_is_kept_or_ignored_if_positive_and_weighted_if_negative(observed, output, advantage):
    guards = Safeguards(SafeguardConfig(1.1, 0.9, anchor_rounds=10, exclude_loops=True, negative_advantage_weight=0.3))
    for one in observed:
        guards.observe(one)
    found = guards.limit(advantage, "s", output)
    assert found in ((0.0, advantage) if advantage > 0 else (0.3 * advantage,))
    if advantage > 0:  # the scale of an advantage does not decide
        assert guards.limit(advantage / 2, "s", output) == found / 2


@given(st.lists(OUTPUTS, max_size=80), st.integers(1, 15))
def test_lengths_that_are_ignored_are_the_longest_or_the_shortest(observed, source):
    guards = Safeguards(SafeguardConfig(1.1, 0.9, anchor_rounds=10))
    for one in observed:
        guards.observe(one)
    ignored = [length for length in range(1, 41) if limited(guards, source, length) == 0]
    assert ignored in (list(range(1, len(ignored) + 1)), list(range(41 - len(ignored), 41)))
