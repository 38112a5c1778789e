"""The records of a run: its opening, its rounds, and how far it has come.

They are written once and never changed, but for the names of participants who are erased. Each round carries enough to
resume from: the last round of a run tells who plays it, which sentence is pending, what has been earned, and which key
signs its sentence ids.

Rewards are summed in ticks. A tick is a fixed-point unit of reward: a reward of 1 is 10**12 ticks. Whole numbers add up
exactly in any order and grouping, as floating-point numbers do not.
"""

from dataclasses import dataclass
from typing import NamedTuple

LINK_BYTES = 16  # of the link of a round
TICKS = 10**12  # in a reward of 1; 1.3 million such rewards stay far below the largest 64-bit integer


def to_ticks(reward: float) -> int:
    """Return a reward as a whole number of ticks. Raises ValueError unless it lies between 0 and 1."""
    if not 0 <= reward <= 1:  # catches NaN too
        raise ValueError(f"a reward lies between 0 and 1, but this one is {reward}")
    return round(reward * TICKS)


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one system over one phase, as it was opened."""

    id: str
    participant: str
    phase: str
    system: str
    attempt: int  # counted from 1 among the runs of this system in this phase
    opened_at: int  # milliseconds since 1970
    key: int  # the number of the token key that signs its sentence ids


class RoundResult(NamedTuple):
    """What the leaderboard needs to know of a round. A plain tuple, because there are millions."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which no caller needs here
    true_reward: float
    statistics: bytes
    committed_at: int  # milliseconds since 1970
    link: bytes = b""  # see Round


@dataclass(frozen=True, slots=True)
class Round:
    """One committed round: a translation, what it earned, and what its run has earned so far."""

    run: Run
    index: int  # zero-based
    translation: str  # exactly as it was sent
    observed_reward: float  # what the participant received
    true_reward: float  # what the leaderboard sums: without feedback noise
    statistics: bytes  # sufficient statistics: of BLEU, and in a post-edit phase also of TER and recall
    observed_ticks: int  # the sum of observed rewards up to and including this round
    true_ticks: int  # the sum of true rewards up to and including this round
    committed_at: int  # milliseconds since 1970
    log_probability: float | None = None  # with which the system drew the translation, if it says so
    post_edit: str | None = None  # the reference, in a phase that shows it
    link: bytes = b""  # a keyed hash of the round and of the link before it; empty in runs of earlier versions

    @property
    def ticks_before(self) -> tuple[int, int]:
        """The sums of observed and true rewards before this round."""
        return self.observed_ticks - to_ticks(self.observed_reward), self.true_ticks - to_ticks(self.true_reward)

    @property
    def ticks_after(self) -> tuple[int, int]:
        """The sums of observed and true rewards up to and including this round."""
        return self.observed_ticks, self.true_ticks

    @property
    def result(self) -> RoundResult:
        return RoundResult(self.index, self.true_reward, self.statistics, self.committed_at, self.link)


class RunProgress(NamedTuple):
    """How far a run has come: its opening, and its last round if there is one."""

    run: Run
    last: Round | None
    link_before: bytes = b""  # of the round before the last one

    @property
    def pending(self) -> int:
        """The index of the sentence that awaits a translation; the number of rounds when the run is finished."""
        return 0 if self.last is None else self.last.index + 1
