"""A temporary file of pairs, so that a corpus of any size can be shuffled in little memory."""

import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from corpora.task import Pair


class Spool:
    """A file of clean pairs with the offset of each. The file is removed at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("x+b")
        self._offsets = array("Q")
        self._document_starts: list[int] = []  # numbers of the first pairs of documents
        self._last_document = ""

    def add(self, pair: Pair) -> None:
        """Append a pair. Clean text has no tabs, and they are removed from document ids."""
        document = " ".join(pair.document.split())
        if not self._offsets or document != self._last_document or not document:
            self._document_starts.append(len(self._offsets))
            self._last_document = document
        self._offsets.append(self._file.tell())
        self._file.write(f"{pair.source}\t{pair.target}\t{document}\n".encode())

    def __len__(self) -> int:
        return len(self._offsets)

    def read(self, numbers: Iterable[int]) -> Iterator[Pair]:
        """Yield the pairs with these numbers, in this order."""
        for number in numbers:
            self._file.seek(self._offsets[number])
            yield Pair(*self._file.readline().decode().removesuffix("\n").split("\t"))

    def shuffled(self, seed: int, *, keep_documents: bool) -> Sequence[int]:
        """Return the numbers of all pairs in random order; ``keep_documents`` shuffles documents as a whole."""
        rng = random.Random(seed)
        if not keep_documents:
            order = array("Q", range(len(self)))
            rng.shuffle(order)
            return order
        ends = [*self._document_starts[1:], len(self)]
        documents = [range(start, end) for start, end in zip(self._document_starts, ends, strict=True)]
        rng.shuffle(documents)
        return array("Q", (number for document in documents for number in document))

    def close(self) -> None:
        self._file.close()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
