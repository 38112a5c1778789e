"""Rounds without documents and post-edits: a source in, a text out, and a reward."""

from learners.contract import Feedback, Learner, Sentence, as_proposal


def propose(learner: Learner, source: str) -> str:
    """Return the text that a learner proposes for a source."""
    return as_proposal(learner.propose(Sentence(source))).translation


def update(learner: Learner, source: str, translation: str, reward: float) -> None:
    """Let a learner learn from a reward."""
    learner.update(Sentence(source), translation, Feedback(reward))
