"""Vocabularies encode and decode text, and replace unknown tokens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.errors import SnapshotError, TrainingError
from learners.nmt.vocabulary import EOS, UNK, SubwordVocabulary, WordVocabulary, to_text

TEXTS = ["the red shirt x y", "das rote hemd mit tasche 1234", "ein blaues hemd , größe xxl"]
SUBWORDS = SubwordVocabulary.learn(TEXTS, 70)


def one_hot(position, length):
    return np.eye(length)[position]


@given(st.lists(st.text(st.sampled_from(sorted({*"".join(TEXTS)} - {" "})), min_size=1), max_size=6))
def test_text_of_known_characters_survives_encoding_and_decoding(words):
    text = " ".join(words)
    ids, pieces = SUBWORDS.encode(text)
    codes = [word for word in words if any(map(str.isdigit, word)) and any(map(str.isalpha, word))]
    assert ids.count(UNK) == len(codes)
    assert len(ids) == len(pieces)
    tokens = [piece if token == UNK else token for token, piece in zip(ids, pieces, strict=True)]
    assert SUBWORDS.decode(tokens) == text


def test_part_numbers_are_unknown_tokens_and_copied_whole():
    source = SUBWORDS.encode("x ab-1234 y xl5")
    assert source[1] == ["▁x", "▁ab-1234", "▁y", "▁xl5"]
    assert [token == UNK for token in source[0]] == [False, True, False, True]
    attention = np.array([one_hot(3, 5), one_hot(1, 5)])
    assert to_text([UNK, UNK], SUBWORDS, attention, source, {}) == "xl5 ab-1234"


@pytest.mark.parametrize("word", ["1234", "12,50", "xxl", "e-mail"])
def test_numbers_and_words_are_not_part_numbers(word):
    assert SUBWORDS.encode(word)[0] != [UNK]


def test_a_small_text_has_fewer_subwords_than_wanted():
    assert SubwordVocabulary.learn(["a b"], 500).size < 20


def test_learning_subwords_is_deterministic():
    np.testing.assert_array_equal(SubwordVocabulary.learn(TEXTS, 70).packed(), SUBWORDS.packed())


def test_the_order_of_the_text_does_not_change_a_vocabulary():
    probe = " ".join(TEXTS)
    assert SubwordVocabulary.learn(TEXTS[::-1], 70).encode(probe) == SUBWORDS.encode(probe)
    assert WordVocabulary.learn(TEXTS[::-1], 9).encode(probe) == WordVocabulary.learn(TEXTS, 9).encode(probe)


def test_every_digit_is_a_token():
    assert SUBWORDS.encode("1234")[1][-4:] == ["1", "2", "3", "4"]


def test_an_empty_text_has_no_subwords():
    with pytest.raises(TrainingError, match="empty text"):
        SubwordVocabulary.learn(["", "  "], 100)


def test_a_vocabulary_smaller_than_the_alphabet_is_refused_in_one_line():
    with pytest.raises(TrainingError, match=r"^cannot learn 5 subwords from this text: .*$"):
        SubwordVocabulary.learn(TEXTS, 5)


def test_an_unknown_character_is_copied_from_the_source():
    source = SUBWORDS.encode("x ☃ y")
    assert source[1] == ["▁x", "▁", "☃", "▁y"]
    ids = [source[0][0], source[0][1], UNK, source[0][3], EOS]
    attention = np.full((5, 5), 0.2)
    assert to_text(ids, SUBWORDS, attention, source, {}) == "x ☃ y"


def test_of_two_unknown_characters_the_one_with_more_attention_is_copied():
    source = SUBWORDS.encode("☃ ☂")
    assert [position for position, token in enumerate(source[0]) if token == UNK] == [1, 3]
    assert to_text([UNK, EOS], SUBWORDS, np.array([one_hot(3, 5), one_hot(4, 5)]), source, {}) == "☂"


def test_an_unknown_token_is_dropped_if_the_source_has_none():
    source = SUBWORDS.encode("x y")
    assert to_text([*source[0], UNK], SUBWORDS, np.ones((3, 3)), source, {}) == "x y"


def test_unknown_words_are_looked_up_or_copied():  # Sokolov et al. 2017, section 5.2
    source, target = WordVocabulary(["seil"]), WordVocabulary(["rope"])
    encoded = source.encode("nylon seil xk-77")
    ids = [UNK, target.encode("rope")[0][0], UNK, EOS]
    attention = np.array([one_hot(0, 4), one_hot(1, 4), one_hot(2, 4), one_hot(3, 4)])
    assert to_text(ids, target, attention, encoded, {"nylon": "nylon"}) == "nylon rope xk-77"
    assert to_text(ids, target, attention, encoded, {"xk-77": "part"}) == "nylon rope part"


def test_an_unknown_word_with_attention_to_the_end_symbol_is_dropped():
    target = WordVocabulary(["rope"])
    attention = np.array([one_hot(3, 4), one_hot(1, 4)])
    encoded = WordVocabulary([]).encode("nylon seil xk-77")
    assert to_text([UNK, target.encode("rope")[0][0]], target, attention, encoded, {}) == "rope"


def test_frequent_words_come_first_and_ties_are_broken_by_spelling():
    words = WordVocabulary.learn(["b a c", "c d"], 4 + 3)
    assert words.decode([4, 5, 6]) == "c a b"
    assert words.encode("d c")[0] == [UNK, 4]


def test_a_source_cannot_spell_control_symbols():
    assert WordVocabulary(["a"]).encode("<s> </s> <pad> a")[0] == [UNK, UNK, UNK, 4]
    assert not {0, 1, 2} & set(SUBWORDS.encode("<s> </s> <pad>")[0])


@pytest.mark.parametrize("vocabulary", [SUBWORDS, WordVocabulary(["größe", "a"])])
def test_a_vocabulary_survives_packing(vocabulary):
    again = type(vocabulary).unpack(vocabulary.packed())
    assert again.size == vocabulary.size
    assert again.encode("ein a größe ☃") == vocabulary.encode("ein a größe ☃")


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: data[::-1], lambda data: data[:0]])
def test_damaged_subwords_are_refused(damage):
    with pytest.raises(SnapshotError, match="damaged"):
        SubwordVocabulary.unpack(damage(SUBWORDS.packed()))


@pytest.mark.parametrize("data", [b"a\nb\na", b"a b\nc", b"\xff\xfe", b"<s>"])
def test_a_damaged_word_list_is_refused(data):
    with pytest.raises(SnapshotError, match="damaged"):
        WordVocabulary.unpack(np.frombuffer(data, np.uint8))
