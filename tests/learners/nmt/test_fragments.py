"""Fragments follow the word alignment."""

from learners.nmt.fragments import MAX_SOURCE_WORDS, _extract, extract_fragments
from tests.learners.tiny import WORDS, sentences

SOURCE, TARGET = ["er", "hat", "das", "rote", "hemd", "gekauft"], ["he", "bought", "the", "red", "shirt"]
ALIGNMENT = [(0, 0), (1, 1), (5, 1), (2, 2), (3, 3), (4, 4)]  # "hat ... gekauft" is "bought"


def extracted(start, end):
    return list(_extract(SOURCE, TARGET, ALIGNMENT, start, end))


def test_words_that_are_aligned_with_each_other_only_are_a_fragment():
    assert extracted(2, 5) == [("das rote hemd", "the red shirt")]
    assert extracted(3, 4) == [("rote", "red")]
    assert extracted(0, 6) == [(" ".join(SOURCE), " ".join(TARGET))]


def test_words_that_are_aligned_with_words_outside_are_not():
    assert extracted(0, 2) == []
    assert extracted(4, 6) == []


def test_unaligned_words_are_not_a_fragment():
    assert list(_extract(["ach", "rot"], ["red"], [(1, 0)], 0, 1)) == []


def test_a_target_that_is_much_longer_than_its_source_is_not_a_fragment():
    assert list(_extract(["rot"], ["a", "b", "c", "d"], [(0, 0), (0, 3)], 0, 1)) == []


def test_fragments_of_a_word_by_word_text_are_word_by_word_and_depend_on_the_seed():
    found = extract_fragments(sentences(200), seed=1)
    assert len(found) > 200
    assert max(len(source.split()) for source, _ in found) <= MAX_SOURCE_WORDS
    right = sum(target == " ".join(WORDS[word] for word in source.split()) for source, target in found)
    assert right > 0.9 * len(found)
    assert found == extract_fragments(sentences(200), seed=1)
    assert found != extract_fragments(sentences(200), seed=2)


def test_empty_and_overlong_texts_have_no_fragments():
    assert extract_fragments([], seed=1) == []
    assert extract_fragments([("a " * 100, "b " * 100)], seed=1) == []
