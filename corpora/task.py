"""A task on disk: ``task.json`` and line-aligned gzip files, in the order in which their lines are served.

``docs/task-format.md`` documents the format. A task appears under its name when it is complete, or not at all.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from corpora.errors import InputError, TaskError
from corpora.line_files import LineWriter, read_lines
from task.atomic_files import staged_directory
from task.description import (
    DOCUMENTS,
    PARTS,
    UNKNOWN_DOCUMENT,
    DescriptionError,
    FileSummary,
    TaskDescription,
    file_name,
    parse_description,
)
from task.layout import Layout
from task.phases import PHASES

DESCRIPTION_FILE = "task.json"
CONTRASTIVE_FOLDER = "contrastive"  # where a task may have test sets of consistency

PROGRESS_STEP = 1000  # pairs between two reports of progress


class Pair(NamedTuple):
    """A sentence, its translation and, where it is known, the id of the document it is from."""

    source: str
    target: str
    document: str = UNKNOWN_DOCUMENT


def write_pairs(
    directory: Path,
    part: str,
    languages: tuple[str, str],
    pairs: Iterable[tuple[str, ...]],
    *,
    documents: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, FileSummary]:
    """Write one part as aligned files and return what each holds. Parts are independent: a process can write each."""
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


def in_served_order(pairs: Iterable[P], layout: Layout, part: str) -> Iterator[P]:
    """Yield the distinct pairs of a phase as they are served, with the held-out block repeated in every pass.

    Only the held-out block is kept in memory; fresh pairs stream through.
    """
    fresh = iter(pairs)
    block: list[P] = []
    for index in range(layout.total):
        sentence = layout.place(index).sentence
        if sentence < len(block):
            yield block[sentence]
            continue
        pair = next(fresh, None)
        if pair is None:
            missing = f"only {sentence:,} of the {layout.distinct:,} distinct pairs that it needs"
            raise TaskError(f"phase {part} is cut short: there are {missing}")
        if sentence < layout.block:
            block.append(pair)
        yield pair


def require_free_path(path: Path) -> None:
    """Raise TaskError unless a task can be created here, so that a command can say so before long work."""
    if path.name in ("", ".."):
        raise TaskError(f"{path} does not name a new directory; give the name of the directory to create")
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise TaskError(f"{path} already exists; remove it or choose another place")


class TaskWriter:
    """Collects the parts of a task in a hidden directory, and moves it into place when all are written.

    ::

        with TaskWriter(path, description) as writer:
            writer.add("mock", write_pairs(writer.directory, "mock", ("de", "en"), pairs), layout)
            ...
    """

    def __init__(self, path: Path, description: TaskDescription) -> None:
        self._path = path
        self._description = description
        self._staging = ExitStack()
        self.directory: Path  # where the files are written; from entering the ``with`` block on

    def add(
        self,
        part: str,
        files: Mapping[str, FileSummary],
        layout: Layout | None = None,
        *,
        cleaning: Mapping[str, int] | None = None,
    ) -> None:
        """Register what ``write_pairs`` wrote; a phase comes with its layout."""
        known = self._description
        phases = dict(known.phases)
        if layout is not None:
            phases[part] = layout
        counts = dict(known.cleaning) if cleaning is None else {**known.cleaning, part: dict(cleaning)}
        self._description = replace(known, phases=phases, files={**known.files, **files}, cleaning=counts)

    def __enter__(self) -> Self:
        require_free_path(self._path)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self.directory = self._staging.enter_context(staged_directory(self._path))
        except OSError as wrong:
            raise TaskError(f"cannot write {self._path}: {wrong.strerror}") from None
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            with self._staging:
                if error is not None:
                    raise error
                self._write_description()
        except OSError as wrong:
            if wrong.filename:
                raise
            raise TaskError(f"cannot write {self._path}: {wrong.strerror or wrong}") from None  # such as a full disk

    def _write_description(self) -> None:
        description = self._description
        in_order = {part: description.phases[part] for part in PHASES if part in description.phases}
        files = dict(sorted(description.files.items()))
        text = replace(description, phases=in_order, files=files).to_json()
        (self.directory / DESCRIPTION_FILE).write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Task:
    """A task that can be read. It trusts what ``task.json`` says; ``corpora.checking`` looks at every line."""

    path: Path
    description: TaskDescription

    @classmethod
    def open(cls, path: Path) -> "Task":
        """Read ``task.json``. Raises TaskError if the directory has none, or not a valid one."""
        file = path / DESCRIPTION_FILE
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise TaskError(f"{path} is not a task: it has no {DESCRIPTION_FILE}") from None
        except (OSError, UnicodeDecodeError) as wrong:
            raise TaskError(f"cannot read {file}: {wrong}") from None
        try:
            return cls(path, parse_description(text))
        except DescriptionError as wrong:
            raise TaskError(f"{file}: {wrong}" if wrong.line is None else f"{file}:{wrong.line}: {wrong}") from None

    @property
    def digest(self) -> str:
        """The SHA-256 of ``task.json``, which identifies the task: it holds the digests of all other files."""
        return hashlib.sha256((self.path / DESCRIPTION_FILE).read_bytes()).hexdigest()

    @property
    def parts(self) -> list[str]:
        """The parts that this task has, in their usual order."""
        source = self.description.languages.source
        return [part for part in PARTS if file_name(part, source) in self.description.files]

    def rounds(self, part: str) -> int:
        """Return the number of pairs in a part, held-out repetitions included."""
        return self.description.files[self._file(part, self.description.languages.source).name].lines

    def lines(self, part: str, side: str) -> Iterator[str]:
        """Yield one side of a part, or its document ids, in the order served."""
        return read_lines(self._file(part, side))

    def pairs(self, part: str) -> Iterator[Pair]:
        """Yield the pairs of a part in the order served."""
        sides = list(self.description.languages)
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
        """Yield the pairs of a part in the order served, each held-out sentence only once."""
        layout = self.description.phases.get(part)
        for index, pair in enumerate(self.pairs(part)):
            if layout is None or not layout.is_repeat(index):
                yield pair

    def _file(self, part: str, side: str) -> Path:
        name = file_name(part, side)
        if name not in self.description.files:
            raise TaskError(f"{self.path} has no {name}; its parts are {', '.join(self.parts)}")
        return self.path / name


def zip_aligned(streams: Iterable[Iterator[str]], files: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of several files side by side. Raises InputError where one ends before another."""
    for number, lines in enumerate(itertools.zip_longest(*streams), start=1):
        if None in lines:
            short = lines.index(None)
            longer = next(file for file, line in zip(files, lines, strict=True) if line is not None)
            raise InputError(f"ends before this line, but {longer} has more lines: not aligned", files[short], number)
        yield lines
