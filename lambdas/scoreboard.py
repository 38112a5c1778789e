"""From the ledger to the leaderboard: keeps a summary per run in the store, and says who may see which.

In the cloud the board function follows the ledger's stream. On one machine nobody does: there the summaries are brought
up to date when somebody asks, from where each of them ends. Either way a summary can always be made again.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from threading import Lock

from lambdas.registry import Participant, PhaseRecord, PhaseState, Registry
from lambdas.store import documents
from lambdas.store.interface import Store
from leaderboard.metrics.online import GapError, RelativeReward
from leaderboard.summaries import RunIdentity, Summary, SummaryError
from leaderboard.table import Board, BoardPhase, HeldOutBlock, make_board
from task.rounds import Round, Run

CHUNK = 50_000  # rounds folded before a summary is kept: what an interruption can cost


def contest(record: PhaseRecord) -> BoardPhase:
    """A phase as the judge sees it."""
    layout = record.phase.layout
    return BoardPhase(
        record.phase.name, record.state.value, layout.total, HeldOutBlock.of(layout), record.feedback.signature
    )


class Scoreboard:
    """The summaries of all runs, in a store. Safe to share between threads."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._registry = Registry(store, clock=clock)
        self._following = Lock()

    def board(self, record: PhaseRecord) -> Board:
        """Everything, as the organiser sees it."""
        return make_board(contest(record), self.summaries(record), self._registry.roles(), now=self._registry.now())

    def board_for(self, record: PhaseRecord, viewer: Participant | None) -> Board:
        """What a participant may see, or everybody."""
        judge, summaries, roles = contest(record), self.summaries(record), self._registry.roles()
        now, is_closed = self._registry.now(), record.state is PhaseState.CLOSED
        if record.feedback.has_noise and not is_closed:
            # curves are of clean scores: a learner that could read its own would see through the noise
            summaries = [summary for summary in summaries if summary.rounds == judge.total]
        if is_closed:
            return make_board(judge, summaries, roles, now=now)
        if record.phase.repeatable:
            return _without_places(make_board(judge, summaries, roles, now=now))
        own = [summary for summary in summaries if viewer and summary.identity.participant == viewer.name]
        return make_board(replace(judge, held_out=HeldOutBlock(0, 0, [])), own, roles, now=now, visible="own")

    def summaries(self, record: PhaseRecord) -> list[Summary]:
        """Of every run of a phase that anything is known of."""
        found = (_read(document) for document in self._store.documents(documents.run_summaries(record.phase.name)))
        return [summary for summary in found if summary is not None]

    def follow(self, record: PhaseRecord, run: Run, rounds: Iterable[Round]) -> bool:
        """Continue a summary with rounds that were delivered, or from the ledger if some before them were not.

        Tells whether there was anything new.
        """
        known = self.summary(record, run)
        try:
            further = known.fold((played.result for played in rounds), record.phase.layout)
        except GapError:
            return self._follow_ledger(record, known).rounds > known.rounds
        if further.rounds == known.rounds:
            return False
        self._keep(further)
        return True

    def catch_up(self, record: PhaseRecord) -> None:
        """Bring all summaries of a phase up to date with the ledger."""
        with self._following:  # who comes second finds the work done
            known = {summary.identity.run: summary for summary in self.summaries(record)}
            for run in self._registry.runs(record.phase.name):
                summary = known.get(run.id) or self.empty(record, run)
                if summary.rounds < record.phase.layout.total:
                    self._follow_ledger(record, summary)

    def catch_up_run(self, record: PhaseRecord, run: Run) -> None:
        """Bring one summary up to date with the ledger."""
        with self._following:
            self._follow_ledger(record, self.summary(record, run))

    def unclaimed(self, record: PhaseRecord) -> list[Summary]:
        """Summaries of runs that nobody has opened."""
        summaries = self.summaries(record)  # first: a run is opened before it is summarised
        opened = {run.id for run in self._registry.runs(record.phase.name)}
        return [summary for summary in summaries if summary.identity.run not in opened]

    def forget_unclaimed(self, record: PhaseRecord) -> None:
        """Take runs that nobody has opened off the board."""
        for summary in self.unclaimed(record):
            self._store.delete(documents.run_summaries(record.phase.name), summary.identity.run)

    def rebuild(self, record: PhaseRecord, run: Run) -> Summary:
        """Forget what is known of a run and summarise it anew from the ledger."""
        rebuilt = self._follow_ledger(record, self.empty(record, run))
        if not rebuilt.rounds:
            self._keep(rebuilt)
            rebuilt = self._follow_ledger(record, rebuilt)
        return rebuilt

    def rename(self, record: PhaseRecord, run: Run) -> None:
        """Let the summary of a run say who played it and which system it was, as the run now does."""
        self._keep(replace(self.summary(record, run), identity=self.empty(record, run).identity))

    def summary(self, record: PhaseRecord, run: Run) -> Summary:
        """What is known of a run."""
        document = self._store.document(documents.run_summaries(record.phase.name), run.id)
        return (_read(document) if document else None) or self.empty(record, run)

    def empty(self, record: PhaseRecord, run: Run) -> Summary:
        """A summary that a run begins with."""
        identity = RunIdentity(run.id, run.participant, run.phase, run.system, run.attempt, run.opened_at)
        return Summary.begin(identity, record.phase.layout.total)

    def _follow_ledger(self, record: PhaseRecord, summary: Summary) -> Summary:
        """Continue a summary to the end of the run, or until there is nothing new after it was kept.

        The look afterwards matters: whoever else follows the ledger may have kept more while this one was reading, and
        what it kept was overwritten.
        """
        while summary.rounds < record.phase.layout.total:
            results = islice(self._store.results(summary.identity.run, summary.rounds), CHUNK)
            further = summary.fold(results, record.phase.layout)
            if further.rounds == summary.rounds:
                break
            summary = further
            self._keep(summary)
        return summary

    def _keep(self, summary: Summary) -> None:
        self._store.replace(
            documents.run_summaries(summary.identity.phase), summary.identity.run, summary.as_document()
        )


def _without_places(board: Board) -> Board:
    """The board of a phase that is still played: it must not tell which rounds are held out.

    Hence no places, and a pass is told when its run has played the same share of the rounds: at the first of four when
    it has played a quarter. By then the pass is over wherever it lies, so the moment says nothing. Values are rounded
    as the page shows them: the exact mean could be searched for among one's own scores.
    """
    held_out = board.held_out
    rows = [
        replace(
            row,
            passes=[
                _rounded(each)
                for each in row.passes
                if row.rounds * held_out.passes >= (each.held_out_pass + 1) * board.total
            ],
        )
        for row in board.rows
    ]
    return replace(board, held_out=HeldOutBlock(held_out.passes, 0, []), rows=rows)


def _rounded(told: RelativeReward) -> RelativeReward:
    return RelativeReward(
        told.held_out_pass,
        round(told.corpus_bleu, 1),
        round(told.sentence_bleu, 1),
        round(told.relative_corpus_bleu, 1),
        round(told.relative_sentence_bleu, 1),
        told.length_ratio and round(told.length_ratio, 3),
    )


def _read(document: dict[str, object]) -> Summary | None:
    """A summary, or None if another version of this program wrote it: it is then made again."""
    try:
        return Summary.from_document(document)
    except SummaryError:
        return None
