"""The references of a task, by phase and round, for oracles: systems that see them are not participants."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.metrics.bleu import sentence_bleu
from leaderboard.metrics.chrf import sentence_chrf
from learners.errors import ReferencesError
from task.feedback import CHRF, SENTENCE_BLEU

SCORES = {SENTENCE_BLEU.name: sentence_bleu, CHRF.name: sentence_chrf}  # by the name of the metric


@dataclass(frozen=True, slots=True)
class PhaseReferences:
    """The references of one phase. One source may have different references in different rounds."""

    phase: str
    metric: str  # the name of the metric that scores translations
    sources: Sequence[str]  # by round, held-out passes included
    references: Sequence[str]  # by round

    def rewards(self, index: int, source: str, translations: Iterable[str]) -> list[float]:
        """Return what each translation would earn in round ``index``, which serves this source, without noise.

        Raises:
            ReferencesError: the round serves another source, so that these references are of another task.
        """
        score, reference = SCORES[self.metric], self.reference(index, source)
        return [score(translation, reference) for translation in translations]

    def reference(self, index: int, source: str) -> str:
        """Return the reference of round ``index``, which serves this source.

        Raises:
            ReferencesError: the round serves another source, so that these references are of another task.
        """
        if index >= len(self.sources) or self.sources[index] != source:
            found = repr(self.sources[index]) if index < len(self.sources) else "no sentence"
            raise ReferencesError(
                f"round {index:,} of phase {self.phase} serves {source!r}, but the references have {found} there: "
                "they are of another task; run banditmt pretrain on the task that is served"
            )
        return self.references[index]


References = dict[str, PhaseReferences]  # by phase
