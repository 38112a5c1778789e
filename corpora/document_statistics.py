"""Statistics of the documents of a task: what there is for a learner that adapts to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from corpora.errors import CorpusError
from corpora.task import Task
from task.description import OUT_OF_DOMAIN

RepetitionRate = Callable[[Sequence[str]], float | None]  # of sentences; None if they are too short


@dataclass(frozen=True, slots=True)
class DocumentStatistics:
    """The statistics of one document, or of all documents of a phase together."""

    phase: str
    document: str
    sentences: int
    words: int  # of the source
    repetition_rate: float | None  # of the source
    source_oov: float | None  # share of source words that the out-of-domain side lacks; None without such a side


def measure_documents(
    task: Task, repetition_rate: RepetitionRate, *, parts: Sequence[str] | None = None
) -> list[DocumentStatistics]:
    """Return the statistics of each document, in the order served.

    Args:
        task: The task.
        repetition_rate: Computes the repetition rate of sentences.
        parts: The phases; by default all.

    Raises:
        CorpusError: The task has no documents.
    """
    if not task.description.has_documents:
        raise CorpusError(f"{task.path} has no documents: make the task with --documents")
    known: set[str] = set()
    if OUT_OF_DOMAIN in task.parts:
        for pair in task.pairs(OUT_OF_DOMAIN):
            known.update(pair.source.split())
    return [
        _measure(phase, document, [pair.source for pair in pairs], known, repetition_rate)
        for phase in parts or [part for part in task.parts if part != OUT_OF_DOMAIN]
        for document, pairs in groupby(task.distinct_pairs(phase), key=lambda pair: pair.document)
    ]


def _measure(
    phase: str, document: str, sources: list[str], known: set[str], repetition_rate: RepetitionRate
) -> DocumentStatistics:
    words = [word for source in sources for word in source.split()]
    unknown = sum(word not in known for word in words)
    return DocumentStatistics(
        phase,
        document,
        len(sources),
        len(words),
        repetition_rate(sources),
        unknown / len(words) if known and words else None,
    )
