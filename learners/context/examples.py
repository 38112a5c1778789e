"""Sentences with their context: what context-aware models are trained on, translate and score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.metrics.contrastive import ContrastiveGroup
from learners.nmt.batches import Pair

MAX_CONTEXT = 3  # sentences (Voita et al. 2019, section 5.3)


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, the pairs before it, oldest first, and its translation where it is known."""

    source: str
    context: tuple[Pair, ...] = ()
    target: str = ""

    def limited(self, sentences: int) -> "Example":
        """Return the example with at most this many sentences of context."""
        kept = self.context[-sentences:] if sentences else ()
        return Example(self.source, kept, self.target)


def windows(documents: Iterable[Sequence[Pair]], *, min_context: int = MAX_CONTEXT) -> list[Example]:
    """Return a window for every sentence of the documents that has at least this many sentences before it.

    A window has at most three sentences of context: (s1, .., s4), (s2, .., s5), ... (Voita et al. 2019, Appendix B.1).
    """
    return [
        Example(source, tuple(document[max(0, place - MAX_CONTEXT) : place]), target)
        for document in documents
        for place, (source, target) in enumerate(document)
        if place >= min_context
    ]


def without_context(pairs: Iterable[Pair]) -> list[Example]:
    """Return an example without context for each pair."""
    return [Example(source, (), target) for source, target in pairs]


def candidates_of(groups: Iterable[ContrastiveGroup]) -> list[Example]:
    """Return an example for each candidate of contrastive groups, group after group."""
    return [
        Example(group.sources[-1], tuple(zip(group.sources[:-1], group.context, strict=True)), candidate)
        for group in groups
        for candidate in group.candidates
    ]
