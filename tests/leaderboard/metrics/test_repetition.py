"""Repetition rate: worked numbers in both window policies, and a count from first principles."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.repetition import RepetitionCounts, WindowPolicy, repetition_counts, repetition_signature

MANUAL = "press the red button then press the red button again and press the red button"


def test_one_window():
    counts = repetition_counts([MANUAL], window=15)
    assert counts == RepetitionCounts((4, 3, 2, 1), (7, 8, 9, 10), windows=1)
    assert counts.rate == pytest.approx(0.262691, abs=5e-7)


def test_a_text_shorter_than_the_window_is_one_window():
    assert repetition_counts([MANUAL]) == repetition_counts([MANUAL], window=15)


def test_a_sliding_window():
    counts = repetition_counts([MANUAL], window=10)
    assert counts == RepetitionCounts((20, 12, 6, 2), (40, 42, 42, 40), windows=6)
    assert counts.rate == pytest.approx(0.178728, abs=5e-7)


def test_windows_side_by_side():
    counts = repetition_counts([MANUAL], window=7, policy=WindowPolicy.SIDE_BY_SIDE)
    assert counts == RepetitionCounts((3, 1, 0, 0), (11, 11, 10, 8), windows=2)
    assert counts.rate == 0.0


def test_no_ngram_crosses_a_sentence():
    assert repetition_counts(["a b", "a b"]).types == (2, 1, 0, 0)


def test_a_text_without_long_sentences_has_no_rate():
    assert repetition_counts(["a b", "a b"]).rate is None
    assert repetition_counts([]).rate is None


def test_a_window_without_words_is_refused():
    with pytest.raises(ValueError, match="at least one word, but got 0"):
        repetition_counts([MANUAL], window=0)


def test_the_signature_names_window_and_policy():
    assert repetition_signature() == "RR|order:4|window:1000|policy:sliding|tok:none|case:mixed|v:1"


SENTENCES = st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), max_size=6)


@given(SENTENCES, st.integers(1, 8))
def test_a_sliding_window_counts_what_each_window_holds(sentences, window):
    words = [(number, word) for number, sentence in enumerate(sentences) for word in sentence.split()]
    starts = range(len(words) - window + 1) if len(words) >= window else range(min(1, len(words)))
    repeated, types = [0] * 4, [0] * 4
    for start in starts:
        held = words[start : start + window]
        for order in range(4):
            grams = [held[at : at + order + 1] for at in range(len(held) - order)]
            found = Counter(tuple(word for _, word in gram) for gram in grams if len({s for s, _ in gram}) == 1)
            types[order] += len(found)
            repeated[order] += sum(times > 1 for times in found.values())
    assert repetition_counts(sentences, window=window) == (tuple(repeated), tuple(types), len(starts))
