"""Mean sentence BLEU in four smoothings, by worked numbers and beside sacreBLEU's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.metrics.sentence_bleu import Smoothing, mean_sentence_bleu, smoothed_bleu

MAT = "the cat is on the mat"


@pytest.mark.parametrize(
    ("smoothing", "substituted", "cut_short", "equal"),
    [
        (Smoothing.ADD_ONE_HIGHER, 0.485492, 0.367879, 1.0),
        (Smoothing.ADD_ONE, 0.488923, 0.367879, 1.0),
        (Smoothing.ADD_ONE_BREVITY, 0.413864, 0.263597, 0.606531),
        (Smoothing.GROUNDED, 0.256630, 0.144504, 0.218992),
    ],
)
def test_worked_numbers(smoothing, substituted, cut_short, equal):
    assert smoothed_bleu(count_ngram_matches("the cat sat on the mat", MAT), smoothing) == pytest.approx(
        substituted, abs=5e-7
    )
    assert smoothed_bleu(count_ngram_matches("on the mat", MAT), smoothing) == pytest.approx(cut_short, abs=5e-7)
    two_words = count_ngram_matches("seamless processing", "seamless processing")
    assert smoothed_bleu(two_words, smoothing) == pytest.approx(equal, abs=5e-7)


WORDS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=9).map(" ".join)


@given(WORDS, WORDS)
def test_the_default_is_sacrebleus_add_k(hypothesis, reference):
    rival = BLEU(smooth_method="add-k", smooth_value=1, effective_order=True, tokenize="none", max_ngram_order=4)
    theirs = rival.sentence_score(hypothesis, [reference]).score
    assert 100 * smoothed_bleu(count_ngram_matches(hypothesis, reference)) == pytest.approx(theirs, abs=1e-9)


@given(WORDS, WORDS)
def test_an_output_without_any_match_is_worth_nothing_once_grounded(hypothesis, reference):
    other_words = reference.upper()
    assert smoothed_bleu(count_ngram_matches(hypothesis, other_words), Smoothing.GROUNDED) == 0.0


def test_the_mean_is_in_points():
    counts = [count_ngram_matches("the cat sat on the mat", MAT), count_ngram_matches("on the mat", MAT)]
    assert mean_sentence_bleu(counts) == pytest.approx(42.66855, abs=5e-5)
    assert mean_sentence_bleu([]) is None


def test_an_empty_hypothesis_scores_zero_in_every_smoothing():
    assert [smoothed_bleu(count_ngram_matches("", MAT), smoothing) for smoothing in Smoothing] == [0.0] * 4


def test_every_smoothing_has_its_signature():
    assert Smoothing.GROUNDED.signature == "SBLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:grounded|v:1"
    assert len({smoothing.signature for smoothing in Smoothing}) == 4
