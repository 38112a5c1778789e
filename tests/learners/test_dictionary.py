"""A dictionary learned from parallel text, and word-for-word translation with it."""

import pytest

from learners.dictionary import WordForWord, learn_dictionary, load_dictionary, save_dictionary
from learners.errors import SnapshotError, TrainingError
from learners.snapshot import Snapshot
from tests.learners.tiny import WORDS, sentences


def test_words_that_go_together_are_found():
    assert learn_dictionary(sentences(200)) == WORDS


def test_unknown_words_are_copied():
    system = WordForWord({"nylon": "nylon", "seil": "rope"})
    assert system.propose("nylon seil xk-77") == "nylon rope xk-77"


def test_it_comes_back_from_its_file(tmp_path):
    save_dictionary({"größe": "size"}, tmp_path / "d")
    assert load_dictionary(tmp_path / "d") == {"größe": "size"}


def test_another_file_is_refused(tmp_path):
    Snapshot(values={"kind": "translator 1"}).write(tmp_path / "d")
    with pytest.raises(SnapshotError, match="is not a dictionary"):
        load_dictionary(tmp_path / "d")


@pytest.mark.parametrize("pairs", [[], [("", "x")], [("w " * 200, "w")]])
def test_nothing_can_be_learned_from_nothing(pairs):
    with pytest.raises(TrainingError, match="empty text"):
        learn_dictionary(pairs)
