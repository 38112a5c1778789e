"""Scores translations: the true reward by the metric of the phase, and the observed reward with its noise."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from leaderboard.metrics import bleu
from task.feedback import FeedbackSpec


class ScoredTranslation(NamedTuple):
    """What a translation earned."""

    observed_reward: float  # what the participant receives
    true_reward: float  # what the leaderboard sums
    statistics: bleu.BleuStatistics


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores the translations of one phase."""

    feedback: FeedbackSpec
    fingerprint: str  # of the sentences and references of the phase

    def score(self, translation: str, reference: str, *, run: str, index: int) -> ScoredTranslation:
        """Score the translation of round ``index`` of a run. The same round always gets the same noise."""
        statistics = bleu.count_ngram_matches(translation, reference)
        true_reward, noise = bleu.sentence_score(statistics), self.feedback.parsed_noise
        observed = true_reward if noise is None else noise.apply(true_reward, self._uniform(run, index))
        return ScoredTranslation(observed, true_reward, statistics)

    def _uniform(self, run: str, index: int) -> float:
        """Return a draw from (0, 1) that is the same on every machine.

        The fingerprint keeps it secret: seeds are often small and can be guessed, but no participant can hash the
        references.
        """
        digest = hashlib.sha256(f"{self.feedback.seed}\0{self.fingerprint}/{run}\0{index}".encode()).digest()
        return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48
