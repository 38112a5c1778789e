"""The fuzzy translation memory."""

import pytest

from learners.adaptation.translation_memory import MemoryConfig, TranslationMemory
from learners.contract import Feedback, Sentence
from learners.errors import LearnerError, SnapshotError
from learners.snapshot import Snapshot
from tests.learners.adaptation.tiny_base import base, show

CONFIG = MemoryConfig()


def memory(*pairs):
    learner = TranslationMemory(base(), CONFIG)
    show(learner, list(pairs))
    return learner


def test_the_post_edit_of_a_similar_source_is_proposed():
    """Four of five words are shared: Dice 0.8, the least similar that is taken."""
    learner = memory(("klicken sie auf knopf eins", "click button one"))
    assert learner.propose(Sentence("klicken sie auf knopf zwei")) == "click button one"
    assert learner.nearest("klicken sie bald auf feld eins") is None


def test_the_most_similar_source_counts_and_of_equals_the_last_one():
    learner = memory(("a b c d e", "first"), ("a b c d f", "second"), ("a b c d f", "third"))
    assert learner.nearest("a b c d e") == "first"
    assert learner.nearest("a b c d f") == "third"
    assert learner.nearest("a b c d g") == "third"


def test_repeated_words_count_as_often_as_they_occur():
    learner = memory(("a a a", "three"))
    assert learner.nearest("a") is None  # Dice 0.5
    assert learner.nearest("a a a") == "three"


def test_without_a_similar_source_the_model_translates():
    assert memory().propose(Sentence("rot hemd")) == base().greedy("rot hemd").text


def test_a_beam_translates_what_the_memory_lacks():
    learner = TranslationMemory(base(), MemoryConfig(beam=2))
    assert learner.propose(Sentence("rot hemd")) == base().beam("rot hemd", 2).text


def test_a_snapshot_restores_the_memory(tmp_path):
    memory(("rot hemd", "red shirt")).save().write(tmp_path / "snapshot")
    other = memory(("blau", "blue"))
    other.load(Snapshot.read(tmp_path / "snapshot"))
    assert (other.nearest("rot hemd"), other.nearest("blau")) == ("red shirt", None)
    with pytest.raises(SnapshotError, match="the snapshot is of None, not of TranslationMemory 1"):
        other.load(Snapshot())


def test_empty_post_edits_are_not_remembered_and_missing_ones_refused():
    learner = memory(("rot", ""))
    assert learner.nearest("rot") is None
    with pytest.raises(LearnerError, match="learns from post-edits"):
        learner.update(Sentence("rot"), "x", Feedback(0.1))
