"""Loading a task: any parallel text into packed blocks, phase by phase.

Loading can be interrupted at any point and begun again: a checkpoint tells how far the store got with the very same
text. Loading what is there already changes nothing. A phase that is loaded is never overwritten with another text,
because runs may have been played on it. A phase that came out of an archive without its sentences is completed by
loading the same text.

Two may load at once. Before a batch of blocks is written, its hash is added to the checkpoints on the condition that
nobody has added another: who loads the same text meanwhile writes the same blocks, who loads another one is refused.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice

from lambdas.errors import OrganiserError, UnavailableError
from lambdas.feedback import Feedback
from lambdas.library import BLOCK_SIZE, pack
from lambdas.registry import DEFAULT_RUNS, PhaseRecord, PhaseState, Registry
from lambdas.store import documents
from lambdas.store.interface import Shelf, Store
from task.limits import MAX_SENTENCE_CHARACTERS, has_undecoded_bytes, is_one_line
from task.phases import Phase

CHECKPOINT_BLOCKS = 25  # blocks written between two checkpoints: one batch of DynamoDB
LOADER_SECONDS = 300  # without a sign of life, after which a loader counts as dead: longer than any write takes
MAX_RACES = 50

Pair = tuple[str, str]  # source and reference


class LoadError(OrganiserError):
    """A text that cannot be loaded into a phase."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Some hundred sentences, and a hash of all text up to and including them."""

    number: int
    end: int  # pairs up to and including its own
    sources: list[str]
    references: list[str]
    fingerprint: str


def load_phase(
    store: Store,
    phase: Phase,
    pairs: Iterable[Pair],
    *,
    feedback: Feedback | None = None,
    runs: int | None = None,
    state: PhaseState = PhaseState.OPEN,
    block_size: int = BLOCK_SIZE,
    progress: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = time.time,
) -> PhaseRecord:
    """Load the distinct sentences of a phase: its held-out block first, then the fresh ones as they are served.

    ``progress`` is told the number of pairs that are done, now and then.
    """
    feedback = feedback or Feedback()
    store.prepare()
    registry = Registry(store)
    registry.make_ring()
    loaded = registry.phase(phase.name)
    if loaded is not None:
        blocks = _blocks(phase, pairs, loaded.block_size)
        return _loaded(store, loaded, blocks, phase, feedback, progress, clock)
    fingerprint = _write(store, phase, _blocks(phase, pairs, block_size), progress, clock)
    budget = DEFAULT_RUNS[phase.repeatable] if runs is None else runs
    record = PhaseRecord(phase, feedback, block_size, fingerprint, budget, state)
    if registry.put_phase(record):
        return record
    known = registry.known_phase(phase.name)  # somebody was faster
    if (known.phase, known.feedback, known.fingerprint) != (phase, feedback, fingerprint):
        raise _other_text(phase)
    return known


def await_text(store: Store, phase: str, checkpoints: Sequence[str]) -> None:
    """Let a phase that is here without its sentences be completed by the text that has these checkpoints."""
    store.replace(documents.AWAITED_TEXT, phase, {"fingerprints": list(checkpoints)})


def checkpoints_of(store: Store, phase: str) -> list[str]:
    """What the text of a phase is recognised by, piece after piece, whether it is here or awaited."""
    document = store.document(documents.AWAITED_TEXT, phase) or store.document(documents.LOADING_CHECKPOINTS, phase)
    return list(document["fingerprints"]) if document else []


