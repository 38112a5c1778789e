"""TER: worked numbers, sacreBLEU's answers on thousands of pairs, and what holds for any two sentences."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from leaderboard.metrics.ter import TerStatistics, ter_statistics, total_ter

REFERENCE = "the cat is on the mat"


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits", "score"),
    [
        ("the cat is on the mat", REFERENCE, 0, 0.0),
        ("the cat sat on the mat", REFERENCE, 1, 16.667),
        ("on the mat the cat is", REFERENCE, 1, 16.667),  # one shift
        ("cat", REFERENCE, 5, 83.333),
        ("a b c d e f g", "a b", 5, 250.0),
    ],
)
def test_worked_numbers(hypothesis, reference, edits, score):
    counts = ter_statistics(hypothesis, reference)
    assert counts == TerStatistics(edits, len(reference.split()))
    assert counts.score == pytest.approx(score, abs=5e-4)


def test_a_corpus_is_judged_by_its_sums_and_not_by_the_mean_of_its_sentences():
    pairs = [("the cat sat on the mat", REFERENCE), ("on the mat the cat is", REFERENCE), ("cat", REFERENCE)]
    counts = [*(ter_statistics(*pair) for pair in pairs), ter_statistics("a b c d e f g", "a b")]
    assert total_ter(counts) == TerStatistics(12, 20)
    assert total_ter(counts).score == 60.0
    assert sum(each.score for each in counts) / 4 == pytest.approx(91.667, abs=5e-4)


def test_an_empty_reference_costs_every_word_that_was_proposed():
    assert ter_statistics("a b", "") == TerStatistics(2, 0)
    assert (TerStatistics(2, 0).score, TerStatistics(0, 0).score) == (100.0, 0.0)


def scrambled_pairs(number, seed):
    """Sentences of all lengths with words moved, replaced and dropped; some share next to nothing."""
    rng = random.Random(seed)
    for _ in range(number):
        words = rng.choice([3, 8, 40, 500])
        reference = [str(rng.randrange(words)) for _ in range(rng.choice([1, 2, 4, 7, 7, 9, 12, 18]))]
        hypothesis = list(reference)
        for _ in range(rng.randrange(4)):
            start, length = rng.randrange(len(hypothesis) + 1), rng.randrange(1, 5)
            phrase = hypothesis[start : start + length]
            del hypothesis[start : start + length]
            goal = rng.randrange(len(hypothesis) + 1)
            hypothesis[goal:goal] = phrase
        noise = rng.choice([0.1, 0.4, 0.8])
        hypothesis = [word if rng.random() > noise else str(rng.randrange(words)) for word in hypothesis]
        yield " ".join(hypothesis[: rng.choice([None, None, 2])]), " ".join(reference)


def test_sacrebleu_agrees_on_ten_thousand_pairs():
    rival = TER()
    for hypothesis, reference in scrambled_pairs(10_000, seed=17):
        theirs = rival.sentence_score(hypothesis, [reference])
        assert ter_statistics(hypothesis, reference) == (theirs.num_edits, theirs.ref_length), (hypothesis, reference)


def test_sacrebleu_agrees_where_sentences_are_longer_than_its_beam():
    rng, rival = random.Random(4), TER()
    for words in (5, 60):
        for length in (1, 24, 30, 60):
            reference = " ".join(str(rng.randrange(words)) for _ in range(60))
            hypothesis = " ".join(str(rng.randrange(words)) for _ in range(length))
            theirs = rival.sentence_score(hypothesis, [reference])
            assert ter_statistics(hypothesis, reference) == (theirs.num_edits, theirs.ref_length)


SENTENCES = st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join)


@given(SENTENCES, SENTENCES)
def test_edits_are_bound_by_rewriting_everything(hypothesis, reference):
    edits = ter_statistics(hypothesis, reference).edits
    ours, theirs = hypothesis.split(), reference.split()
    assert abs(len(ours) - len(theirs)) <= edits <= max(len(ours), len(theirs))
    assert (edits == 0) == (ours == theirs)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400))))
def test_statistics_add_up_and_survive_packing(counts):
    statistics = [TerStatistics(*each) for each in counts]
    summed = TerStatistics(0, 0)
    for each in statistics:
        assert TerStatistics.from_bytes(each.to_bytes()) == each
        summed = summed.plus(each)
    assert summed == total_ter(statistics)


def test_bytes_that_are_no_statistics_are_refused():
    with pytest.raises(ValueError, match="not packed TER statistics: 3 bytes that hold 3 whole numbers"):
        TerStatistics.from_bytes(b"\x01\x02\x03")
