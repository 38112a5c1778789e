"""Pairs put aside on disk, so that a corpus of any size can be shuffled in little memory."""

import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from corpora.task import Pair


class Spool:
    """A file of clean pairs, and where each of them starts. The file is removed at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("x+b")
        self._starts = array("Q")
        self._documents: list[int] = []  # pair numbers at which another document starts
        self._last_document = ""

    def add(self, pair: Pair) -> None:
        """Append one pair; clean text has no tabs, and ids are made to have none."""
        document = " ".join(pair.document.split())
        if not self._starts or document != self._last_document or not document:
            self._documents.append(len(self._starts))
            self._last_document = document
        self._starts.append(self._file.tell())
        self._file.write(f"{pair.source}\t{pair.target}\t{document}\n".encode())

    def __len__(self) -> int:
        return len(self._starts)

    def read(self, numbers: Iterable[int]) -> Iterator[Pair]:
        """The pairs of these numbers, in their order."""
        for number in numbers:
            self._file.seek(self._starts[number])
            yield Pair(*self._file.readline().decode().removesuffix("\n").split("\t"))

    def shuffled(self, seed: int, *, keep_documents: bool) -> Sequence[int]:
        """The numbers of all pairs in a random order; documents move as a whole if they are to be kept together."""
        chance = random.Random(seed)
        if not keep_documents:
            order = array("Q", range(len(self)))
            chance.shuffle(order)
            return order
        ends = [*self._documents[1:], len(self)]
        documents = [range(start, end) for start, end in zip(self._documents, ends, strict=True)]
        chance.shuffle(documents)
        return array("Q", (number for document in documents for number in document))

    def close(self) -> None:
        self._file.close()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