def fingerprinted(record: PhaseRecord, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs of a phase as they come, block by block; any other text than its own is refused in the end."""
    fingerprint = ""
    for block in _blocks(record.phase, pairs, record.block_size):
        yield from zip(block.sources, block.references, strict=True)
        fingerprint = block.fingerprint
    if fingerprint != record.fingerprint:
        raise _other_text(record.phase)


def _loaded(
    store: Store,
    record: PhaseRecord,
    blocks: Iterator[_Block],
    phase: Phase,
    feedback: Feedback,
    progress: Callable[[int], None],
    clock: Callable[[], float],
) -> PhaseRecord:
    """What is loaded already, if it is the same; the sentences are written if they alone are missing."""
    if (record.phase, record.feedback) != (phase, feedback):
        raise _other_text(phase)
    awaited = store.document(documents.AWAITED_TEXT, phase.name)
    if awaited is not None:
        _write(store, phase, blocks, progress, clock, awaited["fingerprints"])
        store.delete(documents.AWAITED_TEXT, phase.name)
    elif [block.fingerprint for block in blocks][-1] != record.fingerprint:
        raise _other_text(phase)
    return record


def _other_text(phase: Phase) -> LoadError:
    return LoadError(f"phase {phase.name} is loaded already, with other sentences or rules; use another store")


class _Checkpoints:
    """How far a phase is loaded: the hash of each batch of blocks that was begun, and when that was."""

    def __init__(self, store: Store, phase: str, clock: Callable[[], float]) -> None:
        self._store, self._phase, self._clock = store, phase, clock
        self._known = store.document(documents.LOADING_CHECKPOINTS, phase)
        self._mine: list[str] = []

    def begin(self, fingerprint: str) -> bool:
        """Begin the next batch; False if it is there already. Whoever loads another text at this moment goes first."""
        self._mine.append(fingerprint)
        for _ in range(MAX_RACES):
            begun, since = (self._known["fingerprints"], self._known["at"]) if self._known else ([], 0)
            same = min(len(begun), len(self._mine))
            if begun[:same] != self._mine[:same]:
                if Registry(self._store).phase(self._phase) is not None:
                    raise LoadError(
                        f"phase {self._phase} was loaded meanwhile, with other sentences; use another store"
                    )
                if self._clock() - since < LOADER_SECONDS:
                    raise LoadError(
                        f"phase {self._phase} is being loaded with another text; wait until that is done, or for "
                        f"{LOADER_SECONDS} seconds if it was killed"
                    )
            elif len(begun) > len(self._mine):  # the last one may not have been finished, but all before it were
                return False
            if self._keep(self._clock()):
                return True
        raise LoadError(f"phase {self._phase} is being loaded by others; wait until they are done")

    def close(self) -> None:
        """Tell others that nobody loads this text any more, done or not."""
        if self._mine and self._known and self._known["fingerprints"] == self._mine:
            with suppress(UnavailableError):  # what happened before is worth more
                self._keep(0)

    def _keep(self, at: float) -> bool:
        document = {"fingerprints": list(self._mine), "at": at}
        if self._known is None:
            kept = self._store.create(documents.LOADING_CHECKPOINTS, self._phase, document)
        else:
            kept = self._store.swap(documents.LOADING_CHECKPOINTS, self._phase, self._known, document)
        self._known = document if kept else self._store.document(documents.LOADING_CHECKPOINTS, self._phase)
        return kept


def _write(
    store: Store,
    phase: Phase,
    blocks: Iterator[_Block],
    progress: Callable[[int], None],
    clock: Callable[[], float],
    awaited: Sequence[str] | None = None,
) -> str:
    """Write what no checkpoint vouches for, and return the fingerprint of the whole; nothing but what is awaited."""
    fingerprint = ""
    batches = iter(lambda: list(islice(blocks, CHECKPOINT_BLOCKS)), [])
    with closing(_Checkpoints(store, phase.name, clock)) as checkpoints:
        for number, batch in enumerate(batches):
            fingerprint = batch[-1].fingerprint
            if awaited is not None and awaited[number : number + 1] != [fingerprint]:
                raise _other_text(phase)
            if checkpoints.begin(fingerprint):
                _put(store, phase.name, batch)
            progress(batch[-1].end)
    return fingerprint


def _put(store: Store, phase: str, batch: Sequence[_Block]) -> None:
    store.put_blocks(Shelf.SOURCES, phase, [(block.number, pack(block.sources)) for block in batch])
    store.put_blocks(Shelf.REFERENCES, phase, [(block.number, pack(block.references)) for block in batch])


def _blocks(phase: Phase, pairs: Iterable[Pair], block_size: int) -> Iterator[_Block]:
    """Cut the text into blocks, chaining their hashes; refuse a text that is too short, too long or not lines."""
    wanted, end = phase.layout.distinct, 0
    chain = hashlib.sha256(f"blocks of {block_size}".encode()).digest()
    remaining = iter(pairs)
    while chunk := list(islice(remaining, block_size)):
        for offset, pair in enumerate(chunk):
            _check(pair, end + offset, phase)
        number, end = end // block_size, end + len(chunk)
        if end > wanted:
            raise LoadError(f"phase {phase.name} has {wanted:,} distinct sentences, but the text has more")
        sources, references = [source for source, _ in chunk], [reference for _, reference in chunk]
        chain = hashlib.sha256(chain + "\n".join((*sources, *references)).encode()).digest()
        yield _Block(number, end, sources, references, chain.hex())
    if end < wanted:
        raise LoadError(f"phase {phase.name} has {wanted:,} distinct sentences, but the text has only {end:,}")


def _check(pair: Pair, number: int, phase: Phase) -> None:
    for side, sentence in zip(("source", "reference"), pair, strict=True):
        # as with translations: a source that could not be sent back would stop every system that copies it
        is_text = is_one_line(sentence) and not has_undecoded_bytes(sentence)
        if not sentence.strip() or len(sentence) > MAX_SENTENCE_CHARACTERS or not is_text:
            raise LoadError(
                f"the {side} of pair {number:,} of phase {phase.name} is not one line of "
                f"1 to {MAX_SENTENCE_CHARACTERS:,} printable characters (U+FFFD, left of broken UTF-8, is none)"
            )
