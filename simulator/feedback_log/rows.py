"""The rows of a released log: the rounds of finished runs, without anything that must stay in the service.

A row has no reference, also not in a phase that shows them as post-edits, no true reward, and no name of a participant.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lambdas.errors import OrganiserError
from lambdas.phase_record import PhaseRecord
from lambdas.registry import Registry
from lambdas.sentences import SentenceReader
from lambdas.store import Store
from lambdas.withdrawals import Withdrawals
from leaderboard.seeds import seed_in_name
from task.documents import document_id
from task.rounds import Run


class ReleaseError(OrganiserError):
    """A log cannot be released; the message says why and what to do."""


class LoggedRound(NamedTuple):
    """One round as an offline learner sees it."""

    run: str
    system: str
    seed: int | None  # of the system, if its name tells
    round: int  # zero-based
    source: str
    document: str | None  # an id that only this run has; None without documents
    position: int | None  # of the sentence in its document
    translation: str
    observed_reward: float
    log_probability: float | None  # of the translation under the system; None if it did not say


def released_rounds(record: PhaseRecord, now: int) -> int:
    """Return how many rounds of each run can be released at a time.

    All rounds, once the phase is over. Until then no one may learn which rounds are held out, and sources that come
    again would tell. So a phase with n held-out passes releases the first n-th of its rounds. They end before the
    second pass begins, wherever that is, and their number depends only on what the leaderboard shows anyway.

    Raises:
        ReleaseError: The phase is played once and not over: a log would tell its sentences before they are served.
    """
    layout = record.phase.layout
    if record.is_over(now):
        return layout.total
    if not record.phase.repeatable:
        raise ReleaseError(
            f"phase {record.phase.name} is played once and is not over: a log would tell its sentences before they are "
            "served; close the phase first"
        )
    return layout.total // max(layout.blocks, 1)


class FeedbackLog:
    """The finished runs of a phase that were not withdrawn, ordered by id, and their rounds."""

    def __init__(self, store: Store, record: PhaseRecord) -> None:
        self._store, self._record, self._sentences = store, record, SentenceReader(store)
        registry, name, total = Registry(store), record.phase.name, record.phase.layout.total
        self.rounds_per_run = released_rounds(record, registry.now())
        withdrawn = Withdrawals(store).withdrawn(name)
        runs = sorted(registry.runs(name), key=lambda run: run.id)
        finished = [run for run in runs if (progress := store.progress(run.id)) and progress.pending == total]
        self.runs: list[Run] = [run for run in finished if run.id not in withdrawn]
        self.withdrawn = len(finished) - len(self.runs)  # finished runs that are left out

    def rounds(self) -> Iterator[LoggedRound]:
        """Yield the rounds that can be released, run by run, in the order in which they were played."""
        for run in self.runs:
            for played in self._store.rounds(run.id):
                if played.index >= self.rounds_per_run:
                    break
                source = self._sentences.source(self._record, played.index)
                document = None
                if source.position is not None:
                    document = document_id(run.id, played.index, source.position)
                yield LoggedRound(
                    run.id,
                    run.system,
                    seed_in_name(run.system),
                    played.index,
                    source.text,
                    document,
                    source.position,
                    played.translation,
                    played.observed_reward,
                    played.log_probability,
                )
