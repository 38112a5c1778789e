"""From the ledger to the leaderboard: keeps one summary per run in the store, and decides who sees which.

In the cloud the board function folds the ledger's stream into the summaries. On one machine there is no stream: the
summaries catch up with the ledger when the leaderboard is requested, from where each of them ends. Either way, a
summary can always be rebuilt.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from threading import Lock

from lambdas.phase_record import PhaseRecord
from lambdas.profile_store import ProfileStore
from lambdas.registry import Participant, Registry
from lambdas.store import documents
from lambdas.store.interface import Store
from lambdas.withdrawals import Withdrawals
from leaderboard.metrics.online import GapError, RelativeReward
from leaderboard.rows import Board, BoardPhase, HeldOutBlock, Row
from leaderboard.summaries import RunIdentity, Summary, SummaryError
from leaderboard.table import make_board
from task.rounds import Round, Run

CHUNK_ROUNDS = 50_000  # folded before a summary is saved: what an interruption can cost

# while a phase can still be played, or before it is played at all
_HIDDEN_BLOCK = HeldOutBlock(0, 0, [])


def board_phase(record: PhaseRecord) -> BoardPhase:
    """Return a phase as the leaderboard sees it."""
    layout = record.phase.layout
    return BoardPhase(
        record.phase.name,
        record.state.value,
        layout.total,
        HeldOutBlock.of(layout),
        record.feedback.signature,
        record.feedback.shows_post_edits,
        record.language,
    )


class Scoreboard:
    """The summaries of all runs in a store. Safe to share between threads."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._registry = Registry(store, clock=clock)
        self._profiles, self._withdrawals = ProfileStore(store), Withdrawals(store)
        self._catching_up = Lock()

    def board(self, record: PhaseRecord) -> Board:
        """Return the leaderboard as the organiser sees it: everything but withdrawn runs."""
        return self._make_board(board_phase(record), self._shown_summaries(record))

    def visible_board(self, record: PhaseRecord, viewer: Participant | None) -> Board:
        """Return the leaderboard as far as a participant may see it, or the public (None)."""
        phase, summaries = board_phase(record), self._shown_summaries(record)
        is_over = record.is_over(self._registry.now())
        if record.feedback.has_noise and not is_over:
            # curves are of true rewards: a learner that could read its own would see through the noise
            summaries = [summary for summary in summaries if summary.rounds == phase.total]
        if is_over:
            return self._make_board(phase if summaries else replace(phase, held_out=_HIDDEN_BLOCK), summaries)
        if record.phase.repeatable:
            return _round_statistics(_hide_held_out(self._make_board(phase, summaries)))
        own = [summary for summary in summaries if viewer and summary.identity.participant == viewer.name]
        return _round_statistics(self._make_board(replace(phase, held_out=_HIDDEN_BLOCK), own, visible="own"))

    def _make_board(self, phase: BoardPhase, summaries: Iterable[Summary], *, visible: str = "all") -> Board:
        roles, profiles, now = self._registry.roles(), self._profiles.profiles(), self._registry.now()
        return make_board(phase, summaries, roles, profiles, now=now, visible=visible)

    def _shown_summaries(self, record: PhaseRecord) -> list[Summary]:
        withdrawn = self._withdrawals.withdrawn(record.phase.name)
        return [summary for summary in self.summaries(record) if summary.identity.run not in withdrawn]

    def summaries(self, record: PhaseRecord) -> list[Summary]:
        """Return the summaries of all runs of a phase that have one, withdrawn runs too."""
        stored = self._store.documents(documents.run_summaries(record.phase.name))
        found = (_parse(document, record) for document in stored)
        return [summary for summary in found if summary is not None]

    def follow(self, record: PhaseRecord, run: Run, rounds: Iterable[Round]) -> bool:
        """Continue the summary of a run with rounds from the stream, and return whether any was new.

        If rounds before them are missing, they are read from the ledger.
        """
        summary = self.summary(record, run)
        try:
            continued = summary.fold((each.result for each in rounds), record.phase.layout)
        except GapError:
            return self._follow_ledger(record, summary).rounds > summary.rounds
        if continued.rounds == summary.rounds:
            return False
        self._save(continued)
        return True

    def catch_up(self, record: PhaseRecord) -> None:
        """Bring all summaries of a phase up to date with the ledger."""
        with self._catching_up:  # a second caller finds the work done
            known = {summary.identity.run: summary for summary in self.summaries(record) if summary.is_current}
            for run in self._registry.runs(record.phase.name):
                summary = known.get(run.id) or self.empty_summary(record, run)
                if summary.rounds < record.phase.layout.total:
                    self._follow_ledger(record, summary)

    def catch_up_run(self, record: PhaseRecord, run: Run) -> None:
        """Bring the summary of one run up to date with the ledger."""
        with self._catching_up:
            self._follow_ledger(record, self.summary(record, run))

    def unclaimed(self, record: PhaseRecord) -> list[Summary]:
        """Return the summaries of runs that no participant has opened."""
        summaries = self.summaries(record)  # first: a run is opened before it is summarised
        opened = {run.id for run in self._registry.runs(record.phase.name)}
        return [summary for summary in summaries if summary.identity.run not in opened]

    def delete_unclaimed(self, record: PhaseRecord) -> None:
        """Delete the summaries of runs that no participant has opened."""
        for summary in self.unclaimed(record):
            self._store.delete(documents.run_summaries(record.phase.name), summary.identity.run)

    def rebuild(self, record: PhaseRecord, run: Run) -> Summary:
        """Summarise a run again from the ledger, whatever its summary says."""
        rebuilt = self._follow_ledger(record, self.empty_summary(record, run))
        if not rebuilt.rounds:
            self._save(rebuilt)
            rebuilt = self._follow_ledger(record, rebuilt)
        return rebuilt

    def update_identity(self, record: PhaseRecord, run: Run) -> None:
        """Change the participant and the system in the summary of a run to those that the run has now."""
        self._save(replace(self.summary(record, run), identity=self.empty_summary(record, run).identity))

    def summary(self, record: PhaseRecord, run: Run) -> Summary:
        """Return the summary of a run; an empty one if there is none yet, or only one of an earlier version."""
        document = self._store.document(documents.run_summaries(record.phase.name), run.id)
        found = _parse(document, record) if document else None
        return found if found and found.is_current else self.empty_summary(record, run)

    def empty_summary(self, record: PhaseRecord, run: Run) -> Summary:
        """Return the summary of a run without rounds."""
        identity = RunIdentity(run.id, run.participant, run.phase, run.system, run.attempt, run.opened_at)
        return Summary.begin(identity, record.phase.layout.total, post_edits=record.feedback.shows_post_edits)

    def _follow_ledger(self, record: PhaseRecord, summary: Summary) -> Summary:
        """Continue a summary to the end of the run, or until the ledger has no new rounds after it was saved.

        Looking again after saving matters: another process may have saved a longer summary in the meantime, which this
        one has just overwritten.
        """
        while summary.rounds < record.phase.layout.total:
            results = islice(self._store.results(summary.identity.run, summary.rounds), CHUNK_ROUNDS)
            continued = summary.fold(results, record.phase.layout)
            if continued.rounds == summary.rounds:
                break
            summary = self._save(continued)
        return summary

    def _save(self, summary: Summary) -> Summary:
        """Save a summary under the names that its run has in the ledger, and return it.

        The names are read after saving. An erasure replaces them in the ledger first, and then in the summary: either
        they are found to be replaced here, or the erasure is still to overwrite what was saved.
        """
        while True:
            identity = summary.identity
            self._store.replace(documents.run_summaries(identity.phase), identity.run, summary.as_document())
            progress = self._store.progress(identity.run)
            run = progress.run if progress else None
            if run is None or (run.participant, run.system) == (identity.participant, identity.system):
                return summary
            summary = replace(summary, identity=replace(identity, participant=run.participant, system=run.system))


