"""Fragments are cut along alignments, and nowhere else."""

from learners.nmt.fragments import LONGEST, _cut, fragments
from tests.learners.tiny import WORDS, sentences

SOURCE, TARGET = ["er", "hat", "das", "rote", "hemd", "gekauft"], ["he", "bought", "the", "red", "shirt"]
LINKS = [(0, 0), (1, 1), (5, 1), (2, 2), (3, 3), (4, 4)]  # "hat ... gekauft" is "bought"


def cut(start, end):
    return list(_cut(SOURCE, TARGET, LINKS, start, end))


def test_words_that_belong_together_are_cut_out():
    assert cut(2, 5) == [("das rote hemd", "the red shirt")]
    assert cut(3, 4) == [("rote", "red")]
    assert cut(0, 6) == [(" ".join(SOURCE), " ".join(TARGET))]


def test_what_is_linked_to_words_outside_is_not():
    assert cut(0, 2) == []
    assert cut(4, 6) == []


def test_words_without_links_are_not_translated():
    assert list(_cut(["ach", "rot"], ["red"], [(1, 0)], 0, 1)) == []


def test_a_target_that_is_much_longer_is_left_out():
    assert list(_cut(["rot"], ["a", "b", "c", "d"], [(0, 0), (0, 3)], 0, 1)) == []


def test_fragments_of_a_text_whose_words_translate_one_by_one_do_so_too():
    found = fragments(sentences(200), seed=1)
    assert len(found) > 200
    assert max(len(source.split()) for source, _ in found) <= LONGEST
    right = sum(target == " ".join(WORDS[word] for word in source.split()) for source, target in found)
    assert right > 0.9 * len(found)
    assert found == fragments(sentences(200), seed=1)
    assert found != fragments(sentences(200), seed=2)


def test_no_text_has_no_fragments():
    assert fragments([], seed=1) == []
    assert fragments([("a " * 100, "b " * 100)], seed=1) == []
