"""The sentences of a task, packed: some hundreds to a block, compressed, and cached once read.

A block is sentences joined by newlines, in UTF-8, compressed with zlib. Sources and references are stored apart, so
that only the scoring function needs access to references.
"""

import zlib
from collections.abc import Sequence

from lambdas.cache import Cache
from lambdas.errors import OrganiserError
from lambdas.registry import PhaseRecord
from lambdas.store.interface import Store, TextSide

BLOCK_SIZE = 512  # sentences; a block of product text is some 10 kB compressed, of long prose below DynamoDB's 400 kB
CACHED_BLOCKS = 128  # of sources and references together; about 10 MB of short sentences


class MissingBlockError(OrganiserError):
    """A phase without its sentences: damaged, or restored from an archive that has none."""


def pack(sentences: Sequence[str]) -> bytes:
    """One block."""
    return zlib.compress("\n".join(sentences).encode())


def unpack(block: bytes) -> list[str]:
    """The sentences of a block."""
    return zlib.decompress(block).decode().split("\n")


class Library:
    """Sentences by phase and round, from cached blocks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._blocks: Cache[tuple[TextSide, str, int], list[str]] = Cache(CACHED_BLOCKS)

    def source(self, record: PhaseRecord, index: int) -> str:
        """What is to be translated in round ``index``."""
        return self._sentence(TextSide.SOURCES, record, index)

    def reference(self, record: PhaseRecord, index: int) -> str:
        """What a translation of round ``index`` is compared with."""
        return self._sentence(TextSide.REFERENCES, record, index)

    def _sentence(self, side: TextSide, record: PhaseRecord, index: int) -> str:
        number, offset = divmod(record.phase.layout.place(index).sentence, record.block_size)
        sentences = self._blocks.get((side, record.phase.name, number), self._load)
        if sentences is None:
            phase = record.phase.name
            raise MissingBlockError(f"block {number} of the {side} of phase {phase} is missing: load the task again")
        return sentences[offset]

    def _load(self, place: tuple[TextSide, str, int]) -> list[str] | None:
        block = self._store.block(*place)
        return unpack(block) if block is not None else None
