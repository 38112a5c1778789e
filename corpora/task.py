"""A task on disk: ``task.json`` and line-aligned gzip files in the order in which they are served.

``docs/task-format.md`` documents the format. A task is written aside and renamed when it is whole, so a directory with
the wished name is either complete or not there.
"""

import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeVar

from corpora.description import DOCUMENTS, PARTS, PHASES, Description, PhaseLayout, file_name, parse_description
from corpora.errors import InputError, TaskError
from corpora.lines import FileSummary, LineWriter, read_lines

DESCRIPTION_FILE = "task.json"

PROGRESS_STEP = 1000  # pairs between two reports of progress


class Pair(NamedTuple):
    """One sentence, its translation and, where they are known, the document it is from."""

    source: str
    target: str
    document: str = ""


class Round(Protocol):
    """What an order says of one round; ``task.layout.Place`` is one."""

    @property
    def sentence(self) -> int: ...

    @property
    def held_out_pass(self) -> int | None: ...


class Order(Protocol):
    """The order in which a phase serves its distinct sentences; ``task.layout.Layout`` is one."""

    @property
    def blocks(self) -> int: ...

    @property
    def block(self) -> int: ...

    @property
    def gap(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def distinct(self) -> int: ...

    def place(self, index: int) -> Round: ...


def write_pairs(
    directory: Path,
    part: str,
    languages: tuple[str, str],
    pairs: Iterable[tuple[str, str] | Pair],
    *,
    documents: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, FileSummary]:
    """Write one part as aligned files and say what they hold. Parts are independent: a process can write each."""
    names = [file_name(part, language) for language in (*languages, *([DOCUMENTS] if documents else []))]
    with ExitStack() as stack:
        writers = [stack.enter_context(LineWriter(directory / name)) for name in names]
        written = 0
        for pair in pairs:
            for writer, line in zip(writers, pair, strict=False):
                writer.write(line)
            written += 1
            if written % PROGRESS_STEP == 0:
                progress(PROGRESS_STEP)
        progress(written % PROGRESS_STEP)
    return {name: writer.summary for name, writer in zip(names, writers, strict=True)}


P = TypeVar("P", bound=tuple)


def in_served_order(pairs: Iterable[P], order: Order, part: str) -> Iterator[P]:
    """Repeat the held-out block where it is due. Only the block is kept in memory; fresh pairs stream through."""
    fresh = iter(pairs)
    block: list[P] = []
    for index in range(order.total):
        sentence = order.place(index).sentence
        if sentence < len(block):
            yield block[sentence]
            continue
        pair = next(fresh, None)
        if pair is None:
            missing = f"only {sentence:,} of the {order.distinct:,} distinct pairs that it needs"
            raise TaskError(f"phase {part} is cut short: there are {missing}")
        if sentence < order.block:
            block.append(pair)
        yield pair


def refuse_taken(path: Path) -> None:
    """Raise unless a task can be put here: for commands that would otherwise say so after long work."""
    if path.name in ("", ".."):
        raise TaskError(f"{path} has no name of its own; call the directory to make by its name")
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise TaskError(f"{path} already exists; remove it or choose another place")


class TaskWriter:
    """Collects the parts of a task in a directory aside, and puts it in its place when everything is there.

    ::

        with TaskWriter(path, description) as writer:
            writer.add("mock", write_pairs(writer.directory, "mock", ("de", "en"), pairs), layout)
            ...
    """

    def __init__(self, path: Path, description: Description) -> None:
        self._path = path
        self._description = description
        self.directory = path.parent / f".{path.name}.{os.getpid()}"

    def add(
        self,
        part: str,
        files: Mapping[str, FileSummary],
        order: Order | None = None,
        *,
        cleaning: Mapping[str, int] | None = None,
    ) -> None:
        """Register what ``write_pairs`` wrote; a phase comes with the order in which it was written."""
        known = self._description
        phases = dict(known.phases)
        if order is not None:
            phases[part] = PhaseLayout(order.blocks, order.block, order.gap)
        counts = dict(known.cleaning) if cleaning is None else {**known.cleaning, part: dict(cleaning)}
        self._description = replace(known, phases=phases, files={**known.files, **files}, cleaning=counts)

    def __enter__(self) -> Self:
        refuse_taken(self._path)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self.directory.mkdir()
        except OSError as wrong:
            raise TaskError(f"cannot write {self._path}: {wrong.strerror}") from None
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._finish()
        except OSError as wrong:
            error = wrong
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        if isinstance(error, OSError) and not error.filename:  # a full disk does not say where
            raise TaskError(f"cannot write {self._path}: {error.strerror or error}") from None
        if isinstance(error, OSError) and kind is None:
            raise error

    def _finish(self) -> None:
        description = self._description
        in_order = {part: description.phases[part] for part in PHASES if part in description.phases}
        files = dict(sorted(description.files.items()))
        text = replace(description, phases=in_order, files=files).to_json()
        with (self.directory / DESCRIPTION_FILE).open("x", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        self.directory.rename(self._path)


@dataclass(frozen=True, slots=True)
class Task:
    """A task that can be read. ``corpora.checking`` looks at every line; this trusts what ``task.json`` says."""

    path: Path
    description: Description

    @classmethod
    def open(cls, path: Path) -> "Task":
        """Read ``task.json``; a directory without a sound one is not a task."""
        file = path / DESCRIPTION_FILE
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise TaskError(f"{path} is not a task: it has no {DESCRIPTION_FILE}") from None
        except (OSError, UnicodeDecodeError) as wrong:
            raise TaskError(f"cannot read {file}: {wrong}") from None
        return cls(path, parse_description(text, file))

    @property
    def parts(self) -> list[str]:
        """The parts that this task has, in their usual order."""
        return [part for part in PARTS if file_name(part, self.description.source) in self.description.files]

    def rounds(self, part: str) -> int:
        """Pairs in a part, held-out repetitions included."""
        return self.description.files[self._file(part, self.description.source).name].lines

    def lines(self, part: str, language: str) -> Iterator[str]:
        """One side of a part, or its document ids, in the order served."""
        return read_lines(self._file(part, language))

    def pairs(self, part: str) -> Iterator[Pair]:
        """The pairs of a part in the order served, one by one."""
        sides = [self.description.source, self.description.target]
        if self.description.has_documents:
            sides.append(DOCUMENTS)
        files = [self._file(part, side) for side in sides]
        streams = [read_lines(file) for file in files]
        for number, lines in enumerate(zip_aligned(streams, files), start=1):
            if not all(lines[:2]):
                empty = files[0] if not lines[0] else files[1]
                raise InputError("empty line", empty, number)
            yield Pair(*lines)

    def distinct_pairs(self, part: str) -> Iterator[Pair]:
        """Like ``pairs``, with each held-out sentence only once."""
        layout = self.description.phases.get(part)
        if layout is None or not layout.blocks:
            yield from self.pairs(part)
            return
        for index, pair in enumerate(self.pairs(part)):
            if index < layout.block or index % (layout.block + layout.gap) >= layout.block:
                yield pair

    def _file(self, part: str, language: str) -> Path:
        name = file_name(part, language)
        if name not in self.description.files:
            raise TaskError(f"{self.path} has no {name}; its parts are {', '.join(self.parts)}")
        return self.path / name


def zip_aligned(streams: Iterable[Iterator[str]], files: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Lines side by side; a file that ends before another is an error that says where."""
    for number, lines in enumerate(itertools.zip_longest(*streams), start=1):
        if None in lines:
            short = lines.index(None)
            longer = next(file for file, line in zip(files, lines, strict=True) if line is not None)
            raise InputError(f"ends before this line, but {longer} goes on: not aligned", files[short], number)
        yield lines
