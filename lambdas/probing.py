"""Signs that a participant plays systems as probes: to learn references, rather than to translate.

Every sign has honest explanations: short sentences are answered with one word, learners improve, machines crash. They
tell the organiser where to look, and prove nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from lambdas.phase_record import PhaseRecord
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store.interface import Store
from leaderboard.summaries import Summary
from task.rounds import Run

MAX_COMPARED_ROUNDS = 50_000  # of each run, for repeated hypotheses

# What is unusual enough to look at.
MAX_SINGLE_WORDS = 0.2
MAX_REPEATED = 0.5
MIN_ABANDONED_RUNS = 3
MAX_ABANDONED = 0.5
MAX_FIRST_PASS_GAP = 0.3


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a participant has played a phase."""

    participant: str
    phase: str
    runs: int
    unfinished: int  # of these
    single_words: float | None  # share of longer references that were answered with one word
    repeated: float | None  # share of answers that another of its systems gave to the same sentence, too
    first_pass_gap: float | None  # reward of later held-out passes minus that of the first: the largest of all runs

    @property
    def signs(self) -> list[str]:
        """What is unusual enough to look at, in words."""
        shares = {
            "one-word answers": (self.single_words, MAX_SINGLE_WORDS),
            "repeated answers": (self.repeated, MAX_REPEATED),
            "a weak first held-out pass": (self.first_pass_gap, MAX_FIRST_PASS_GAP),
        }
        found = [name for name, (share, limit) in shares.items() if share is not None and share > limit]
        if self.unfinished >= MIN_ABANDONED_RUNS and self.unfinished > MAX_ABANDONED * self.runs:
            found.append("unfinished runs")
        return found


def conduct(store: Store, record: PhaseRecord) -> list[Conduct]:
    """Return how each participant has played a phase, if at all. Reads the rounds of all runs."""
    registry, scoreboard = Registry(store), Scoreboard(store)
    found = []
    for participant in registry.participants():
        claims = registry.claims(participant.name, record.phase.name)
        summaries = [scoreboard.summary(record, run) for run in claims]
        if claims:
            found.append(_conduct(store, record, participant.name, claims, summaries))
    return found


def _conduct(
    store: Store, record: PhaseRecord, participant: str, claims: Sequence[Run], summaries: Sequence[Summary]
) -> Conduct:
    longer = sum(each.record.total.longer_references for each in summaries)
    single = sum(each.record.total.single_words for each in summaries)
    gaps = [gap for each in summaries if (gap := _first_pass_gap(each, record.phase.layout.block)) is not None]
    return Conduct(
        participant,
        record.phase.name,
        len(claims),
        sum(each.rounds < record.phase.layout.total for each in summaries),
        single / longer if longer else None,
        _repeated_share(store, record, claims),
        max(gaps, default=None),
    )


def _first_pass_gap(summary: Summary, size: int) -> float | None:
    """Return by how much the mean reward of complete later passes exceeds that of the first; None without both."""
    rewards = [tally.reward / size for _, tally in sorted(summary.record.passes.items()) if tally.rounds == size]
    return fmean(rewards[1:]) - rewards[0] if len(rewards) > 1 else None


def _repeated_share(store: Store, record: PhaseRecord, claims: Sequence[Run]) -> float | None:
    """Return the share of answers that another system gave to the same sentence, too; None for a single system."""
    if len({run.system for run in claims}) < 2:
        return None
    layout, systems, answers = record.phase.layout, Counter[int](), 0
    for system in sorted({run.system for run in claims}):
        own = {
            hash((layout.sentence(played.index), played.translation))
            for run in claims
            if run.system == system
            for played in islice(store.rounds(run.id), MAX_COMPARED_ROUNDS)
        }
        systems.update(own)
        answers += len(own)
    repeated = sum(count for count in systems.values() if count > 1)
    return repeated / answers if answers else None
