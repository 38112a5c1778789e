"""Load a task: any parallel text becomes packed blocks, phase by phase.

Loading can be interrupted at any point and resumed: checkpoints record how much of this very text the store has.
Loading a text that is loaded already changes nothing. A loaded phase is never overwritten with a different text,
because runs may have been played on it. A phase that was restored from an archive without its sentences is completed by
loading the same text.

Two processes may load at the same time. Before a batch of blocks is written, its hash is added to the checkpoints, on
the condition that no other process has added a different one. A process that loads the same text writes the same
blocks; a process that loads a different text is refused.
"""

import hashlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice, repeat, tee
from typing import NamedTuple

from lambdas.errors import OrganiserError, UnavailableError
from lambdas.phase_record import PhaseRecord, PhaseState
from lambdas.registry import Registry, default_runs
from lambdas.sentences import BLOCK_SIZE, SentenceReader, pack_block
from lambdas.store import documents
from lambdas.store.interface import Store, TextSide
from lambdas.store.records import intact
from lambdas.text_lines import parse_reference, reference_line, source_line
from leaderboard.metrics.recall import ConfirmedWords, WordFilter, any_word, content_words, has_stop_words
from task.description import UNKNOWN_DOCUMENT
from task.documents import positions
from task.limits import MAX_SENTENCE_CHARACTERS, has_undecoded_bytes, is_one_line
from task.phases import Phase

CHECKPOINT_BLOCKS = 25  # blocks per checkpoint: one batch write of DynamoDB
LOADER_TIMEOUT_SECONDS = 300  # a loader that is silent for so long counts as killed; no write takes that long
MAX_CHECKPOINT_CONFLICTS = 50  # in a row, before a loader gives up

# A source, its reference and, in a phase with documents, the id of its document.
SentencePair = tuple[str, str] | tuple[str, str, str]


class LoadError(OrganiserError):
    """A text cannot be loaded into a phase."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Some hundreds of sentence pairs as lines, and a hash of all text up to and including them."""

    number: int
    end: int  # pairs up to and including its own
    sources: list[str]
    references: list[str]
    fingerprint: str


def load_phase(
    store: Store,
    phase: Phase,
    pairs: Iterable[SentencePair],
    *,
    language: str = "",
    runs: int | None = None,
    state: PhaseState = PhaseState.OPEN,
    block_size: int = BLOCK_SIZE,
    progress: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = time.time,
) -> PhaseRecord:
    """Load the distinct sentences of a phase: its held-out block first, then the fresh ones in serving order.

    ``language`` is that of the references, for its stop words. ``progress`` is called after each batch with the number
    of pairs loaded so far.
    """
    store.prepare()
    registry = Registry(store)
    registry.ensure_key_ring()
    loaded = registry.phase(phase.name)
    if loaded is not None:
        if loaded.phase != phase:
            raise _different_text_error(phase)
        return _compare_or_complete(store, loaded, _cut_into_blocks(loaded, pairs), progress, clock)
    budget = default_runs(phase) if runs is None else runs
    record = PhaseRecord(phase, block_size, "", budget, state, language=language)
    record = replace(record, fingerprint=_write_blocks(store, phase, _cut_into_blocks(record, pairs), progress, clock))
    if registry.create_phase(record):
        return record
    known = registry.require_phase(phase.name)  # another process was faster
    if (known.phase, known.fingerprint) != (phase, record.fingerprint):
        raise _different_text_error(phase)
    return known


def await_text(store: Store, phase: str, checkpoints: Sequence[str]) -> None:
    """Let a phase that has no sentences yet be completed by the text that has these checkpoints."""
    store.replace(documents.AWAITED_TEXT, phase, {"fingerprints": list(checkpoints)})


def text_checkpoints(store: Store, phase: str) -> list[str]:
    """Return the hashes that identify the text of a phase, one per batch, whether it is loaded or awaited."""
    document = store.document(documents.AWAITED_TEXT, phase) or store.document(documents.LOADING_CHECKPOINTS, phase)
    with intact(documents.LOADING_CHECKPOINTS):
        return list(document["fingerprints"]) if document else []


def is_awaited(store: Store, phase: str) -> bool:
    """Return whether a phase was restored without its sentences, which are still to be loaded."""
    return store.document(documents.AWAITED_TEXT, phase) is not None


