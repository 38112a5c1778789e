"""Translation edit rate (Snover et al. 2006): edits per reference word, where moving a phrase is one edit.

Finding the fewest edits with moves is NP-hard, so TER is defined by a greedy search, and every implementation that is
to be compared with others must search alike. This one returns what sacreBLEU's ``TER()`` returns for one reference,
which in turn follows Tercom: its limits on the length and distance of a shift, its order of preference among edits, and
its beam around the diagonal of the edit-distance matrix. It needs the standard library only and is several times
faster: a shift is tried with a bit-parallel edit distance (Hyyrö 2003), and not at all where a bound shows that it
cannot win.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import ne
from typing import NamedTuple

from leaderboard.metrics.packing import pack_counts, unpack_counts

SIGNATURE = "TER|nrefs:1|case:mixed|tok:none|norm:no|punct:yes|asian:no|v:1"

MAX_SHIFT_LENGTH = 10  # words that move together
MAX_SHIFT_DISTANCE = 50  # words between the two places
MAX_SHIFTS_TRIED = 1_000  # per sentence
BEAM_WIDTH = 25  # cells on either side of the diagonal

_INFINITY = 10**16


class TerStatistics(NamedTuple):
    """Edits and reference words of one sentence or of many: sums add up field by field."""

    edits: int
    reference_length: int

    def plus(self, other: "TerStatistics") -> "TerStatistics":
        """Return the statistics of both texts together (``+`` on a named tuple would concatenate)."""
        return TerStatistics(self.edits + other.edits, self.reference_length + other.reference_length)

    @property
    def score(self) -> float:
        """TER in percent: 0 is perfect, and an output that is too long can exceed 100."""
        if not self.reference_length:
            return 100.0 if self.edits else 0.0
        return 100 * self.edits / self.reference_length

    def to_bytes(self) -> bytes:
        """Return two bytes for a sentence of up to 127 words."""
        return pack_counts(self)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "TerStatistics":
        """Return the statistics that ``to_bytes`` packed; raise ValueError for anything else."""
        edits, reference_length = unpack_counts(packed, 2, "TER statistics")
        return cls(edits, reference_length)


def ter_statistics(hypothesis: str, reference: str) -> TerStatistics:
    """Count the edits that turn a hypothesis into a reference, both split on whitespace."""
    words, target = hypothesis.split(), reference.split()
    return TerStatistics(count_edits(words, target, _shared_words(words, target)), len(target))


def count_edits(words: list[str], target: list[str], shared: int) -> int:
    """Count the edits that turn words into a target, given how many words they share in any order.

    BLEU counts the shared words too: they are its clipped unigram matches.
    """
    surplus = abs(len(words) - len(target))
    floor = max(len(words), len(target)) - shared  # no order of the words needs fewer edits
    if not shared:
        return floor
    if surplus + floor < BEAM_WIDTH - 1:
        # Often some words differ, and none moves. Then pairing words by their places, from the left or from the right,
        # needs no more edits than the floor, which saves the computation of the edit distance.
        if surplus + sum(map(ne, words, target)) == floor:
            return floor
        if surplus and surplus + sum(map(ne, reversed(words), reversed(target))) == floor:
            return floor
    return _edits_with_shifts(words, target, floor)


def total_ter(many: Iterable[TerStatistics]) -> TerStatistics:
    """Return the statistics of a whole corpus."""
    edits = reference_length = 0
    for counts in many:
        edits += counts.edits
        reference_length += counts.reference_length
    return TerStatistics(edits, reference_length)


def _edits_with_shifts(words: Sequence[str], reference: Sequence[str], floor: int) -> int:
    """Shift greedily for as long as a shift shortens the edit distance; count shifts and the edits that remain."""
    numbers: dict[str, int] = {}  # words as small whole numbers, which compare faster
    target = [numbers.setdefault(word, len(numbers)) for word in reference]
    current = [numbers.setdefault(word, len(numbers)) for word in words]
    distance = _EditDistance(target, len(current))
    shifts = tried = 0
    remaining = distance.of(current)
    while remaining > floor:
        best, tried = _best_shift(current, target, distance, remaining, floor, tried)
        if best is None or tried >= MAX_SHIFTS_TRIED or best.gain <= 0:
            break
        shifts += 1
        current = _shifted(current, best.start, best.length, best.goal)
        remaining -= best.gain
    return shifts + remaining


def _shared_words(words: list[str], target: list[str]) -> int:
    """Count the words that both have, in any order."""
    available: dict[str, int] = {}
    for word in target:
        available[word] = available.get(word, 0) + 1
    shared = 0
    for word in words:
        left = available.get(word, 0)
        if left:
            available[word] = left - 1
            shared += 1
    return shared


class _Shift(NamedTuple):
    """A phrase that moves, in Tercom's order of preference: gain, then length, then the earliest start and goal."""

    gain: int
    length: int
    minus_start: int
    minus_goal: int

    @property
    def start(self) -> int:
        return -self.minus_start

    @property
    def goal(self) -> int:
        return -self.minus_goal


