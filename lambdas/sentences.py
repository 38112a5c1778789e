"""The sentences of a task, packed in blocks of some hundreds, compressed, and cached once read.

A block is sentences joined by newlines, in UTF-8, compressed with zlib. Sources and references are stored apart, so
that only the function that scores needs permission to read references.
"""

import zlib
from collections.abc import Sequence

from lambdas.cache import Cache
from lambdas.errors import OrganiserError
from lambdas.phase_record import PhaseRecord
from lambdas.store.interface import Store, TextSide
from lambdas.text_lines import Reference, Source, parse_reference, parse_source

BLOCK_SIZE = 512  # sentences; a block of product text is some 10 kB compressed, of long prose below DynamoDB's 400 kB
MAX_BLOCK_SIZE = 4_096  # sentences in a block of any store: a block is unpacked as a whole
CACHED_BLOCKS = 128  # sources and references together; about 10 MB of short sentences


class MissingBlockError(OrganiserError):
    """A phase lacks its sentences: the store is damaged, or was restored from an archive without texts."""


def pack_block(sentences: Sequence[str]) -> bytes:
    """Return the sentences as one compressed block."""
    return zlib.compress("\n".join(sentences).encode())


def unpack_block(block: bytes) -> list[str]:
    """Return the sentences of a block."""
    return zlib.decompress(block).decode().split("\n")


class SentenceReader:
    """Reads sentences by phase and round, from cached blocks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._blocks: Cache[tuple[TextSide, str, int], list[str]] = Cache(CACHED_BLOCKS)

    def source(self, record: PhaseRecord, index: int) -> Source:
        """Return the sentence that round ``index`` serves."""
        return parse_source(self._line(TextSide.SOURCES, record, index), has_position=record.phase.documents)

    def reference(self, record: PhaseRecord, index: int) -> Reference:
        """Return the reference that translations of round ``index`` are scored against."""
        line = self._line(TextSide.REFERENCES, record, index)
        return parse_reference(line, has_words=record.feedback.shows_post_edits)

    def _line(self, side: TextSide, record: PhaseRecord, index: int) -> str:
        number, offset = divmod(record.phase.layout.sentence(index), record.block_size)
        sentences = self.block(side, record, number)
        if offset >= len(sentences):
            raise MissingBlockError(f"block {number} of the {side} of phase {record.phase.name} lacks sentences")
        return sentences[offset]

    def block(self, side: TextSide, record: PhaseRecord, number: int) -> list[str]:
        """Return the lines of a block. Raises MissingBlockError if it is missing or damaged."""
        sentences = self._blocks.get((side, record.phase.name, number), self._load)
        if sentences is None:
            phase = record.phase.name
            raise MissingBlockError(f"block {number} of the {side} of phase {phase} is missing: load the task again")
        return sentences

    def _load(self, key: tuple[TextSide, str, int]) -> list[str] | None:
        block, (side, phase, number) = self._store.block(*key), key
        try:
            return unpack_block(block) if block is not None else None
        except (TypeError, UnicodeDecodeError, zlib.error):
            raise MissingBlockError(f"block {number} of the {side} of phase {phase} is damaged") from None
