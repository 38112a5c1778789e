"""Backward reliability: whether a system that keeps adapting still translates what it adapted to first.

Each document is cut in two: the first two thirds feed adaptation, the last third is held out. The held-out part of each
document is translated three times: by the system that never adapted, by the one that has adapted up to and including
this document, and by the one that has adapted to all documents. A reliable system loses nothing between the second and
the third (Bertoldi et al. 2012, section 4.6).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


class ReliabilityError(ValueError):
    """Scores or documents from which reliability cannot be computed."""


@dataclass(frozen=True, slots=True)
class DocumentScores:
    """How well the held-out part of one document was translated."""

    document: str
    baseline: float  # without adaptation
    adapted: float  # after the documents up to and including this one
    final: float  # after all documents

    @property
    def gain(self) -> float:
        """The change of score by adapting up to and including this document."""
        return self.adapted - self.baseline

    @property
    def drift(self) -> float:
        """The change of score by adapting to the documents after this one."""
        return self.final - self.adapted


@dataclass(frozen=True, slots=True)
class Reliability:
    """The documents of a test in the order in which the system adapted to them."""

    documents: tuple[DocumentScores, ...]
    higher_is_better: bool  # as for BLEU; not for TER

    @property
    def mean_drift(self) -> float:
        """The mean change of score between adapting to a document and having adapted to all of them."""
        return math.fsum(each.drift for each in self.documents) / len(self.documents)

    @property
    def mean_gain(self) -> float:
        return math.fsum(each.gain for each in self.documents) / len(self.documents)

    @property
    def forgotten(self) -> tuple[str, ...]:
        """The documents that are translated worse in the end than right after adapting to them."""
        sign = 1 if self.higher_is_better else -1
        return tuple(each.document for each in self.documents if sign * each.drift < 0)


def backward_reliability(documents: Sequence[DocumentScores], *, higher_is_better: bool = True) -> Reliability:
    """Return how much of earlier documents a system has forgotten.

    Raises:
        ReliabilityError: There are no documents, or a score is not a finite number.
    """
    if not documents:
        raise ReliabilityError("backward reliability needs the scores of at least one document")
    for each in documents:
        if not all(map(math.isfinite, (each.baseline, each.adapted, each.final))):
            raise ReliabilityError(f"a score of document {each.document!r} is not a finite number")
    return Reliability(tuple(documents), higher_is_better)


def held_out_from(sentences: int) -> int:
    """Return the place in a document from which its sentences are held out: after the first two thirds.

    Raises:
        ReliabilityError: The document is too short to have both parts.
    """
    cut = math.ceil(2 * sentences / 3)
    if not 0 < cut < sentences:
        raise ReliabilityError(f"a document of {sentences} sentences cannot be cut into two thirds and one third")
    return cut
