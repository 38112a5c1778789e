"""One small summary per run, folded from its rounds in the ledger: all that the leaderboard ever reads.

A summary covers the first rounds of its run, however many. Folding continues where it ends and skips the rounds that it
has already, so any batch may come twice; two summaries of one run differ only in how many rounds they cover.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Self

from leaderboard.metrics.adaptation import NO_COUNTS, AdaptationCounts, AdaptationRecord
from leaderboard.metrics.bleu import MAX_ORDER, BleuStatistics
from leaderboard.metrics.bootstrap import BlockRewards
from leaderboard.metrics.online import OnlineRecord, Tally, checkpoints, coarse_ends
from task.layout import Layout
from task.rounds import RoundResult

VERSION = 2  # of the document below
READABLE_VERSIONS = (1, VERSION)  # version 1 has neither the last quarter nor counts of single words
MAX_BLOCKS = 200  # by which a run is resampled: enough for an interval, few enough to store for every run


class SummaryError(ValueError):
    """A document is not a summary, or not one of this version."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run a summary is of: its opening, without the token key, which is no concern of the leaderboard."""

    run: str
    participant: str
    phase: str
    system: str
    attempt: int  # counted from 1 among the runs of this system in this phase
    opened_at: int  # milliseconds since 1970


_IDENTITY_TYPES = [str, str, str, str, int, int]


def block_length(total: int) -> int:
    """Return the number of rounds in a block of a phase of ``total`` rounds."""
    return max(1, math.ceil(total / MAX_BLOCKS))


