"""Rounds without a service: a learner plays in this process, with the rewards that the service would give."""

from collections.abc import Iterable

from leaderboard.metrics.bleu import sentence_bleu
from learners.contract import Feedback, Learner, Sentence, as_proposal
from learners.journal import JournalEntry
from task.rounds import TICKS, to_ticks


def play_rounds(learner: Learner, pairs: Iterable[tuple[str, str]]) -> list[JournalEntry]:
    """Play a stream of sources and references; return the journal."""
    entries = []
    for index, (source, reference) in enumerate(pairs):
        sentence = Sentence(source)
        translation = as_proposal(learner.propose(sentence)).translation
        entries.append(JournalEntry(index, source, translation, reward_of(translation, reference)))
        learner.update(sentence, translation, Feedback(entries[-1].reward))
    return entries


def reward_of(translation: str, reference: str) -> float:
    """Return the reward of a translation, as precise as the service's."""
    return to_ticks(sentence_bleu(translation, reference)) / TICKS
