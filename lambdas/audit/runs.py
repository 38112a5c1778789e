"""Audits runs: scores every round again, checks the links between rounds, and recomputes every summary."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lambdas.audit.discrepancies import (
    IMPOSSIBLE_VALUE_ERRORS,
    Discrepancy,
    is_close,
    sequence_problem,
    value_problem,
)
from lambdas.chain import NO_KEY, LedgerKey
from lambdas.phase_record import PhaseRecord, PhaseState
from lambdas.scoreboard import Scoreboard
from lambdas.sentences import MissingBlockError, SentenceReader
from lambdas.store.interface import Store
from task.rounds import Round, Run


@dataclass(slots=True)
class LinkCounts:
    """How many rounds have which kind of link."""

    keyed: int = 0  # verified with the ledger key
    unkeyed: int = 0  # verified, but an intruder could have computed them, too
    foreign: int = 0  # made with another key, so not verified
    absent: int = 0  # in runs of earlier versions


class Auditor:
    """Verifies the runs of one store."""

    def __init__(self, store: Store, key: LedgerKey | None = None, *, keyed_since: int | None = None) -> None:
        self._store, self._sentences, self._scoreboard = store, SentenceReader(store), Scoreboard(store)
        self._key, self._no_key = key or LedgerKey(), LedgerKey()
        self.rounds = 0  # verified so far
        self.rounds_behind = 0  # of these, rounds of runs in progress that the leaderboard does not show yet
        self.links = LinkCounts()  # of these
        self._keyed_since = keyed_since  # milliseconds since 1970; None if unknown
        self._without_key: list[Run] = []

    def audit(self, record: PhaseRecord, run: Run) -> list[Discrepancy]:
        """Return everything that is wrong with a run: its rounds, its sums, and its summary on the leaderboard."""
        found: list[Discrepancy] = []
        try:
            self._audit(record, run, found)
        except MissingBlockError as failure:
            found.append(Discrepancy(run.id, None, str(failure)))
        except IMPOSSIBLE_VALUE_ERRORS as failure:
            problem = f"it holds a value that the service never writes ({type(failure).__name__}: {failure})"
            found.append(Discrepancy(run.id, None, problem))
        return found

    def unclaimed(self, record: PhaseRecord) -> list[Discrepancy]:
        """Return the runs that the leaderboard of a phase shows although no participant opened them."""
        problem = "the leaderboard shows this run, but no participant opened it; rebuild it"
        return [Discrepancy(summary.identity.run, None, problem) for summary in self._scoreboard.unclaimed(record)]

    def unlinked(self) -> list[Discrepancy]:
        """Return the audited runs that were opened since there is a ledger key, but are not linked with it."""
        since = self._keyed_since
        problem = "its rounds are not linked with the ledger key, but it was opened since that is used"
        late = [run for run in self._without_key if since is not None and run.opened_at > since]
        return [Discrepancy(run.id, None, problem) for run in late]

    def _audit(self, record: PhaseRecord, run: Run, found: list[Discrepancy]) -> None:
        is_over = self._is_over(record, run)  # read first, because the run may continue during the audit
        verified_before, rounds = self.rounds, self._verify_rounds(record, run, found)
        summary = self._scoreboard.summary(record, run)
        empty = self._scoreboard.empty_summary(record, run)
        try:
            folded = empty.fold((played.result for played in islice(rounds, summary.rounds)), record.phase.layout)
        except (ValueError, IndexError) as failure:  # a gap, a round too many, no statistics, no reward
            found.append(Discrepancy(run.id, None, f"the rounds cannot be summed up: {failure}"))
            return
        if folded.rounds < summary.rounds and not found:
            problem = f"the leaderboard shows {summary.rounds:,} rounds, but the ledger has only {folded.rounds:,}"
            found.append(Discrepancy(run.id, None, problem))
        elif folded != summary:
            found.append(Discrepancy(run.id, None, "the leaderboard does not match the ledger; rebuild it"))
        for _ in rounds:
            pass  # verify the rounds that the leaderboard does not show yet
        missing = max(0, min(self.rounds - verified_before, record.phase.layout.total) - summary.rounds)
        if missing and is_over:
            problem = f"the leaderboard does not show its last {missing:,} rounds; rebuild it"
            found.append(Discrepancy(run.id, None, problem))
        else:
            self.rounds_behind += missing

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
            if impossible := value_problem(played):
                found.append(Discrepancy(run.id, position, f"{impossible}, which the service never writes"))
                return
            if before is None:
                self._note_key(played)
            problems = list(self._place_problems(record, run, played, before))
            if played.index == position < total:
                problems += self._rescore(record, played)
            link_problem = self._link_problem(record, played, before)
            if link_problem and not problems:  # otherwise it is known what was changed
                problems.append(link_problem)
            found += [Discrepancy(run.id, played.index, problem) for problem in problems]
            if played.index != position:
                return
            yield played
            before = played

    def _place_problems(self, record: PhaseRecord, run: Run, played: Round, before: Round | None) -> Iterator[str]:
        """Yield what is wrong with the place of a round in its run."""
        if problem := sequence_problem(played, before, record.phase.layout.total):
            yield problem
        if (played.run.participant, played.run.system) != (run.participant, run.system):
            yield f"it is of {played.run.system} of {played.run.participant}, but the run is not"

    def _link_problem(self, record: PhaseRecord, played: Round, before: Round | None) -> str | None:
        """Return why the link of a round cannot be what the service computed, or None."""
        link_before = b"" if before is None else before.link
        if before is not None and bool(played.link) != bool(link_before):
            return "it has a link, but the round before has none" if played.link else "its link was removed"
        if not played.link:
            self.links.absent += 1
            return None
        number = played.link[0]
        if link_before and link_before[0] not in (NO_KEY, number):
            return "from here on, the rounds are linked without the ledger key, or with another"
        if number not in (NO_KEY, self._key.number):
            self.links.foreign += 1
            return None
        key = self._no_key if number == NO_KEY else self._key
        if key.link(record, played, link_before) != played.link:
            opening = "" if link_before else ", or the opening of its run or the settings of its phase were"
            return f"it was changed after it was committed{opening}: the link does not fit"
        self.links.unkeyed += number == NO_KEY
        self.links.keyed += number != NO_KEY
        return None

    def _note_key(self, first: Round) -> None:
        """Remember whether a run is linked with the ledger key, by its first round."""
        if first.link and first.link[0] == self._key.number != NO_KEY:
            self._keyed_since = min(self._keyed_since or first.run.opened_at, first.run.opened_at)
        else:
            self._without_key.append(first.run)

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
