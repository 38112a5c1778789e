"""What the service asks of a storage engine. Two engines answer: ``sqlite`` and ``dynamodb``.

Three places, because three kinds of reader exist: the task (documents and blocks of source sentences), the references
(readable by the scoring function alone), and the ledger (written once, and never changed by the service).

Every read sees every write that was acknowledged before it began, and every acknowledged write is durable. An engine
that cannot answer raises ``UnavailableError``; the write may or may not have happened, and repeating it is harmless.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Protocol

from lambdas.errors import OrganiserError
from lambdas.store.documents import Document, DocumentKind
from task.rounds import Round, RoundResult, Run, RunProgress


class StoreError(OrganiserError):
    """The storage is there, but not as it should be: a missing table, a file of another kind."""


class StoreAddressError(StoreError, ValueError):
    """Not an address of a store."""


class Shelf(StrEnum):
    """Which side of the parallel text a block belongs to."""

    SOURCES = "sources"
    REFERENCES = "references"


class Store(Protocol):
    """The storage behind one task."""

    def prepare(self) -> None:
        """Make the tables if they are missing (in the cloud, the template makes them)."""

    def close(self) -> None:
        """Let go of files and connections."""

    # documents: phases, participants, keys, claims on runs

    def document(self, kind: DocumentKind, name: str) -> Document | None:
        """One document, or None."""

    def documents(self, kind: DocumentKind) -> list[Document]:
        """All documents of a kind, ordered by name."""

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        """Write a document unless one of that name exists; tell whether it was written."""

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        """Write a document, whatever was there."""

    def delete(self, kind: DocumentKind, name: str) -> None:
        """Remove a document, if it is there."""

    def swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        """Write a document if the one that is there is still the one that was read; tell whether it was written."""

    # blocks of packed sentences

    def block(self, shelf: Shelf, phase: str, number: int) -> bytes | None:
        """One block, or None."""

    def put_blocks(self, shelf: Shelf, phase: str, blocks: Iterable[tuple[int, bytes]]) -> None:
        """Write blocks, whatever was there."""

    # the ledger

    def open_run(self, run: Run) -> None:
        """Write the opening of a run; the opening of a run that is there stays as it is."""

    def append(self, played: Round) -> bool:
        """Commit a round unless it is committed; tell whether it was written.

        An engine that can tell for free also refuses a round whose predecessor is missing.
        """

    def opening(self, run: str) -> Run | None:
        """A run as it was opened, or None."""

    def round(self, run: str, index: int) -> Round | None:
        """One committed round, or None."""

    def progress(self, run: str) -> RunProgress | None:
        """Where a run stands, or None if there is no such run."""

    def rounds(self, run: str, start: int = 0) -> Iterator[Round]:
        """The committed rounds of a run in order, from index ``start`` on."""

    def results(self, run: str, start: int = 0) -> Iterator[RoundResult]:
        """The results of these rounds: a fraction of what ``rounds`` has to carry."""

    # the ledger, in an organiser's hands

    def restore(self, rounds: Iterable[Round]) -> None:
        """Write rounds that were committed elsewhere, many at a time; their runs are open here. Again is harmless."""

    def reassign(self, run: Run) -> None:
        """Write anew who played a run and which system it was, in its opening and its rounds. Again is harmless."""