def _best_shift(
    words: list[int], target: list[int], distance: "_EditDistance", remaining: int, floor: int, tried: int
) -> tuple[_Shift | None, int]:
    """Return the shift that shortens the distance most, and how many were tried up to now."""
    alignment, target_errors, word_errors = distance.alignment(words, remaining)
    best: _Shift | None = None
    for start, target_start, length in _shared_phrases(words, target):
        in_place = start <= alignment[target_start] < start + length
        wrong_here = any(word_errors[start : start + length])
        wrong_there = any(target_errors[target_start : target_start + length])
        if in_place or not wrong_here or not wrong_there:
            continue
        previous = -1
        for place in range(target_start - 1, target_start + length):
            goal = alignment[place] + 1 if place >= 0 else 0
            if goal == previous:
                continue
            previous = goal
            tried += 1
            # Moving a phrase over another one edits at most twice the shorter of both.
            passed = start - goal if goal < start else goal - start - length if goal > start + length else goal - start
            most = min(remaining - floor, 2 * min(length, passed))
            if best is not None and (most, length, -start, -goal) <= best:
                continue
            gain = remaining - distance.of(_shifted(words, start, length, goal), shared=min(start, goal))
            shift = _Shift(gain, length, -start, -goal)
            if best is None or shift > best:
                best = shift
        if tried >= MAX_SHIFTS_TRIED:
            break
    return best, tried


def _shifted(words: list[int], start: int, length: int, goal: int) -> list[int]:
    """Return the words with a phrase moved to a goal; a goal within the phrase moves it that many words on."""
    end = start + length
    if goal < start:
        return words[:goal] + words[start:end] + words[goal:start] + words[end:]
    beyond = goal if goal > end else length + goal
    return words[:start] + words[end:beyond] + words[start:end] + words[beyond:]


