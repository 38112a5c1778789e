"""Sentence and corpus BLEU: examples worked out by hand, and agreement with sacreBLEU."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from leaderboard.metrics.bleu import (
    CORPUS_SIGNATURE,
    EMPTY_STATISTICS,
    BleuStatistics,
    corpus_bleu,
    count_ngram_matches,
    sentence_bleu,
    sentence_score,
    sum_statistics,
)
from task.feedback import SENTENCE_BLEU

CARD_A5 = [
    ("black , size xxl / xxxl", "black , size xxl / xxxl", 1.0),
    ("schwarz gr.xxl / xxxl", "black , size xxl / xxxl", 0.032588),
    ("147 cm", "147 cm", 1.0),
    (", 147 cm", "147 cm", 0.149380),
    ("40 hour burn time", "40 hour minimum burn time", 0.059176),
    ("the cat sat on the mat", "the cat is on the mat", 0.142872),
    ("cat", "the cat is on the mat", 0.006738),
    ("foo bar", "seamless processing", 0.007071),
    ("the the the the", "the cat is on the mat", 0.010305),
]

SACREBLEU_SENTENCE = BLEU(smooth_method="floor", smooth_value=0.01, effective_order=True, tokenize="none")
SACREBLEU_CORPUS = BLEU(tokenize="none", force=True)

sentences = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12).map(" ".join)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=12)


@pytest.mark.parametrize(("hypothesis", "reference", "expected"), CARD_A5)
def test_worked_examples(hypothesis, reference, expected):
    assert sentence_bleu(hypothesis, reference) == pytest.approx(expected, abs=5e-7)


def test_statistics_of_the_second_example():
    counts = count_ngram_matches("schwarz gr.xxl / xxxl", "black , size xxl / xxxl")
    assert counts == BleuStatistics((2, 1, 0, 0), (4, 3, 2, 1), 6)


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "a b"), ("", ""), ("  \t ", "a")])
def test_empty_hypothesis_scores_zero(hypothesis, reference):
    assert sentence_bleu(hypothesis, reference) == 0.0


def test_empty_reference_leaves_only_the_smoothing_offset():
    assert sentence_bleu("a b", "") == pytest.approx(math.sqrt(0.01 / 2 * 0.01 / 1))


def test_any_whitespace_separates_tokens():
    assert sentence_bleu("a\u00a0 b\tc\n", "a b c") == 1.0


@given(sentences, sentences)
def test_equals_sacrebleu_wherever_a_unigram_matches(hypothesis, reference):
    ours = sentence_bleu(hypothesis, reference)
    if set(hypothesis.split()) & set(reference.split()):
        theirs = SACREBLEU_SENTENCE.sentence_score(hypothesis, [reference]).score / 100
        assert ours == pytest.approx(theirs, abs=1e-12)
    else:
        assert 0 <= ours < 0.01 + 1e-15


@given(sentences, sentences)
def test_score_is_between_0_and_1_and_is_1_only_if_all_ngrams_match(hypothesis, reference):
    ours = sentence_bleu(hypothesis, reference)
    counts = count_ngram_matches(hypothesis, reference)
    assert 0 <= ours <= 1
    assert (ours == 1) == (
        counts.matches == counts.candidates and counts.reference_length == len(hypothesis.split()) > 0
    )


def test_bleu_cannot_distinguish_texts_with_the_same_ngrams():
    assert sentence_bleu("a a a a b a a a", "a a a b a a a a") == 1.0


@given(pairs)
def test_corpus_bleu_equals_sacrebleu(corpus):
    ours = corpus_bleu(sum_statistics(count_ngram_matches(hypothesis, reference) for hypothesis, reference in corpus))
    theirs = SACREBLEU_CORPUS.corpus_score([h for h, _ in corpus], [[r for _, r in corpus]]).score
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_corpus_bleu_of_two_held_out_passes():
    references = ["the red shirt", "machine washable at 30 degrees"]
    passes = [["a red shirt", "washable at 30 °"], ["the red shirt", "machine washable at 30 °"]]
    scores = [corpus_bleu(sum_statistics(map(count_ngram_matches, outputs, references))) for outputs in passes]
    assert scores == [pytest.approx(44.815, abs=5e-4), pytest.approx(72.313, abs=5e-4)]


def test_corpus_bleu_of_nothing_is_zero():
    assert corpus_bleu(EMPTY_STATISTICS) == 0.0


counts = st.builds(
    BleuStatistics,
    st.tuples(*[st.integers(0, 10**7)] * 4),
    st.tuples(*[st.integers(0, 10**7)] * 4),
    st.integers(0, 10**7),
)


@given(counts)
def test_packing_is_lossless(value):
    assert BleuStatistics.from_bytes(value.to_bytes()) == value


def test_a_sentence_packs_into_nine_bytes():
    assert (
        count_ngram_matches("the cat sat on the mat", "the cat is on the mat").to_bytes().hex() == "050301000605040306"
    )


@pytest.mark.parametrize("packed", ["", "0503010006050403", "05030100060504030601", "050301000605040386"])
def test_other_bytes_are_an_error(packed):
    with pytest.raises(ValueError, match="not packed BLEU statistics"):
        BleuStatistics.from_bytes(bytes.fromhex(packed))


@given(counts, counts, counts)
def test_addition_is_associative_with_a_zero(a, b, c):
    assert a.plus(b).plus(c) == a.plus(b.plus(c))
    assert a.plus(EMPTY_STATISTICS) == a == EMPTY_STATISTICS.plus(a)


def test_statistics_are_sufficient():
    counts = count_ngram_matches("the cat sat on the mat", "the cat is on the mat")
    assert sentence_score(counts) == sentence_bleu("the cat sat on the mat", "the cat is on the mat")


def fields(signature):
    return dict(field.split(":", 1) for field in signature.split("|")[1:])


@pytest.mark.parametrize(
    ("signature", "theirs", "where_we_differ"),
    [
        (SENTENCE_BLEU.signature, SACREBLEU_SENTENCE, {"nomatch": "floored", "v": "1"}),
        (CORPUS_SIGNATURE, SACREBLEU_CORPUS, {"v": "1"}),
    ],
)
def test_signatures_follow_sacrebleu(signature, theirs, where_we_differ):
    theirs.corpus_score(["a"], [["a"]])  # the number of references is known only then
    expected = fields("BLEU|" + theirs.get_signature().format())
    expected.pop("version")
    assert fields(signature) == {**expected, **where_we_differ}
