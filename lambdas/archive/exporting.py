"""Writes an archive of a store in bounded memory. The service may go on: of each run, what is there at its turn."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lambdas.archive.contents import checked, reported, round_says
from lambdas.archive.lines import FORMAT, HEADER, VERSION, Writer
from lambdas.registry import PhaseRecord, Registry
from lambdas.sentences import MissingBlockError, unpack_block
from lambdas.store.interface import Store, StoreError, TextSide
from lambdas.task_loader import SentencePair, text_checkpoints

Said = Iterator[tuple[str, dict[str, Any]]]  # kinds of lines, and what they say


def export(
    store: Store,
    path: Path,
    *,
    texts: bool = False,
    keys: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Write the archive; tell of how many runs and rounds. ``progress`` is told of rounds as they are written.

    Without ``texts`` it has neither sources nor references, without ``keys`` neither hashes of API keys nor token keys.
    """
    registry, counts = Registry(store), Counter[str]()
    if not registry.phases():
        raise StoreError("there is no task in this store: nothing to export")
    with Writer(path) as out:
        header = {"format": FORMAT, "version": VERSION, "made_at": registry.now(), "texts": texts, "keys": keys}
        out.write(HEADER, header)
        for kind, says in _everything(store, registry, progress, texts=texts, keys=keys):
            out.write(kind, says)
            counts[kind] += 1
    return counts["run"], counts["round"]


def _everything(store: Store, registry: Registry, progress: Callable[[int], None], *, texts: bool, keys: bool) -> Said:
    """All lines but header and end, in the order of ``contents.SECTIONS``."""
    records, participants = registry.phases(), registry.participants()
    names = [participant.name for participant in participants]  # whoever comes later is not in this archive
    for record in records:
        yield "phase", {**record.as_document(), "checkpoints": text_checkpoints(store, record.phase.name)}
    yield from (("participant", participant.as_document()) for participant in participants)
    yield from (("role", asdict(role)) for role in registry.roles() if role.participant in names)
    if keys:
        yield "ring", {"secrets": {str(number): secret.hex() for number, secret in registry.key_ring().secrets.items()}}
    for record in records:
        for name in names:
            yield from _runs(store, registry, record, name, progress)
    if texts:
        for record in records:
            for source, reference in _pairs(store, record):
                yield "text", {"phase": record.phase.name, "source": source, "reference": reference}
    if keys:
        for name in names:
            yield from (("key", asdict(key)) for key in registry.keys(name))


def _runs(
    store: Store, registry: Registry, record: PhaseRecord, participant: str, progress: Callable[[int], None]
) -> Said:
    for run in registry.claims(participant, record.phase.name):
        yield "run", asdict(run)
        for played in reported(checked(record, run, store.rounds(run.id)), progress):
            yield "round", round_says(played)


def _pairs(store: Store, record: PhaseRecord) -> Iterator[SentencePair]:
    """The distinct sentences of a phase, as they were loaded."""
    name = record.phase.name
    for number in range(-(-record.phase.layout.distinct // record.block_size)):
        sides = [store.block(side, name, number) for side in (TextSide.SOURCES, TextSide.REFERENCES)]
        if None in sides:
            raise MissingBlockError(f"the sentences of phase {name} are not all in this store: load the task first")
        yield from zip(*(unpack_block(side) for side in sides if side is not None), strict=True)
