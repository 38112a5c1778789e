"""Post-edits: the one of a round, and references in their place where a phase shows no post-edits."""

from dataclasses import replace

from learners.contract import Feedback, Learner, Proposal, Sentence
from learners.errors import LearnerError
from learners.references import PhaseReferences
from learners.snapshot import Snapshot


def post_edit_of(feedback: Feedback) -> str:
    """Return the post-edit of a round; raise LearnerError if the phase shows none."""
    if feedback.post_edit is None:
        raise LearnerError(
            "this system learns from post-edits, but the phase shows none: play a phase whose feedback is post-edit"
        )
    return feedback.post_edit


class ReferencesAsPostEdits(Learner):
    """A learner from post-edits in a phase that shows none: it is given the references, so it is no participant.

    It tells what full information is worth online: the gain of every bandit learner is a share of its gain.
    """

    def __init__(self, learner: Learner, references: PhaseReferences) -> None:
        self._learner = learner
        self._references = references
        self._rounds = 0  # completed

    def propose(self, sentence: Sentence) -> str | Proposal:
        return self._learner.propose(sentence)

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        reference = self._references.reference(self._rounds, sentence.source)
        self._learner.update(sentence, translation, replace(feedback, post_edit=reference))
        self._rounds += 1

    def save(self) -> Snapshot:
        snapshot = Snapshot(values={"rounds": self._rounds})
        snapshot.put("learner", self._learner.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        self._learner.load(snapshot.part("learner"))
        self._rounds = snapshot.values["rounds"]
