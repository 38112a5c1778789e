"""Sentence chrF2: worked numbers, and sacreBLEU's answers on a hundred thousand pairs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from leaderboard.metrics.chrf import SENTENCE_SIGNATURE, sentence_chrf


@pytest.mark.parametrize(
    ("hypothesis", "reference", "score"),
    [
        ("same", "same", 1.0),
        ("ab", "ac", 0.25),  # one of two characters, none of one pair: precision and recall are (1/2 + 0) / 2
        ("a", "abc", 5 / 13),  # only order 1 counts: precision 1, recall 1/3
        ("abc", "a", 5 / 7),  # precision 1/3, recall 1
        ("x", "y", 0.0),
        ("a b", "ab", 1.0),  # white space does not count
        ("", "a", 0.0),
    ],
)
def test_worked_numbers(hypothesis, reference, score):
    assert sentence_chrf(hypothesis, reference) == pytest.approx(score, abs=1e-12)


def test_sacrebleu_agrees_on_a_hundred_thousand_pairs():
    rng, rival = random.Random(16), CHRF()
    syllables = ["ka", "ter", "o", "ß", "bu", "n", "1", "-", "ei"]
    for _ in range(100_000):
        words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 5))]
        kept = [word if rng.random() < 0.6 else "".join(rng.choices(syllables, k=2)) for word in words]
        hypothesis, reference = " ".join(kept[: rng.randint(0, 5)]), " ".join(words)
        theirs = rival.sentence_score(hypothesis, [reference]).score / 100
        assert abs(sentence_chrf(hypothesis, reference) - theirs) < 1e-9, (hypothesis, reference)


@given(st.text(max_size=12), st.text(max_size=12))
def test_scores_lie_between_zero_and_one(hypothesis, reference):
    assert 0.0 <= sentence_chrf(hypothesis, reference) <= 1.0


def test_the_signature_is_in_the_manner_of_sacrebleu():
    assert SENTENCE_SIGNATURE == "sentChrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v:1"
