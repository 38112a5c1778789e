"""Scores translations: the true reward by the metric of the phase, and the observed reward with its noise."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from lambdas.text_lines import Reference
from leaderboard.metrics import bleu
from leaderboard.metrics.chrf import sentence_chrf
from leaderboard.metrics.post_edit import post_edit_statistics
from task.feedback import CHRF, FeedbackSpec


class ScoredTranslation(NamedTuple):
    """What a translation earned."""

    observed_reward: float  # what the participant receives
    true_reward: float  # what the leaderboard sums
    statistics: bytes  # what else the leaderboard is made of


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores the translations of one phase."""

    feedback: FeedbackSpec
    fingerprint: str  # of the sentences and references of the phase

    def score(self, translation: str, reference: Reference, *, run: str, index: int) -> ScoredTranslation:
        """Score the translation of round ``index`` of a run. The same round always gets the same noise."""
        feedback = self.feedback
        if feedback.shows_post_edits:
            counts, packed = post_edit_statistics(translation, reference.text, reference.wanted)
        else:
            counts = bleu.count_ngram_matches(translation, reference.text)
            packed = counts.to_bytes()
        is_chrf = feedback.metric is CHRF
        true_reward = sentence_chrf(translation, reference.text) if is_chrf else bleu.sentence_score(counts)
        noise = feedback.parsed_noise
        observed = true_reward if noise is None else noise.apply(true_reward, self._uniform(run, index))
        return ScoredTranslation(observed, true_reward, packed)

    def _uniform(self, run: str, index: int) -> float:
        """Return a draw from (0, 1) that is the same on every machine.

        The fingerprint keeps it secret: seeds are often small and can be guessed, but no participant can hash the
        references.
        """
        digest = hashlib.sha256(f"{self.feedback.seed}\0{self.fingerprint}/{run}\0{index}".encode()).digest()
        return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48
