"""The interface of a store, which two engines implement: ``sqlite`` and ``dynamodb``.

A store has three parts, because there are three kinds of readers: the task (documents and blocks of source sentences),
the references (which only the scoring function may read), and the ledger (which is append-only for the service).

Every method holds to three rules:

- Reads are strongly consistent: a read sees every write that was acknowledged before the read began.
- Writes are durable when they are acknowledged.
- A method that cannot reach the storage raises ``UnavailableError``. A write may then have happened or not, and can be
  repeated without harm.
"""

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Protocol

from lambdas.errors import OrganiserError
from lambdas.store.documents import Document, DocumentKind
from task.rounds import Round, RoundResult, Run, RunProgress


class StoreError(OrganiserError):
    """The storage can be reached but not used: a table is missing, or the file is not a store."""


class StoreAddressError(StoreError, ValueError):
    """The text is not the address of a store."""


def parse_document(kind: DocumentKind, text: str) -> Document:
    """Return the document that a text in the store holds. Raises StoreError if it is damaged."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise StoreError(f"a document of kind {kind} in the store is damaged: restore a backup")
    return document


class TextSide(StrEnum):
    """The side of the parallel text that a block belongs to."""

    SOURCES = "sources"
    REFERENCES = "references"


class Store(Protocol):
    """The storage of one task."""

    def prepare(self) -> None:
        """Create the tables if they are missing, and upgrade a store of an earlier version.

        On AWS, the template creates the tables.

        Raises:
            StoreError: The tables are missing and cannot be created, or the file is of another program or of a newer
                version of this one. Such a file is not changed.
        """

    def close(self) -> None:
        """Close files and connections."""

    # documents: everything small that is not in the ledger

    def document(self, kind: DocumentKind, name: str) -> Document | None:
        """Return one document, or None if there is none of that kind and name."""

    def documents(self, kind: DocumentKind) -> list[Document]:
        """Return all documents of a kind, ordered by name."""

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        """Write a document unless there is one of that kind and name.

        Returns:
            Whether the document was written.
        """

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        """Write a document, and overwrite the one that is there, if any."""

    def delete(self, kind: DocumentKind, name: str) -> None:
        """Delete a document, if it is there."""

    def compare_and_swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        """Overwrite a document if it is still what the caller has read.

        Args:
            kind: The kind of the document.
            name: The name of the document.
            known: The document as it was read.
            document: The document to write in its place.

        Returns:
            Whether the document was written.
        """

    # blocks of packed sentences

    def block(self, side: TextSide, phase: str, number: int) -> bytes | None:
        """Return one block of a phase, or None if it is missing."""

    def put_blocks(self, side: TextSide, phase: str, blocks: Iterable[tuple[int, bytes]]) -> None:
        """Write blocks, and overwrite those that are there.

        Args:
            side: Sources or references.
            phase: The phase that the text belongs to.
            blocks: Numbers and contents.

        Raises:
            StoreError: A block is too large for the engine.
        """

    # the ledger

    def open_run(self, run: Run) -> None:
        """Write the opening of a run, unless it is there."""

    def append(self, played: Round) -> bool:
        """Commit a round unless a round with its run and index is committed.

        An engine that can check it at no cost also refuses a round whose predecessor is missing.

        Returns:
            Whether the round was written.
        """

    def opening(self, run: str) -> Run | None:
        """Return a run as it was opened, or None if there is no such run."""

    def round(self, run: str, index: int) -> Round | None:
        """Return one committed round, or None if it is not committed."""

    def progress(self, run: str) -> RunProgress | None:
        """Return a run with its last round, or None if there is no such run."""

    def rounds(self, run: str, start: int = 0) -> Iterator[Round]:
        """Yield the committed rounds of a run in order, from index ``start`` on."""

    def results(self, run: str, start: int = 0) -> Iterator[RoundResult]:
        """Yield the results of the same rounds, which are a fraction of the data of ``rounds``."""

    # the ledger, for organisers only

    def openings(self) -> Iterator[tuple[str, Run | None]]:
        """Yield the id of every run that has anything in the ledger, with its opening, or None if that is missing.

        Reads the whole ledger.
        """

    def restore_rounds(self, rounds: Iterable[Round]) -> None:
        """Write rounds that were committed in another store, in large batches. Idempotent.

        Args:
            rounds: Rounds of runs that have an opening in this store.
        """

    def reassign(self, run: Run) -> None:
        """Overwrite the participant and the system of a run, in its opening and in all of its rounds. Idempotent.

        Args:
            run: The run with its new participant and system.
        """
