"""Verify a ledger and its leaderboard: score every round again, and recompute every summary.

An audit reads references, which only the organiser and the scoring function may do.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lambdas.phase_record import PhaseRecord, PhaseState
from lambdas.scoreboard import Scoreboard
from lambdas.sentences import SentenceReader
from lambdas.store.interface import Store
from task.rounds import Round, Run

REWARD_TOLERANCE = 1e-9  # logarithms may differ in their last bit between the machine that scored and this one


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that is wrong with a run, or with one of its rounds."""

    run: str
    round: int | None  # None for the run as a whole
    problem: str

    def __str__(self) -> str:
        where = "" if self.round is None else f", round {self.round:,}"
        return f"run {self.run}{where}: {self.problem}"


def is_close(reward: float, recomputed: float) -> bool:
    """Return whether two rewards are equal, up to the rounding of different machines."""
    return math.isclose(reward, recomputed, rel_tol=0, abs_tol=REWARD_TOLERANCE)


def sequence_problem(played: Round, before: Round | None, total: int) -> str | None:
    """Return why a round cannot follow the round before it in a run of ``total`` rounds, or None if it can."""
    expected = 0 if before is None else before.index + 1
    if played.index != expected:
        return f"round {expected:,} should come here"
    if played.index >= total:
        return "the phase has no such round"
    if played.ticks_before != ((0, 0) if before is None else before.ticks_after):
        return "the sums are not those of the rewards up to here"
    return None


class Auditor:
    """Verifies the runs of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self._sentences, self._scoreboard = store, SentenceReader(store), Scoreboard(store)
        self.rounds = 0  # verified so far
        self.rounds_behind = 0  # of these, rounds of runs in progress that the leaderboard does not show yet

    def audit(self, record: PhaseRecord, run: Run) -> list[Discrepancy]:
        """Return everything that is wrong with a run: its rounds, its sums, and its summary on the leaderboard."""
        found: list[Discrepancy] = []
        is_over = self._is_over(record, run)  # read first, because the run may continue during the audit
        verified_before, rounds = self.rounds, self._verify_rounds(record, run, found)
        summary = self._scoreboard.summary(record, run)
        empty = self._scoreboard.empty_summary(record, run)
        try:
            folded = empty.fold((played.result for played in islice(rounds, summary.rounds)), record.phase.layout)
        except (ValueError, IndexError) as failure:  # a gap, a round too many, no statistics, no reward
            return [*found, Discrepancy(run.id, None, f"the rounds cannot be summed up: {failure}")]
        if folded != summary:
            found.append(Discrepancy(run.id, None, "the leaderboard does not match the ledger; rebuild it"))
        for _ in rounds:
            pass  # verify the rounds that the leaderboard does not show yet
        missing = max(0, min(self.rounds - verified_before, record.phase.layout.total) - summary.rounds)
        if missing and is_over:
            problem = f"the leaderboard does not show its last {missing:,} rounds; rebuild it"
            found.append(Discrepancy(run.id, None, problem))
        else:
            self.rounds_behind += missing
        return found

    def unclaimed(self, record: PhaseRecord) -> list[Discrepancy]:
        """Return the runs that the leaderboard of a phase shows although no participant opened them."""
        problem = "the leaderboard shows this run, but no participant opened it; rebuild it"
        return [Discrepancy(summary.identity.run, None, problem) for summary in self._scoreboard.unclaimed(record)]

    def _is_over(self, record: PhaseRecord, run: Run) -> bool:
        """Return whether no more rounds of a run can come, so that the leaderboard should show all of them."""
        progress = self._store.progress(run.id)
        is_finished = progress is not None and progress.pending >= record.phase.layout.total
        return is_finished or record.state is PhaseState.CLOSED

    def _verify_rounds(self, record: PhaseRecord, run: Run, found: list[Discrepancy]) -> Iterator[Round]:
        """Yield the rounds of a run up to the first gap, and add what is wrong with each to ``found``."""
        total, before = record.phase.layout.total, None
        for position, played in enumerate(self._store.rounds(run.id)):
            self.rounds += 1
            problem = sequence_problem(played, before, total)
            problems = [problem] if problem else []
            if played.index == position < total:
                problems += self._rescore(record, played)
            found += [Discrepancy(run.id, played.index, problem) for problem in problems]
            if played.index != position:
                return
            yield played
            before = played

    def _rescore(self, record: PhaseRecord, played: Round) -> Iterator[str]:
        reference = self._sentences.reference(record, played.index)
        scored = record.scorer.score(played.translation, reference, run=played.run.id, index=played.index)
        if scored.statistics != played.statistics:
            yield "the statistics are not those of the translation"
        if not is_close(played.true_reward, scored.true_reward):
            yield f"the true reward is {played.true_reward}, but the translation earns {scored.true_reward}"
        if not is_close(played.observed_reward, scored.observed_reward):
            yield f"the participant received {played.observed_reward} instead of {scored.observed_reward}"
        if not record.feedback.shows_post_edits and played.post_edit is not None:
            yield "there is a post-edit, but this phase shows none"
        elif record.feedback.shows_post_edits and played.post_edit != reference.text:
            yield "the post-edit is not the reference"
