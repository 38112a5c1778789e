import numpy as np
import pytest

from learners.errors import TrainingError
from learners.smt.alignment import NULL_WORD, align_corpus, lexical_tables, make_bitext
from learners.smt.hashing import HASH_SEED, find_slot, hash_combine
from learners.smt.word_index import WordIndex


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
