"""Withdrawn runs: the organiser takes a run off the leaderboard, and the ledger stays as it is.

A withdrawn run can still be read, played on and verified. Its summary is kept and rebuilt like any other, so that a
restored run is back at once. A decision replaces the one before it, and says why it was made.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from lambdas.registry import Registry, RegistryError
from lambdas.seal import SealedDocuments
from lambdas.store import documents
from lambdas.store.documents import Document
from lambdas.store.interface import Store
from lambdas.store.records import intact, typed
from task.public_texts import check_public_text
from task.rounds import Run

ERASED_REASON = "the participant was erased"  # in place of a reason that may name the participant


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The organiser's last decision on whether the leaderboard shows a run. Raises PublicTextError."""

    run: str
    phase: str
    withdrawn: bool  # False: it was withdrawn once, and restored
    why: str
    decided_at: int  # milliseconds since 1970

    def __post_init__(self) -> None:
        check_public_text(self.why, "the reason")


class Withdrawals:
    """Reads and writes the decisions in a store."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._registry = store, Registry(store, clock=clock)
        self._sealed = SealedDocuments(store)

    def of_phase(self, phase: str) -> list[Withdrawal]:
        """Return all decisions on runs of a phase, also those that restored a run."""
        return [_decision(phase, document) for document in self._store.documents(documents.withdrawals(phase))]

    def withdrawn(self, phase: str) -> dict[str, Withdrawal]:
        """Return the decisions on those runs of a phase that the leaderboard does not show, by run."""
        return {decision.run: decision for decision in self.of_phase(phase) if decision.withdrawn}

    def withdraw(self, run: str, why: str) -> Run:
        """Take a run off the leaderboard. Raises RegistryError if there is no such run, or it is withdrawn already."""
        return self._decide(run, why, withdrawn=True)

    def restore(self, run: str, why: str) -> Run:
        """Show a withdrawn run on the leaderboard again. Raises RegistryError if it is not withdrawn."""
        return self._decide(run, why, withdrawn=False)

    def write(self, decision: Withdrawal) -> None:
        """Write a decision, and overwrite the one before it."""
        self._sealed.replace(documents.withdrawals(decision.phase), decision.run, asdict(decision))

    def erase_reason(self, run: Run) -> None:
        """Replace the reason of a decision on a run, if there is one: it may name the participant."""
        document = self._store.document(documents.withdrawals(run.phase), run.id)
        if document is not None:
            self.write(replace(_decision(run.phase, document), why=ERASED_REASON))

    def _decide(self, run: str, why: str, *, withdrawn: bool) -> Run:
        opened = self._store.opening(run)
        if opened is None:
            raise RegistryError(f"there is no run {run}; `run list` shows all runs")
        if (run in self.withdrawn(opened.phase)) == withdrawn:
            raise RegistryError(f"run {run} is {'withdrawn already' if withdrawn else 'not withdrawn'}")
        self.write(Withdrawal(run, opened.phase, withdrawn, why, self._registry.now()))
        return opened


def _decision(phase: str, document: Document) -> Withdrawal:
    with intact(documents.withdrawals(phase)):
        return typed(Withdrawal(**document))