def _shared_phrases(words: list[int], target: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield start, start in the target, and length of every phrase that both have, in the order that they are tried."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(target):
        places.setdefault(word, []).append(place)
    for start, word in enumerate(words):
        for target_start in places.get(word, ()):
            if abs(target_start - start) > MAX_SHIFT_DISTANCE:
                continue
            longest = min(MAX_SHIFT_LENGTH, len(words) - start, len(target) - target_start)
            for length in range(1, longest + 1):
                if words[start + length - 1] != target[target_start + length - 1]:
                    break
                yield start, target_start, length


class _EditDistance:
    """Edit distance to one target, of many word orders of one hypothesis.

    A column of the edit-distance matrix is two whole numbers, whose bits say where it rises and falls by one.
    """

    def __init__(self, target: list[int], length: int) -> None:
        self._target = target
        self._ratio = len(target) / length if length else 1.0
        self._matches: dict[int, int] = {}  # by word, the places of the target that it has
        for place, word in enumerate(target):
            self._matches[word] = self._matches.get(word, 0) | 1 << place
        self._columns: list[tuple[int, int, int]] = []  # rises, falls and distance before each word aligned last
        # The beam leaves out no path with fewer edits than this, so an exact distance below it is the beam's too.
        self._exact_below = BEAM_WIDTH - 1 - abs(len(target) - length)

    def of(self, words: list[int], *, shared: int = 0) -> int:
        """Return the distance of words, of which the first ``shared`` are those that were aligned last."""
        start = self._columns[shared] if shared else ((1 << len(self._target)) - 1, 0, len(self._target))
        _, _, edits = self._extend(start, words[shared:])[-1]
        return edits if edits < self._exact_below else self._matrix(words)[-1][-1]

    def alignment(self, words: list[int], edits: int) -> tuple[list[int], list[bool], list[bool]]:
        """Align the target with words that are ``edits`` away.

        Returns:
            For each place of the target the last place of the words up to it (-1 for none), and for both sides whether
            what stands at a place is wrong.
        """
        target = self._target
        self._columns = self._extend(((1 << len(target)) - 1, 0, len(target)), words)
        matrix = None if edits < self._exact_below else self._matrix(words)
        alignment, target_errors, word_errors = [0] * len(target), [True] * len(target), [True] * len(words)
        row, column, cost = len(words), len(target), edits
        while column:
            if row:
                before, above = matrix[row - 1][column - 1 : column + 1] if matrix else self._cells(row - 1, column - 1)
                wrong = words[row - 1] != target[column - 1]
                if before + wrong == cost:
                    row, column, cost = row - 1, column - 1, before
                    alignment[column] = row
                    target_errors[column] = word_errors[row] = wrong
                    continue
                if above + 1 == cost:
                    row, cost = row - 1, above
                    continue
            column, cost = column - 1, cost - 1
            alignment[column] = row - 1
        return alignment, target_errors, word_errors

    def _extend(self, column: tuple[int, int, int], words: list[int]) -> list[tuple[int, int, int]]:
        """Return this column and those after each word."""
        everything, top, matches = (1 << len(self._target)) - 1, 1 << (len(self._target) - 1), self._matches
        rises, falls, edits = column
        columns = [column]
        for word in words:
            match = matches.get(word, 0)
            diagonal = (((match & rises) + rises) ^ rises) | match | falls
            right_rises, right_falls = falls | ~(diagonal | rises), diagonal & rises
            if right_rises & top:
                edits += 1
            elif right_falls & top:
                edits -= 1
            right_rises = right_rises << 1 | 1
            rises, falls = (right_falls << 1 | ~(diagonal | right_rises)) & everything, diagonal & right_rises
            columns.append((rises, falls, edits))
        return columns

    def _cells(self, row: int, column: int) -> tuple[int, int]:
        """Return the cells of the edit-distance matrix in this row, in this column and in the next one."""
        rises, falls, _ = self._columns[row]
        bit = 1 << column
        first = row + (rises & (bit - 1)).bit_count() - (falls & (bit - 1)).bit_count()
        return first, first + (1 if rises & bit else -1 if falls & bit else 0)

    def _matrix(self, words: list[int]) -> list[list[int]]:
        """Return the edit distances of all prefixes within the beam; cells outside of it are infinite."""
        target, size = self._target, len(self._target)
        width = BEAM_WIDTH
        if width < self._ratio / 2:  # rows that would share no cell with the one before
            width = math.ceil(self._ratio / 2 + BEAM_WIDTH)
        matrix = [list(range(size + 1))]
        for number, word in enumerate(words, start=1):
            diagonal = math.floor(number * self._ratio)
            first, end = max(0, diagonal - width), min(size + 1, diagonal + width)
            if number == len(words):
                end = size + 1
            above, row = matrix[-1], [_INFINITY] * (size + 1)
            left = _INFINITY
            if not first:
                left = row[0] = number
            for column in range(max(first, 1), end):
                cost = above[column - 1] + (word != target[column - 1])
                left = row[column] = min(cost, above[column] + 1, left + 1, _INFINITY)
            matrix.append(row)
        return matrix