def stored_checkpoints(store: Store, record: PhaseRecord) -> Iterator[str]:
    """Yield the checkpoints of a phase again from the sentences in the store. Raises MissingBlockError.

    They are equal to ``text_checkpoints`` unless the sentences were changed.
    """
    reader, blocks = SentenceReader(store), math.ceil(record.phase.layout.distinct / record.block_size)
    chain = _first_hash(record)
    for number in range(blocks):
        sources, references = (reader.block(side, record, number) for side in TextSide)
        has_words = record.feedback.shows_post_edits
        chain = _next_hash(chain, sources, [parse_reference(each, has_words=has_words).text for each in references])
        if (number + 1) % CHECKPOINT_BLOCKS == 0 or number + 1 == blocks:
            yield chain.hex()


def _first_hash(record: PhaseRecord) -> bytes:
    return hashlib.sha256(f"blocks of {record.block_size}".encode()).digest()


def _next_hash(chain: bytes, sources: Sequence[str], references: Sequence[str]) -> bytes:
    return hashlib.sha256(chain + "\n".join((*sources, *references)).encode()).digest()


def checkpoint_count(record: PhaseRecord) -> int:
    """Return the number of checkpoints that the text of a phase has: one for every ``CHECKPOINT_BLOCKS`` blocks."""
    return math.ceil(record.phase.layout.distinct / (record.block_size * CHECKPOINT_BLOCKS))


