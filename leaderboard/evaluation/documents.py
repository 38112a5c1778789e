"""Scores by document: how well each was translated before, during and after adaptation."""

from collections.abc import Mapping, Sequence

from leaderboard.evaluation.comparison import EvaluationError, check_aligned
from leaderboard.evaluation.measures import Measure
from leaderboard.metrics.reliability import (
    DocumentScores,
    Reliability,
    ReliabilityError,
    backward_reliability,
    held_out_from,
)

BASELINE, ADAPTED, FINAL = "baseline", "adapted", "final"  # the three translations of each held-out part


def group_by_document(documents: Sequence[str], sentences: Sequence[str]) -> dict[str, list[str]]:
    """Return the sentences of each document, in the order in which documents come first.

    Raises:
        EvaluationError: There is not one document id for each sentence, or an id is empty.
    """
    if len(documents) != len(sentences):
        raise EvaluationError(f"there are {len(documents):,} document ids for {len(sentences):,} sentences")
    grouped: dict[str, list[str]] = {}
    for place, (document, sentence) in enumerate(zip(documents, sentences, strict=True), start=1):
        if not document.strip():
            raise EvaluationError(f"document id {place:,} is empty: every sentence needs one")
        grouped.setdefault(document, []).append(sentence)
    return grouped


def held_out_places(documents: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the places of the last third of each document, and the documents that are too short to have one.

    Args:
        documents: The document of each sentence.
    """
    places: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        places.setdefault(document, []).append(place)
    held_out, too_short = [], []
    for document, mine in places.items():
        try:
            held_out += mine[held_out_from(len(mine)) :]
        except ReliabilityError:
            too_short.append(document)
    return held_out, too_short


def score_documents(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], documents: Sequence[str], measure: Measure
) -> Reliability:
    """Score the held-out part of each document as translated by the systems ``baseline``, ``adapted`` and ``final``.

    Raises:
        EvaluationError: The texts do not have the same number of sentences, or a reference or a document id is empty.
    """
    check_aligned(systems, references)
    gold = group_by_document(documents, references)
    grouped = [group_by_document(documents, systems[name]) for name in (BASELINE, ADAPTED, FINAL)]

    def score(document: str, output: Mapping[str, Sequence[str]]) -> float:
        rows = measure.statistics(output[document], gold[document])
        return measure.score([sum(column) for column in zip(*rows, strict=True)]) or 0.0

    scores = [DocumentScores(name, *(score(name, output) for output in grouped)) for name in gold]
    return backward_reliability(scores, higher_is_better=measure.higher_is_better)
