"""Writes an archive of a store, in bounded memory.

The service may run meanwhile: of each run, the archive has the rounds that are committed when its turn comes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lambdas.archive.file_format import FORMAT, HEADER, VERSION, ArchiveWriter
from lambdas.archive.progress import report_rounds
from lambdas.archive.record_reader import check_rounds
from lambdas.archive.records import from_profile, from_round
from lambdas.phase_record import PhaseRecord
from lambdas.profile_store import ProfileStore
from lambdas.registry import Registry
from lambdas.sentences import MissingBlockError, unpack_block
from lambdas.store.interface import Store, StoreError, TextSide
from lambdas.task_loader import text_checkpoints
from lambdas.task_record import read_task_record
from lambdas.text_lines import Reference, Source, parse_reference, parse_source
from lambdas.withdrawals import Withdrawals

Lines = Iterator[tuple[str, dict[str, Any]]]  # kinds and fields


def export(
    store: Store,
    path: Path,
    *,
    texts: bool = False,
    keys: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Write an archive of a store.

    Args:
        store: The store, which is not changed.
        path: The file to write. It must not exist.
        texts: Whether to include sources and references.
        keys: Whether to include the hashes of API keys, and the token keys.
        progress: Called with numbers of rounds as they are written.

    Returns:
        How many runs and rounds were written.

    Raises:
        StoreError: There is no task in the store.
        LedgerError: The ledger contradicts itself.
        ArchiveError: The file exists already, or cannot be written.
    """
    registry, counts = Registry(store), Counter[str]()
    if not registry.phases():
        raise StoreError("there is no task in this store: nothing to export")
    with ArchiveWriter(path) as archive:
        header = {"format": FORMAT, "version": VERSION, "made_at": registry.now(), "texts": texts, "keys": keys}
        archive.write(HEADER, header)
        for kind, fields in _all_lines(store, registry, progress, texts=texts, keys=keys):
            archive.write(kind, fields)
            counts[kind] += 1
    return counts["run"], counts["round"]


def _all_lines(store: Store, registry: Registry, progress: Callable[[int], None], *, texts: bool, keys: bool) -> Lines:
    """Yield all lines but the first and the last, in the order of ``records.SECTIONS``."""
    records = registry.phases()
    # read before participants: every run that a decision is on then belongs to one of them
    decisions = [decision for record in records for decision in Withdrawals(store).of_phase(record.phase.name)]
    participants = registry.participants()
    names = [participant.name for participant in participants]  # participants who register later are left out
    yield from _task_lines(store, records)
    yield from (("participant", participant.as_document()) for participant in participants)
    yield from _description_lines(store, registry, names)
    if keys:
        yield "ring", registry.key_ring().as_document()
    for record in records:
        for name in names:
            yield from _run_lines(store, registry, record, name, progress)
    yield from (("withdrawal", asdict(decision)) for decision in decisions)
    if texts:
        for record in records:
            yield from _text_lines(store, record)
    if keys:
        for name in names:
            yield from (("key", asdict(key)) for key in registry.keys(name))


def _task_lines(store: Store, records: Sequence[PhaseRecord]) -> Lines:
    task = read_task_record(store)
    if task is not None:
        yield "task", task.as_document()
    for record in records:
        yield "phase", {**record.as_document(), "checkpoints": text_checkpoints(store, record.phase.name)}


def _description_lines(store: Store, registry: Registry, names: Sequence[str]) -> Lines:
    """Yield what is said of these participants and of their systems."""
    profiles = ProfileStore(store)
    yield from (("role", asdict(role)) for role in registry.roles() if role.participant in names)
    yield from (("team", from_profile(team)) for team in profiles.teams() if team.participant in names)
    yield from (("system", from_profile(system)) for system in profiles.systems() if system.participant in names)


def _run_lines(
    store: Store, registry: Registry, record: PhaseRecord, participant: str, progress: Callable[[int], None]
) -> Lines:
    for run in registry.claims(participant, record.phase.name):
        yield "run", asdict(run)
        for played in report_rounds(check_rounds(record, run, store.rounds(run.id)), progress):
            yield "round", from_round(played)


def _text_lines(store: Store, record: PhaseRecord) -> Lines:
    for source, reference in _pairs(store, record):
        position = {} if source.position is None else {"position": source.position}
        yield "text", {"phase": record.phase.name, "source": source.text, "reference": reference.text} | position


def _pairs(store: Store, record: PhaseRecord) -> Iterator[tuple[Source, Reference]]:
    """Yield the distinct sentence pairs of a phase, as they were loaded."""
    name = record.phase.name
    for number in range(-(-record.phase.layout.distinct // record.block_size)):
        blocks = [store.block(side, name, number) for side in (TextSide.SOURCES, TextSide.REFERENCES)]
        if None in blocks:
            raise MissingBlockError(f"the sentences of phase {name} are not all in this store: load the task first")
        sources, references = (unpack_block(block) for block in blocks if block is not None)
        for source, reference in zip(sources, references, strict=True):
            yield (
                parse_source(source, has_position=record.phase.documents),
                parse_reference(reference, has_words=record.feedback.shows_post_edits),
            )
