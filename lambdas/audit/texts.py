"""Audits the text of a phase: its sources and references must be those that were loaded."""

from lambdas.audit.discrepancies import IMPOSSIBLE_VALUE_ERRORS, Discrepancy
from lambdas.phase_record import PhaseRecord
from lambdas.sentences import MissingBlockError
from lambdas.store.interface import Store
from lambdas.task_loader import CHECKPOINT_BLOCKS, is_awaited, stored_checkpoints, text_checkpoints


def audit_text(store: Store, record: PhaseRecord) -> list[Discrepancy]:
    """Return what is wrong with the text of a phase; nothing if it is still to be loaded."""
    problem = None if is_awaited(store, record.phase.name) else _text_problem(store, record)
    return [] if problem is None else [Discrepancy(None, None, f"phase {record.phase.name}: {problem}")]


def _text_problem(store: Store, record: PhaseRecord) -> str | None:
    loaded, fingerprint = text_checkpoints(store, record.phase.name), ""
    try:
        for number, fingerprint in enumerate(stored_checkpoints(store, record)):
            if loaded and loaded[number : number + 1] != [fingerprint]:
                per_checkpoint = CHECKPOINT_BLOCKS * record.block_size
                first, last = number * per_checkpoint, min((number + 1) * per_checkpoint, record.phase.layout.distinct)
                return f"sources or references among sentences {first:,} to {last - 1:,} are not those that were loaded"
    except MissingBlockError as failure:
        return str(failure)
    except IMPOSSIBLE_VALUE_ERRORS:
        return "a sentence has no position in its document, or a reference not the words that recall is measured on"
    if fingerprint != record.fingerprint:
        return "its fingerprint is not that of its sources and references"
    return None