def _hide_held_out(board: Board) -> Board:
    """Return the board of a phase that is still open, without a hint of which rounds are held out.

    It names no places. A pass appears when its run has played the same share of all rounds: the first of four passes
    after a quarter. By then the pass is over wherever it lies, so the moment reveals nothing. Values are rounded as the
    page shows them: a participant could search its own scores for stretches with the exact mean.
    """
    held_out = board.held_out

    def hide(row: Row) -> Row:
        over = [each for each in row.passes if row.rounds * held_out.passes >= (each.held_out_pass + 1) * board.total]
        return replace(row, passes=[_rounded(each) for each in over])

    rows = [row.apply(hide) for row in board.rows]
    return replace(board, held_out=HeldOutBlock(held_out.passes, 0, []), rows=rows)


def _round_statistics(board: Board) -> Board:
    """Return the board with rounded BLEU, lengths and shares of single words, as the page shows them.

    From the exact numbers before and after a round, a participant could compute how many words and n-grams the
    reference has, which is more than the reward that a learner may observe. Where post-edits are shown, it has the
    references.
    """
    return board if board.shows_post_edits else replace(board, rows=[row.apply(_rounded_row) for row in board.rows])


def _rounded_row(row: Row) -> Row:
    late, bleu = row.last_quarter, row.measures["bleu"]
    return replace(
        row,
        measures={**row.measures, "bleu": bleu and replace(bleu, value=round(bleu.value, 1))},
        length_ratio=_rounded_share(row.length_ratio),
        single_words=_rounded_share(row.single_words),
        last_quarter=late
        and replace(
            late,
            corpus_bleu=round(late.corpus_bleu, 1),
            length_ratio=_rounded_share(late.length_ratio),
            single_words=_rounded_share(late.single_words),
            difference=late.difference and replace(late.difference, corpus_bleu=round(late.difference.corpus_bleu, 1)),
        ),
    )


def _rounded_share(exact: float | None) -> float | None:
    return None if exact is None else round(exact, 3)


def _rounded(exact: RelativeReward) -> RelativeReward:
    return RelativeReward(
        exact.held_out_pass,
        round(exact.corpus_bleu, 1),
        round(exact.sentence_bleu, 1),
        round(exact.relative_corpus_bleu, 1),
        round(exact.relative_sentence_bleu, 1),
        _rounded_share(exact.length_ratio),
    )


def _parse(document: dict[str, object], record: PhaseRecord) -> Summary | None:
    """Return a summary, or None if a version of this program wrote it whose summaries cannot be read: rebuild it."""
    try:
        summary = Summary.from_document(document)
    except SummaryError:
        return None
    is_whole = (summary.record.adaptation is not None) == record.feedback.shows_post_edits
    return summary if is_whole else None
