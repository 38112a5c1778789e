"""The four systems: blocks, what each has seen, and exact resume."""

import pytest

from learners.adaptation.statistical.learners import AdaptingConfig, AdaptingSmt, BackgroundSmt, UnfairSmt
from learners.adaptation.statistical.translator import Models
from learners.contract import PLACEHOLDER, Feedback, Sentence
from learners.errors import LearnerError, ReferencesError, SnapshotError
from learners.snapshot import Snapshot
from tests.learners import tiny
from tests.learners.adaptation.statistical.toy_background import background
from tests.learners.adaptation.tiny_base import show

CONFIG = AdaptingConfig(block_words=4)
FOREGROUND = AdaptingConfig(models=Models.FOREGROUND, block_words=4)
STREAM = [("rot kiste", "red box"), ("neu kiste", "new box"), ("blau kiste", "blue box"), ("gross kiste", "large box")]


def test_a_block_is_translated_with_the_blocks_before_it():
    """A block has four words here, so that two sentences are one."""
    assert show(AdaptingSmt(background(), CONFIG), STREAM) == ["red kiste", "new kiste", "blue box", "large box"]


def test_the_first_block_is_that_of_the_background():
    first = show(AdaptingSmt(background(), AdaptingConfig()), STREAM)
    assert first == [BackgroundSmt(background()).propose(Sentence(source)) for source, _ in STREAM]


def test_the_foreground_alone_copies_the_first_block():
    fair = show(AdaptingSmt(background(), FOREGROUND), STREAM)
    assert fair == ["rot kiste", "neu kiste", "blau box", "gross box"]


def test_the_unfair_oracle_has_seen_the_block():
    unfair = UnfairSmt(background(), tiny.references(STREAM), FOREGROUND)
    assert show(unfair, STREAM) == ["red box", "new box", "blue box", "large box"]


def test_the_unfair_oracle_refuses_references_of_another_task():
    unfair = UnfairSmt(background(), tiny.references(STREAM), FOREGROUND)
    with pytest.raises(ReferencesError, match="they are of another task"):
        unfair.update(Sentence("seil"), "x", Feedback(0.1, "rope"))


LEARNERS = {
    "adapting": lambda: AdaptingSmt(background(), CONFIG),
    "unfair": lambda: UnfairSmt(background(), tiny.references(STREAM), FOREGROUND),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("rounds", range(5))
def test_a_snapshot_resumes_exactly(name, rounds, tmp_path):
    whole = show(LEARNERS[name](), STREAM)
    interrupted = LEARNERS[name]()
    show(interrupted, STREAM[:rounds])
    interrupted.save().write(tmp_path / "snapshot")
    resumed = LEARNERS[name]()
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    assert show(resumed, STREAM[rounds:]) == whole[rounds:]


def test_other_snapshots_and_missing_post_edits_are_refused():
    learner = AdaptingSmt(background(), CONFIG)
    with pytest.raises(SnapshotError, match="is of UnfairSmt 1, not of AdaptingSmt 1"):
        learner.load(LEARNERS["unfair"]().save())
    with pytest.raises(SnapshotError, match="is of the configuration"):
        learner.load(AdaptingSmt(background(), FOREGROUND).save())
    with pytest.raises(LearnerError, match="learns from post-edits"):
        learner.update(Sentence("rot"), "x", Feedback(0.1))


def test_an_empty_source_gets_a_placeholder():
    assert AdaptingSmt(background(), CONFIG).propose(Sentence(" ")) == PLACEHOLDER