def check_fingerprint(record: PhaseRecord, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield the pairs of a phase; after the last one, raise LoadError unless they are the phase's own text."""
    seen: deque[SentencePair] = deque()
    fingerprint = ""
    for block in _cut_into_blocks(record, _remember(pairs, seen)):
        while seen:
            yield seen.popleft()
        fingerprint = block.fingerprint
    if fingerprint != record.fingerprint:
        raise _different_text_error(record.phase)


def _remember(pairs: Iterable[SentencePair], seen: deque[SentencePair]) -> Iterator[SentencePair]:
    for pair in pairs:
        seen.append(pair)
        yield pair


def _compare_or_complete(
    store: Store,
    record: PhaseRecord,
    blocks: Iterator[_Block],
    progress: Callable[[int], None],
    clock: Callable[[], float],
) -> PhaseRecord:
    """Return the loaded phase if the text is the same; write the sentences if only they are missing."""
    phase = record.phase
    awaited = store.document(documents.AWAITED_TEXT, phase.name)
    if awaited is not None:
        _write_blocks(store, phase, blocks, progress, clock, awaited["fingerprints"])
        store.delete(documents.AWAITED_TEXT, phase.name)
    elif [block.fingerprint for block in blocks][-1] != record.fingerprint:
        raise _different_text_error(phase)
    return record


def _different_text_error(phase: Phase) -> LoadError:
    return LoadError(f"phase {phase.name} is loaded already, with other sentences or rules; use another store")


class _Checkpoints:
    """How far a phase is loaded: the hash of each batch of blocks that was begun, and when the last one was."""

    def __init__(self, store: Store, phase: str, clock: Callable[[], float]) -> None:
        self._store, self._phase, self._clock = store, phase, clock
        self._known = store.document(documents.LOADING_CHECKPOINTS, phase)
        self._mine: list[str] = []

    def begin(self, fingerprint: str) -> bool:
        """Begin the next batch; return False if the store has it already.

        Raises LoadError while another process is loading a different text: the first one wins.
        """
        self._mine.append(fingerprint)
        for _ in range(MAX_CHECKPOINT_CONFLICTS):
            begun, since = (self._known["fingerprints"], self._known["at"]) if self._known else ([], 0)
            common = min(len(begun), len(self._mine))
            if begun[:common] != self._mine[:common]:
                self._check_abandoned(since)
            elif len(begun) > len(self._mine):  # the last batch may be unfinished, but all before it are written
                return False
            if self._save(self._clock()):
                return True
        raise LoadError(f"phase {self._phase} is being loaded by others; wait until they are done")

    def close(self) -> None:
        """Tell other loaders that this one has stopped, finished or not."""
        if self._mine and self._known and self._known["fingerprints"] == self._mine:
            with suppress(UnavailableError):  # an error that is under way matters more
                self._save(0)

    def _check_abandoned(self, since: float) -> None:
        """Raise LoadError unless the loader of the different text was killed before it finished."""
        if Registry(self._store).phase(self._phase) is not None:
            raise LoadError(f"phase {self._phase} was loaded meanwhile, with other sentences; use another store")
        if self._clock() - since < LOADER_TIMEOUT_SECONDS:
            raise LoadError(
                f"phase {self._phase} is being loaded with another text; wait until that is done, or for "
                f"{LOADER_TIMEOUT_SECONDS} seconds if it was killed"
            )

    def _save(self, at: float) -> bool:
        """Write the checkpoints; return False if another process wrote first."""
        document = {"fingerprints": list(self._mine), "at": at}
        if self._known is None:
            saved = self._store.create(documents.LOADING_CHECKPOINTS, self._phase, document)
        else:
            saved = self._store.compare_and_swap(documents.LOADING_CHECKPOINTS, self._phase, self._known, document)
        self._known = document if saved else self._store.document(documents.LOADING_CHECKPOINTS, self._phase)
        return saved


def _write_blocks(
    store: Store,
    phase: Phase,
    blocks: Iterator[_Block],
    progress: Callable[[int], None],
    clock: Callable[[], float],
    awaited: Sequence[str] | None = None,
) -> str:
    """Write the blocks that no checkpoint covers, and return the fingerprint of the whole text.

    Raises LoadError at the first batch that is not the awaited one, if any are awaited.
    """
    fingerprint = ""
    batches = iter(lambda: list(islice(blocks, CHECKPOINT_BLOCKS)), [])
    with closing(_Checkpoints(store, phase.name, clock)) as checkpoints:
        for number, batch in enumerate(batches):
            fingerprint = batch[-1].fingerprint
            if awaited is not None and awaited[number : number + 1] != [fingerprint]:
                raise _different_text_error(phase)
            if checkpoints.begin(fingerprint):
                _put_batch(store, phase.name, batch)
            progress(batch[-1].end)
    return fingerprint


def _put_batch(store: Store, phase: str, batch: Sequence[_Block]) -> None:
    store.put_blocks(TextSide.SOURCES, phase, [(block.number, pack_block(block.sources)) for block in batch])
    store.put_blocks(TextSide.REFERENCES, phase, [(block.number, pack_block(block.references)) for block in batch])


def _cut_into_blocks(record: PhaseRecord, pairs: Iterable[SentencePair]) -> Iterator[_Block]:
    """Yield the text in blocks with chained hashes; raise LoadError if it is too short, too long or not lines.

    The hash is of sources with their positions, and of references. It leaves out the words that recall is measured on:
    they depend on a list of stop words, which may change.
    """
    phase, block_size = record.phase, record.block_size
    wanted, end = phase.layout.distinct, 0
    chain = _first_hash(record)
    lines = _lines(record, pairs)
    while chunk := list(islice(lines, block_size)):
        number, end = end // block_size, end + len(chunk)
        if end > wanted:
            raise LoadError(f"phase {phase.name} has {wanted:,} distinct sentences, but the text has more")
        sources, references = [line.source for line in chunk], [line.reference for line in chunk]
        chain = _next_hash(chain, sources, references)
        annotated = [reference_line(line.reference, line.wanted) for line in chunk]
        yield _Block(number, end, sources, annotated, chain.hex())
    if end < wanted:
        raise LoadError(f"phase {phase.name} has {wanted:,} distinct sentences, but the text has only {end:,}")


class _Line(NamedTuple):
    """A sentence pair as it is stored."""

    source: str  # with its position, in a phase with documents
    reference: str
    wanted: Sequence[Sequence[str]]  # words that recall is measured on, in a post-edit phase


def _lines(record: PhaseRecord, pairs: Iterable[SentencePair]) -> Iterator[_Line]:
    phase = record.phase
    confirmed = ConfirmedWords(_word_filter(record.language)) if phase.feedback.shows_post_edits else None
    places: Iterator[int | None] = repeat(None)
    if phase.documents:
        pairs, again = tee(pairs)
        places = positions((_document(pair) for pair in again), phase.layout)
    for number, (pair, position) in enumerate(zip(pairs, places, strict=False)):
        _check_pair(pair, number, phase)
        source, reference = pair[0], pair[1]
        yield _Line(source_line(source, position), reference, confirmed.add(reference) if confirmed else ())


def _document(pair: SentencePair) -> str:
    return pair[2] if len(pair) > 2 else UNKNOWN_DOCUMENT


def _word_filter(language: str) -> WordFilter:
    return content_words(language) if has_stop_words(language) else any_word


def _check_pair(pair: SentencePair, number: int, phase: Phase) -> None:
    for side, sentence in zip(("source", "reference"), pair, strict=False):
        # the rules for translations hold for sources too, or no system could submit its source as a translation
        is_text = is_one_line(sentence) and not has_undecoded_bytes(sentence)
        if not sentence.strip() or len(sentence) > MAX_SENTENCE_CHARACTERS or not is_text:
            raise LoadError(
                f"the {side} of pair {number:,} of phase {phase.name} is not one line of "
                f"1 to {MAX_SENTENCE_CHARACTERS:,} printable characters (without U+FFFD, a sign of broken UTF-8)"
            )
