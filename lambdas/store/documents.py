"""The kinds of documents in a store: every kind is listed here, and one module writes each.

A kind is a partition: documents are read one by one by kind and name, or all of a kind at once. The strings are what
stores hold and what the roles in ``template.yaml`` grant access to, so they never change.
"""

from typing import Any, NewType

Document = dict[str, Any]  # what JSON can hold
DocumentKind = NewType("DocumentKind", str)

# Written by ``lambdas.registry``.
PARTICIPANT = DocumentKind("participant")  # named by the participant
API_KEY = DocumentKind("key")  # named by the key's SHA-256
PHASE = DocumentKind("phase")  # named by the phase
ROLE = DocumentKind("role")  # named by participant and system
KEY_RING = DocumentKind("ring")  # one document: the keys that sign sentence ids

TASK = DocumentKind("task")  # written by ``lambdas.task_record``: one document

# Written by ``lambdas.profile_store``.
TEAM = DocumentKind("team")  # named by the participant
SYSTEM = DocumentKind("system")  # named by participant and system

# Written by ``lambdas.task_loader``, and named by the phase.
LOADING_CHECKPOINTS = DocumentKind("loading")  # hashes of the text that was written so far
AWAITED_TEXT = DocumentKind("awaited")  # hashes of the text that a restored phase still lacks

SEAL = DocumentKind("seal")  # written by ``lambdas.seal``: one document
ERASURE = DocumentKind("erasure")  # written by ``lambdas.erasure``, and named by the participant
ARCHIVE_IMPORT = DocumentKind("import")  # written by ``lambdas.archive.importer``: one document


def claims(participant: str, phase: str) -> DocumentKind:
    """Return the kind of a participant's claims on runs of a phase, which are named by their ordinal number.

    Written by ``lambdas.registry``.
    """
    return DocumentKind(f"run/{participant}/{phase}")


def run_summaries(phase: str) -> DocumentKind:
    """Return the kind of the summaries that the board of a phase is made of, which are named by the run.

    Written by ``lambdas.scoreboard``.
    """
    return DocumentKind(f"board/{phase}")


def withdrawals(phase: str) -> DocumentKind:
    """Return the kind of the organiser's decisions on which runs the board of a phase shows, named by the run.

    Written by ``lambdas.withdrawals``.
    """
    return DocumentKind(f"withdrawal/{phase}")
