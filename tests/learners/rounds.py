"""Rounds without documents and post-edits: a source in, a text out, and a reward."""

import math

from learners.contract import Feedback, Learner, Proposal, Sentence, as_proposal


def propose(learner: Learner, source: str) -> str:
    """Return the text that a learner proposes for a source."""
    return as_proposal(learner.propose(Sentence(source))).translation


def sample_with_probability(learner: Learner, source: str) -> tuple[str, float]:
    """Return the text that a learner samples for a source, and the probability that it logs."""
    proposal = learner.propose(Sentence(source))
    assert isinstance(proposal, Proposal)
    assert proposal.log_probability is not None
    return proposal.translation, math.exp(proposal.log_probability)


def update(learner: Learner, source: str, translation: str, reward: float) -> None:
    """Let a learner learn from a reward."""
    learner.update(Sentence(source), translation, Feedback(reward))
