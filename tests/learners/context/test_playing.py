"""A context-aware translator that plays: its context is that of the document, and survives a restart."""

from typing import Any

import pytest

from learners.context.playing import ContextPlayer
from learners.contract import Feedback, Sentence
from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from tests.learners.context import tiny


class Recorder:
    """A translator that remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def translate(self, examples, *, beam):
        self.asked += examples
        return [f"<{example.source}>" for example in examples]


def player_of(recorder: Any) -> ContextPlayer:
    return ContextPlayer(recorder)


def play(player, *sentences, post_edit=None):
    for sentence in sentences:
        player.update(sentence, player.propose(sentence), Feedback(0.5, post_edit))


def sentences(document, count):
    return [Sentence(f"{document}{place}", document, place) for place in range(count)]


def test_the_context_is_the_last_three_sentences_of_the_document():
    recorder = Recorder()
    play(player_of(recorder), *sentences("a", 5), *sentences("b", 2))
    contexts = [[source for source, _ in example.context] for example in recorder.asked]
    assert contexts == [[], ["a0"], ["a0", "a1"], ["a0", "a1", "a2"], ["a1", "a2", "a3"], [], ["b0"]]
    assert recorder.asked[1].context == (("a0", "<a0>"),)


def test_without_documents_there_is_no_context():
    recorder = Recorder()
    play(player_of(recorder), Sentence("x"), Sentence("y"))
    assert [example.context for example in recorder.asked] == [(), ()]


def test_a_document_that_comes_again_begins_anew():
    recorder = Recorder()
    play(player_of(recorder), *sentences("a", 2), *sentences("a", 1))
    assert recorder.asked[-1].context == ()


def test_post_edits_are_the_better_context():
    recorder = Recorder()
    play(player_of(recorder), *sentences("a", 2), post_edit="right")
    assert recorder.asked[1].context == (("a0", "right"),)


def test_a_snapshot_has_the_context_of_the_document(tmp_path):
    recorder = Recorder()
    before = player_of(recorder)
    play(before, *sentences("a", 2))
    before.save().write(tmp_path / "snapshot")
    after = player_of(recorder)
    after.load(Snapshot.read(tmp_path / "snapshot"))
    for player in (before, after):
        player.propose(sentences("a", 3)[2])
    assert recorder.asked[-1] == recorder.asked[-2]
    assert len(recorder.asked[-1].context) == 2
    with pytest.raises(SnapshotError, match="another learner saved it"):
        after.load(Snapshot())


def test_real_translators_play():
    for make in tiny.KINDS.values():
        play(ContextPlayer(make(), beam=2), *sentences("a", 2))
