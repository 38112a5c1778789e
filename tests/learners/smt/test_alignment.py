import numpy as np
import pytest
from thot.common import WordAlignmentMatrix

from learners.errors import TrainingError
from learners.smt.alignment import NULL_WORD, align_corpus, lexical_tables, make_bitext, symmetrise
from learners.smt.hashing import HASH_SEED, find_slot, hash_combine
from learners.smt.word_index import WordIndex
from tests.learners.smt.toy_language import PAIRS


def matrix(rows, columns, links):
    made = WordAlignmentMatrix(rows, columns)
    for link in links:
        made.set(*link)
    return made


def test_grow_diag_final_and():
    forward = matrix(4, 5, [(0, 0), (1, 1), (2, 1), (3, 4)])
    backward = matrix(5, 4, [(0, 0), (1, 1), (4, 0)])
    assert symmetrise(forward, backward).tolist() == [
        [0, 0],
        [1, 1],  # both directions agree
        [2, 1],  # grown: beside a link, and the source word had none
        [3, 4],  # final-and: neither word had a link
    ]  # but not 0-4: source word 0 has one


def test_words_are_aligned_across_reordering():
    pairs = [(source.split(), target.split()) for source, target in PAIRS]
    sources, targets = WordIndex.from_sentences(s for s, _ in pairs), WordIndex.from_sentences((t for _, t in pairs), 3)
    text = align_corpus(pairs, sources, targets, iterations=5).bitext
    assert pairs[0][0] == ["ich", "habe", "den", "hund", "gesehen"]
    assert pairs[0][1] == ["i", "have", "seen", "the", "dog"]
    links = set(zip(text.link_source[: text.link_start[1]], text.link_target[: text.link_start[1]], strict=True))
    assert {(3, 4), (4, 2)} <= links


def probability(lexicon, given, word):
    slot = find_slot(lexicon.keys, hash_combine(hash_combine(HASH_SEED, given), word))
    return lexicon.probabilities[slot] if slot >= 0 else 0.0


def test_lexical_probabilities_are_relative_frequencies_of_links():
    """ja is linked to yes twice and to indeed once; wohl and sir have no link."""
    pairs = [(["ja", "wohl"], ["yes", "sir"]), (["ja"], ["yes"]), (["ja"], ["indeed"])]
    sources, targets = WordIndex(["ja", "wohl"]), WordIndex(["yes", "sir", "indeed"], 3)
    links = [np.array([[0, 0]])] * 3
    forwards, backwards = lexical_tables(make_bitext(pairs, links, sources, targets))
    ja, wohl, yes, sir, indeed = 0, 1, 3, 4, 5
    assert probability(forwards, ja, yes) == pytest.approx(2 / 3)
    assert probability(forwards, ja, indeed) == pytest.approx(1 / 3)
    assert probability(forwards, ja, sir) == 0.0
    assert probability(forwards, NULL_WORD, sir) == 1.0
    assert probability(backwards, yes, ja) == 1.0
    assert probability(backwards, NULL_WORD, wohl) == 1.0


def test_an_empty_text_is_an_error():
    with pytest.raises(TrainingError, match="empty text"):
        align_corpus([], WordIndex([]), WordIndex([]), 5)
