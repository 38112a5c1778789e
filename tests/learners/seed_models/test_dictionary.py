"""A dictionary learned from parallel text."""

import pytest

from learners.errors import SnapshotError, TrainingError
from learners.seed_models.dictionary import learn_dictionary, load_dictionary, save_dictionary
from learners.snapshot import Snapshot
from tests.learners.tiny import WORDS, sentences


def test_words_that_translate_each_other_are_found():
    assert learn_dictionary(sentences(200)) == WORDS


def test_the_order_of_the_text_decides_nothing():
    news, products = [("der hund", "the dog")] * 100, sentences(100)
    learned = learn_dictionary([*news, *products])
    assert learned == learn_dictionary([*products, *news])
    assert {"hund", "seil"} < learned.keys()


def test_a_saved_dictionary_is_loaded(tmp_path):
    save_dictionary({"größe": "size"}, tmp_path / "d")
    assert load_dictionary(tmp_path / "d") == {"größe": "size"}


def test_another_file_is_refused(tmp_path):
    Snapshot(values={"kind": "translator 1"}).write(tmp_path / "d")
    with pytest.raises(SnapshotError, match="is not a dictionary"):
        load_dictionary(tmp_path / "d")


@pytest.mark.parametrize("pairs", [[], [("", "x")], [("w " * 200, "w")]])
def test_nothing_can_be_learned_from_a_text_without_usable_pairs(pairs):
    with pytest.raises(TrainingError, match="empty text"):
        learn_dictionary(pairs)
