"""Loops: degenerate repetition is recognised, and what people write is not."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.synth import CorpusGenerator
from leaderboard.metrics.loops import is_loop, max_repeats

SHIRT = "ein rotes hemd für herren mit tasche"


@pytest.mark.parametrize(
    "translation",
    [
        "a red red red shirt for men",
        "a shirt , pollutant-free , pollutant-free , pollutant-free",
        "a red shirt for men for men for men",
        "a shirt with the pocket with the pocket for men",  # three words, twice in a row
        "a red shirt for men a red shirt for men",
        "a red shirt for men with a pocket in a red shirt for men with a pocket in",
        ". . . . . . . .",
        "a red shirtirtirtirtirt for men",
    ],
)
def test_degenerate_repetition_is_a_loop(translation):
    assert is_loop(SHIRT, translation)


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        (SHIRT, "a red shirt for men with a pocket"),
        (SHIRT, ""),
        ("", ""),
        ("ein rock", "a skirt"),
        ("der prozess zog sich am freitag hin", "the trial dragged on on friday"),  # twice is nothing unusual
        ("hemden in rot , in blau", "shirts in red , in blue"),
        ("% s kann nicht gelesen werden % s", "cannot read % s % s"),
        ("sehr sehr sehr gut", "very very very good"),  # as often as in the source
        ("- - - - - -", "- - - - - -"),
        ("0 0 0 0", "0 0 0 0"),
        ("größe 100000000 , artikel 7777-7777", "size 100000000 , article 7777-7777"),
        ("datum : tt.mm.jjjj", "date : mm/dd/yyyy"),
        ("hahahahaha , sagte sie", "hahahahaha , she said"),
    ],
)
def test_other_repetition_is_no_loop(source, translation):
    assert not is_loop(source, translation)


def test_more_repetition_than_in_the_source_is_a_loop():
    assert is_loop("ha ha ha", "ha ha ha ha")
    assert is_loop("sehr sehr gut", "very very very good")


def test_repeats_of_an_ngram_are_counted_in_a_row():
    words = "abababcab"
    assert [max_repeats(words, n) for n in (1, 2, 3, 4)] == [1, 3, 1, 1]
    assert max_repeats("abcab", 3) == 1  # the second time is incomplete
    assert max_repeats("bcabcab", 3) == 2
    assert max_repeats([], 1) == 1
    with pytest.raises(ValueError, match="an n-gram has at least one word, but got 0"):
        max_repeats(words, 0)


WORDS = st.lists(st.sampled_from(["ja", "nein", ","]), max_size=12)


@given(WORDS)
def test_repeats_of_words_are_those_of_equal_neighbours(words):
    assert max_repeats(words, 1) == max([len(list(run)) for _, run in groupby(words)], default=1)


@given(st.lists(st.sampled_from(["ja", "nein", ","]), min_size=1, max_size=8), st.integers(1, 5))
def test_an_ngram_repeated_k_times_has_k_repeats(ngram, k):
    assert max_repeats(ngram * k, len(ngram)) >= k
    assert is_loop("source", " ".join(ngram * 3))


@given(WORDS)
def test_a_copy_is_no_loop(words):
    assert not is_loop(" ".join(words), " ".join(words))


def test_no_reference_of_the_shop_and_hardly_any_of_the_news_is_a_loop():
    corpus = CorpusGenerator(77, departments=3)
    assert not any(is_loop(source, reference) for source, reference in corpus.in_domain("dev", 1_000))
    assert sum(is_loop(source, reference) for source, reference in corpus.out_of_domain(1_000)) <= 1
