"""The ledger's two kinds of entry: a run that was opened, and a round that was committed.

The ledger is the state. Entries are written once and never changed, but for the names of participants who are erased.
Each carries enough to go on from: the last entry of a run tells whose it is, which sentence is pending, what was
earned, and which key signs its ids.
"""

from dataclasses import dataclass
from typing import NamedTuple

OPENING = -1  # where a run's opening stands among its rounds: before the first

# What the judge wants to know of a round: index, clean score, statistics, and when it was committed. A plain tuple, as
# databases deliver it, because there are millions.
Result = tuple[int, float, bytes, int]


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one system over one phase, as it was opened."""

    id: str
    participant: str
    phase: str
    system: str
    attempt: int  # counted from 1 among the runs of this system in this phase
    opened_at: int  # milliseconds since 1970
    key: int  # which token key signs its sentence ids


@dataclass(frozen=True, slots=True)
class Round:
    """One sentence, answered: what was proposed, what it earned, and what has been earned up to here."""

    run: Run
    index: int  # zero-based
    translation: str  # exactly as it was sent
    shown: float  # the score that the participant was told
    clean: float  # the score that the accounts are kept with
    statistics: bytes  # BleuStatistics.to_bytes
    shown_ticks: int  # sum of shown scores, this round included, in ticks
    clean_ticks: int  # sum of clean scores, this round included, in ticks
    committed_at: int  # milliseconds since 1970

    @property
    def result(self) -> Result:
        return self.index, self.clean, self.statistics, self.committed_at


class Progress(NamedTuple):
    """Where a run stands: its opening, and its last round if there is one."""

    run: Run
    last: Round | None

    @property
    def pending(self) -> int:
        """The index of the sentence that waits for an answer; the number of rounds when the run is finished."""
        return 0 if self.last is None else self.last.index + 1
