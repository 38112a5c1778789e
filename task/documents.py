"""Documents of a phase: which sentences belong together, and what a participant learns of that.

A document is a run of neighbouring sentences. A phase stores the position of every distinct sentence in its document,
and nothing else: the sentence of round k at position p belongs to the document that began in round k - p. So a
participant is given an id that names the run and that round. Ids of two runs cannot be compared, and a held-out block
has other ids each time that it is served, so that ids do not tell it from fresh sentences.
"""

import hashlib
from collections.abc import Iterable, Iterator

from task.description import UNKNOWN_DOCUMENT
from task.layout import Layout


def document_id(run: str, index: int, position: int) -> str:
    """Return the id of the document to which the sentence of a round belongs, as one run sees it."""
    return hashlib.sha256(f"{run}/{index - position}".encode()).hexdigest()[:16]


def positions(documents: Iterable[str], layout: Layout) -> Iterator[int]:
    """Yield the position of each distinct sentence of a phase in its document.

    Args:
        documents: The document ids of the distinct sentences, as the task has them.
        layout: The layout of the phase. No document crosses the border between the held-out block and fresh sentences,
            or between the fresh sentences before and after a held-out pass: it would be interrupted there.
    """
    position, before = -1, UNKNOWN_DOCUMENT
    for sentence, document in enumerate(documents):
        continues = document == before and document != UNKNOWN_DOCUMENT and not layout.is_border(sentence)
        position = position + 1 if continues else 0
        before = document
        yield position
