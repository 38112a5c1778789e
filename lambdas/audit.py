"""Does the board follow from the ledger, and the ledger from the texts? Every round is scored again.

Needs to read references, as the organiser can and no function but the scoring one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lambdas.registry import PhaseRecord, PhaseState
from lambdas.scoreboard import Scoreboard
from lambdas.scoring import Scorer
from lambdas.sentences import SentenceReader
from lambdas.store.interface import Store
from task.rounds import Round, Run

TOLERANCE = 1e-9  # of scores: the last bit of a logarithm may differ between the machine that scored and this one


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Something that does not follow."""

    run: str
    round: int | None  # None for the run as a whole
    complaint: str

    def __str__(self) -> str:
        where = "" if self.round is None else f", round {self.round:,}"
        return f"run {self.run}{where}: {self.complaint}"


class Auditor:
    """Checks runs of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self._sentences, self._scoreboard = store, SentenceReader(store), Scoreboard(store)
        self.rounds = 0  # checked so far
        self.behind = 0  # of these, rounds of runs under way that the board does not show yet

    def audit(self, record: PhaseRecord, run: Run) -> list[Discrepancy]:
        """All that is wrong with a run: its rounds, its sums, and its summary on the board."""
        found: list[Discrepancy] = []
        is_over = self._is_over(record, run)  # asked before all else: a run may go on while it is looked at
        before, rounds = self.rounds, self._checked(record, run, found)
        kept = self._scoreboard.summary(record, run)
        empty = self._scoreboard.empty_summary(record, run)
        try:
            folded = empty.fold((played.result for played in islice(rounds, kept.rounds)), record.phase.layout)
        except (ValueError, IndexError) as failure:  # a gap, a round too many, no statistics, no reward
            return [*found, Discrepancy(run.id, None, f"the ledger cannot be folded: {failure}")]
        if folded != kept:
            found.append(Discrepancy(run.id, None, "the board does not show what the ledger holds; rebuild it"))
        for _ in rounds:
            pass  # what the board has not seen yet is checked too
        missing = max(0, min(self.rounds - before, record.phase.layout.total) - kept.rounds)
        if missing and is_over:
            found.append(Discrepancy(run.id, None, f"the board does not show its last {missing:,} rounds; rebuild it"))
        else:
            self.behind += missing
        return found

    def unclaimed(self, record: PhaseRecord) -> list[Discrepancy]:
        """What the board of a phase shows although nobody opened it."""
        complaint = "the board shows it, but nobody opened it; rebuild it"
        return [Discrepancy(summary.identity.run, None, complaint) for summary in self._scoreboard.unclaimed(record)]

    def _is_over(self, record: PhaseRecord, run: Run) -> bool:
        """Whether all rounds of a run were played, or none can be any more: then the board has nothing to wait for."""
        progress = self._store.progress(run.id)
        is_finished = progress is not None and progress.pending >= record.phase.layout.total
        return is_finished or record.state is PhaseState.CLOSED

    def _checked(self, record: PhaseRecord, run: Run, found: list[Discrepancy]) -> Iterator[Round]:
        """The rounds of a run as they are, noting down what is wrong with each."""
        earned = (0, 0)
        for position, played in enumerate(self._store.rounds(run.id)):
            self.rounds += 1
            complaints = []
            if played.index != position:
                complaints.append(f"the rounds before it are missing from {position:,} on")
            elif played.index >= record.phase.layout.total:
                complaints.append("there is no such round in this phase")
            else:
                if played.ticks_before != earned:
                    complaints.append("the sums are not those of the scores up to here")
                earned = played.ticks_after
                complaints += self._rescored(record, played)
            found += [Discrepancy(run.id, played.index, complaint) for complaint in complaints]
            if played.index != position:
                return
            yield played

    def _rescored(self, record: PhaseRecord, played: Round) -> Iterator[str]:
        reference = self._sentences.reference(record, played.index)
        scorer = Scorer(record.feedback, record.fingerprint)
        scored = scorer.score(played.translation, reference, run=played.run.id, index=played.index)
        if scored.statistics.to_bytes() != played.statistics:
            yield "the statistics are not those of the translation"
        if not math.isclose(scored.true_reward, played.true_reward, rel_tol=0, abs_tol=TOLERANCE):
            yield f"the score is {played.true_reward}, but the translation earns {scored.true_reward}"
        if not math.isclose(scored.observed_reward, played.observed_reward, rel_tol=0, abs_tol=TOLERANCE):
            yield f"the participant was told {played.observed_reward} instead of {scored.observed_reward}"
