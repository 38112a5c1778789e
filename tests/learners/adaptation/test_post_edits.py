"""References in place of post-edits, for phases that show none."""

import pytest

from learners.adaptation.post_edits import ReferencesAsPostEdits
from learners.adaptation.translation_memory import MemoryConfig, TranslationMemory
from learners.contract import Feedback, Sentence
from learners.errors import ReferencesError
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.adaptation.tiny_base import base

PAIRS = [("rot", "red"), ("blau", "blue"), ("rot", "reddish")]


def learner():
    memory = TranslationMemory(base(), MemoryConfig())
    return ReferencesAsPostEdits(memory, tiny.references(PAIRS))


def test_the_reference_of_each_round_is_shown_after_it(tmp_path):
    seeing = learner()
    for source in ("rot", "blau"):
        seeing.update(Sentence(source), "x", Feedback(0.1))
    assert seeing.propose(Sentence("rot")) == "red"
    seeing.save().write(tmp_path / "snapshot")
    resumed = learner()
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    resumed.update(Sentence("rot"), "x", Feedback(0.1))
    assert [resumed.propose(Sentence(source)) for source in ("rot", "blau")] == ["reddish", "blue"]


def test_references_of_another_task_are_refused():
    with pytest.raises(ReferencesError, match="round 0 of phase dev serves 'blau'"):
        learner().update(Sentence("blau"), "x", Feedback(0.1))