@dataclass(frozen=True)
class Summary:
    """What the leaderboard knows of a run."""

    identity: RunIdentity
    record: OnlineRecord
    is_current: bool = field(default=True, compare=False)  # if not, it can be shown, but must be rebuilt to go on

    @classmethod
    def begin(cls, identity: RunIdentity, total: int, *, post_edits: bool = False) -> Self:
        """Return the summary of a run without rounds, in a phase of ``total`` rounds that may show post-edits."""
        adaptation = AdaptationRecord() if post_edits else None
        return cls(identity, OnlineRecord(stride=block_length(total), adaptation=adaptation))

    @property
    def rounds(self) -> int:
        return self.record.total.rounds

    @property
    def speed(self) -> float | None:
        """Rounds per second from the first round to the last."""
        first, last = self.record.first_at, self.record.last_at
        return (
            1000 * (self.rounds - 1) / (last - first)
            if first is not None and last is not None and last > first
            else None
        )

    @cached_property
    def curve(self) -> Mapping[int, int]:
        """Cumulative reward in ticks after k rounds: at checkpoints, at the ends of blocks, and at the last round."""
        return {**self.record.curve, self.rounds: self.record.total.ticks}

    def blocks(self, total: int) -> BlockRewards:
        """Return the rewards by block: of complete blocks, and of the short one at the end of a finished run."""
        ends = list(range(self.record.stride, self.rounds + 1, self.record.stride))
        if self.rounds == total and total % self.record.stride:
            ends.append(total)
        ticks = [self.curve[end] for end in ends]
        return BlockRewards(
            tuple(b - a for a, b in pairwise([0, *ticks])), tuple(b - a for a, b in pairwise([0, *ends]))
        )

    def fold(self, results: Iterable[RoundResult], layout: Layout) -> "Summary":
        """Return the summary continued with further rounds in their order. Raises GapError if some are missing."""
        return replace(self, record=self.record.fold(results, layout))

    # as a document

    def as_document(self) -> dict[str, Any]:
        """Return the summary as a JSON object, some 15 kB for a run of a million rounds."""
        adaptation = self.record.adaptation
        return {
            "version": VERSION,
            **asdict(self.identity),
            "block": self.record.stride,
            "total": _pack_tally(self.record.total),
            "passes": [[number, *_pack_tally(tally)] for number, tally in sorted(self.record.passes.items())],
            "curve": _pack_curve(self.record),
            "first_at": self.record.first_at,
            "last_at": self.record.last_at,
            "late": [*_pack_tallies([tally for _, tally in sorted(self.record.late.items())])],
            **({} if adaptation is None else {"adaptation": _pack_adaptation(adaptation)}),
            **({"head": self.record.head.hex()} if self.record.head else {}),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Parse what ``as_document`` returned. Raises SummaryError at anything else."""
        try:
            version = document["version"]
            if version not in READABLE_VERSIONS:
                raise SummaryError(f"the summary has version {version}, not {VERSION}; rebuild the board")
            total = _unpack_tally(document["total"])
            passes = {number: _unpack_tally(packed) for number, *packed in document["passes"]}
            stride, activity = document["block"], (document["first_at"], document["last_at"])
            if stride and total.rounds > stride * MAX_BLOCKS:  # before anything is computed for each block
                raise SummaryError("the summary has more blocks than any; rebuild the board")
            curve = _unpack_curve(document["curve"], total.rounds, stride)
            packed = document.get("adaptation")
            adaptation = None if packed is None else _unpack_adaptation(packed, total.rounds, stride)
            late = {tally.rounds: tally for tally in _unpack_tallies(*document.get("late", (0, _NO_NUMBERS)))}
            head = bytes.fromhex(document.get("head", ""))
            record = OnlineRecord(total, passes, curve, stride, *activity, adaptation, late, head)
            identity = RunIdentity(*(document[name] for name in RunIdentity.__slots__))
            if list(map(type, astuple(identity))) != _IDENTITY_TYPES:
                raise SummaryError("the summary is of no run; rebuild the board")
            return cls(identity, record, is_current=version == VERSION)
        except SummaryError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError, struct.error, zlib.error) as failure:
            raise SummaryError("not a summary; rebuild the board") from failure


def _pack_tally(tally: Tally) -> list[int]:
    counts = tally.statistics
    words = (counts.reference_length, tally.longer_references, tally.single_words)
    return [tally.rounds, tally.ticks, *counts.matches, *counts.candidates, *words]


def _unpack_tally(packed: Sequence[int]) -> Tally:
    rounds, ticks, m1, m2, m3, m4, c1, c2, c3, c4, reference_length, *words = packed
    longer_references, single_words = words or (0, 0)
    statistics = BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length)
    return Tally(rounds, ticks, statistics, longer_references, single_words)


_EMPTY_TALLY = _pack_tally(Tally())


def _pack_tallies(tallies: Sequence[Tally]) -> tuple[int, str]:
    """Pack tallies of a growing number of rounds as their number, and what was added from each to the next."""
    return len(tallies), _pack_steps([_EMPTY_TALLY, *map(_pack_tally, tallies)])


def _unpack_tallies(count: int, packed: str) -> list[Tally]:
    return [_unpack_tally(sums) for sums in _unpack_steps(packed, count, len(_EMPTY_TALLY))]


assert MAX_ORDER == 4, "tallies are packed with four orders of n-grams"


def _sampled_rounds(rounds: int, stride: int) -> list[int]:
    """Return the rounds at which the curve of a record is sampled: they need not be stored with every curve."""
    ends = range(stride, rounds + 1, stride) if stride else ()
    return sorted({*(k for k in checkpoints() if k <= rounds), *ends})


def _pack_curve(record: OnlineRecord) -> str:
    """Pack the ticks earned between two samples as 64-bit integers, compressed: most of their bytes are zero."""
    ticks = [record.curve[k] for k in _sampled_rounds(record.total.rounds, record.stride)]
    return _pack_numbers([after - before for before, after in pairwise([0, *ticks])])


def _unpack_curve(packed: str, rounds: int, stride: int) -> dict[int, int]:
    sampled = _sampled_rounds(rounds, stride)
    return dict(zip(sampled, accumulate(_unpack_numbers(packed, len(sampled))), strict=True))


def _pack_adaptation(adaptation: AdaptationRecord) -> str:
    """Pack what was counted between two samples, and after the last of them."""
    return _pack_steps([NO_COUNTS, *(adaptation.samples[k] for k in sorted(adaptation.samples)), adaptation.total])


def _unpack_adaptation(packed: str, rounds: int, stride: int) -> AdaptationRecord:
    sampled = coarse_ends(rounds, stride)
    unpacked = _unpack_steps(packed, len(sampled) + 1, len(AdaptationCounts._fields))
    *samples, total = (AdaptationCounts(*counts) for counts in unpacked)
    return AdaptationRecord(total, dict(zip(sampled, samples, strict=True)))


def _pack_steps(sums: Sequence[Sequence[int]]) -> str:
    """Pack what was added from each of these sums to the next: count by count, because counts differ in size."""
    return _pack_numbers([after - before for column in zip(*sums, strict=True) for before, after in pairwise(column)])


def _unpack_steps(packed: str, size: int, counts: int) -> list[tuple[int, ...]]:
    """Return ``size`` sums of ``counts`` numbers each: all but the first, which is zero."""
    steps = _unpack_numbers(packed, size * counts)
    columns = [accumulate(steps[start : start + size]) for start in range(0, len(steps), size or 1)]
    return list(zip(*columns, strict=True))


def _pack_numbers(numbers: Sequence[int]) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f">{len(numbers)}Q", *numbers))).decode()


def _unpack_numbers(packed: str, count: int) -> tuple[int, ...]:
    # one byte more than expected is enough to tell that there are too many
    return struct.unpack(f">{count}Q", zlib.decompressobj().decompress(base64.b64decode(packed), 8 * count + 1))


_NO_NUMBERS = _pack_numbers([])
