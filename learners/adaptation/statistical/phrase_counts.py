"""The foreground phrase table: counts of the phrase pairs of all post-edits so far, with their orientations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from learners.adaptation.statistical.features import ORIENTATION_COUNT
from learners.adaptation.statistical.lexicon import Links, Words
from learners.smt.configs import SmtConfig

MONOTONE, SWAP, DISCONTINUOUS = range(ORIENTATION_COUNT)

Phrase = tuple[str, ...]


class PhraseSpan(NamedTuple):
    """A phrase pair in a sentence pair, by its positions."""

    start: int
    end: int
    target_start: int
    target_end: int


class Entry:
    """The occurrences of a phrase pair."""

    __slots__ = ("count", "orientations")

    def __init__(self) -> None:
        self.count = 0
        self.orientations = [0] * (2 * ORIENTATION_COUNT)  # to the phrase before, and of the phrase after


class PhraseCounts:
    """Phrase pairs by source side. Adding a sentence pair costs time in proportion to its phrases."""

    def __init__(self, config: SmtConfig) -> None:
        self._config = config
        self._entries: dict[Phrase, dict[Phrase, Entry]] = {}
        self._source_counts: Counter[Phrase] = Counter()
        self.orientations = [0] * (2 * ORIENTATION_COUNT)  # of all phrase pairs

    def add(self, source: Words, target: Words, links: Links) -> None:
        """Count the phrase pairs of an aligned sentence pair."""
        linked = set(links)
        for span in phrase_spans(len(source), len(target), links, self._config):
            side, other = tuple(source[span.start : span.end]), tuple(target[span.target_start : span.target_end])
            entry = self._entries.setdefault(side, {}).setdefault(other, Entry())
            entry.count += 1
            self._source_counts[side] += 1
            before, after = orientations(span, linked, len(source), len(target))
            for place in (before, ORIENTATION_COUNT + after):
                entry.orientations[place] += 1
                self.orientations[place] += 1

    def translations(self, source: Phrase) -> list[tuple[Phrase, Entry]]:
        """Return the most frequent translations of a source side, as many as the table's limit."""
        found = self._entries.get(source, {})
        return sorted(found.items(), key=lambda item: -item[1].count)[: self._config.table_limit]

    def source_count(self, source: Phrase) -> int:
        return self._source_counts[source]


def orientations(span: PhraseSpan, linked: set[tuple[int, int]], n: int, m: int) -> tuple[int, int]:
    """Return how a phrase follows the one before it in the target, and how the one after follows it, by word links.

    As in Moses (word-based, monotone, swap or discontinuous), the borders of a sentence are linked to each other.
    """

    def is_linked(i: int, j: int) -> bool:
        return (i, j) in linked or (i, j) in ((-1, -1), (n, m))

    before, after = span.target_start - 1, span.target_end
    previous = DISCONTINUOUS
    if is_linked(span.start - 1, before):
        previous = MONOTONE
    elif is_linked(span.end, before):
        previous = SWAP
    following = DISCONTINUOUS
    if is_linked(span.end, after):
        following = MONOTONE
    elif is_linked(span.start - 1, after):
        following = SWAP
    return previous, following


def phrase_spans(n: int, m: int, links: Links, config: SmtConfig) -> Iterator[PhraseSpan]:
    """Yield all phrase pairs that are consistent with the links, with unaligned words at their target borders."""
    by_source: list[list[int]] = [[] for _ in range(n)]
    by_target: list[list[int]] = [[] for _ in range(m)]
    for i, j in links:
        by_source[i].append(j)
        by_target[j].append(i)
    for start in range(n):
        linked: list[int] = []
        for end in range(start + 1, min(n, start + config.max_phrase_length) + 1):
            linked += by_source[end - 1]
            if not linked:
                continue
            low, high = min(linked), max(linked) + 1
            if any(not start <= i < end for j in range(low, high) for i in by_target[j]):
                continue
            yield from _with_unaligned_borders(start, end, low, high, by_target, config.max_target_length)


def _with_unaligned_borders(
    start: int, end: int, low: int, high: int, by_target: Sequence[list[int]], max_length: int
) -> Iterator[PhraseSpan]:
    first = low
    while True:
        last = high
        while last - first <= max_length:
            yield PhraseSpan(start, end, first, last)
            if last == len(by_target) or by_target[last]:
                break
            last += 1
        if first == 0 or by_target[first - 1]:
            break
        first -= 1
