"""Releases the log of a phase: a file that appears when it is complete, and a data card beside it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lambdas.registry import Registry
from lambdas.store import Store
from lambdas.task_record import UNKNOWN_TASK, read_task_record
from simulator.feedback_log.card import RowCounts, data_card
from simulator.feedback_log.files import writer_for
from simulator.feedback_log.rows import FeedbackLog, LoggedRound, ReleaseError
from task.atomic_files import staged_file, write_bytes

CARD_FILE = "README.md"  # beside the log

_REPORTED_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Release:
    """What was released."""

    log: Path
    card: Path
    runs: int
    rounds: int
    with_probability: int  # rounds whose probability is known
    rounds_per_run: int
    is_early: bool  # whether participants can still play the phase, and would know its sentences from the log


def release_log(store: Store, phase: str, path: Path, *, progress: Callable[[int], None] = lambda _: None) -> Release:
    """Write the log of a phase, and its data card beside it.

    Args:
        store: The store, with the sentences of the phase.
        phase: The name of the phase.
        path: The file to write, with a suffix that ``writer_for`` knows. Neither it nor the card may exist.
        progress: Called with numbers of rounds as they are written.

    Raises:
        ReleaseError: A file exists, the suffix is unknown, or the phase cannot be released yet.
        UnknownPhaseError: The task has no such phase.
    """
    write, card = writer_for(path), path.with_name(CARD_FILE)
    registry, task = Registry(store), read_task_record(store) or UNKNOWN_TASK
    record = registry.require_phase(phase)
    for existing in (path, card):
        if existing.exists():
            raise ReleaseError(f"{existing} exists already; give each log a folder of its own")
    log, counts = FeedbackLog(store, record), RowCounts()
    if not log.runs:
        only_withdrawn = " but withdrawn ones; `admin run restore` puts them back" if log.withdrawn else ""
        raise ReleaseError(f"phase {phase} has no finished run to release{only_withdrawn}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with staged_file(path) as staged:
        write(staged, _report(counts.count(log.rounds()), progress))
        write_bytes(card, data_card(path.name, _sha256(staged), task, record, counts).encode())
    return Release(
        path,
        card,
        len(counts.rows),
        counts.rows.total(),
        counts.with_probability.total(),
        log.rounds_per_run,
        not record.is_over(registry.now()),
    )


def _report(rows: Iterable[LoggedRound], progress: Callable[[int], None]) -> Iterator[LoggedRound]:
    for number, row in enumerate(rows, 1):
        yield row
        if number % _REPORTED_ROWS == 0:
            progress(_REPORTED_ROWS)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
