"""Texts to be evaluated: from files, or from the ledger of a store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from lambdas.registry import Registry
from lambdas.sentences import SentenceReader
from lambdas.store import Store
from lambdas.text_lines import Source
from simulator.errors import SimulatorError
from task.names import is_run_id
from task.rounds import Run

SOURCE, REFERENCE, DOCUMENT = "source", "reference", "document"  # columns of a table that are not systems


class TextError(SimulatorError):
    """Texts to be evaluated are missing, or do not belong together."""


@dataclass(frozen=True, slots=True)
class EvaluatedTexts:
    """Aligned sentences: what each system proposed, and the references, sources and documents that are known."""

    systems: dict[str, Sequence[str]]
    references: Sequence[str]
    sources: Sequence[str] = ()
    documents: Sequence[str] = ()
    phase: str | None = None  # if runs were read


def read_named_files(arguments: Sequence[str]) -> dict[str, Sequence[str]]:
    """Read one sentence per line from plain or gzipped files.

    Args:
        arguments: A path or NAME=PATH each. Without a name, a text is called by its file.

    Raises:
        TextError: Two texts have the same name.
    """
    texts: dict[str, Sequence[str]] = {}
    for argument in arguments:
        name, path = split_name(argument)
        if name in texts:
            raise TextError(f"two files are called {name}; give them names: NAME=PATH")
        texts[name] = list(read_lines(path))
    return texts


def split_name(argument: str) -> tuple[str, Path]:
    """Return the name and the path of NAME=PATH; without a name, it is that of the file without suffixes."""
    name, separator, path = argument.partition("=")
    if separator and name and "/" not in name:
        return name, Path(path)
    return Path(argument).name.partition(".")[0] or argument, Path(argument)


def read_table(path: Path, required: Sequence[str] = (REFERENCE,)) -> EvaluatedTexts:
    """Read tab-separated columns with a header: ``reference``, ``source``, ``document``, and the systems.

    Args:
        path: A plain or gzipped file.
        required: Columns that the table must have.

    Raises:
        InputError: A column is missing or named twice, or a row has another number of columns than the header.
    """
    lines = read_lines(path)
    header = next(lines, "").split("\t")
    if len(set(header)) != len(header):
        twice = next(name for name, times in Counter(header).items() if times > 1)
        raise InputError(f"names the column {twice!r} twice", path, 1)
    missing = [name for name in required if name not in header]
    if missing:
        raise InputError(f"its first line should name the columns, but {', '.join(missing)} is missing", path, 1)
    rows = []
    for number, line in enumerate(lines, start=2):
        row = line.split("\t")
        if len(row) != len(header):
            raise InputError(f"has {len(row)} columns, but the header has {len(header)}", path, number)
        rows.append(row)
    columns: dict[str, Sequence[str]] = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    references, sources, documents = (columns.pop(name, ()) for name in (REFERENCE, SOURCE, DOCUMENT))
    return EvaluatedTexts(columns, references, sources, documents)


def read_runs(store: Store, runs: Sequence[str]) -> EvaluatedTexts:
    """Read what runs of one phase proposed, with the sources and references of the rounds that they have played.

    Raises:
        TextError: There is no such run, a run is given twice, or the runs are of different phases.
    """
    registry, library = Registry(store), SentenceReader(store)
    if len(set(runs)) < len(runs):
        raise TextError("a run is given twice: it does not differ from itself")
    opened = [_opening(store, run) for run in runs]
    phases = sorted({run.phase for run in opened})
    if len(phases) > 1:
        raise TextError(f"these runs are of different phases: {', '.join(phases)}")
    systems = {
        name: [played.translation for played in store.rounds(run.id)]
        for name, run in zip(_run_names(opened), opened, strict=True)
    }
    record = registry.require_phase(phases[0])
    played = max(map(len, systems.values()))
    references = [library.reference(record, index).text for index in range(played)]
    sources = [library.source(record, index) for index in range(played)]
    documents = list(_document_names(sources)) if record.phase.documents else ()
    return EvaluatedTexts({**systems}, references, [source.text for source in sources], documents, phases[0])


def _opening(store: Store, run: str) -> Run:
    opened = store.opening(run) if is_run_id(run) else None
    if opened is None:
        raise TextError(f"there is no run {run} in this store; `banditmt leaderboard --json` lists the runs")
    return opened


def _run_names(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run: its system, with participant and attempt if several runs are of that system."""
    systems = Counter(run.system for run in runs)
    return [run.system if systems[run.system] == 1 else f"{run.participant}/{run.system}/{run.attempt}" for run in runs]


def _document_names(sources: Sequence[Source]) -> Iterator[str]:
    """Yield the document of each sentence. A store does not keep their names, so they are numbered."""
    number = 0
    for source in sources:
        number += source.position == 0
        yield f"document {number}"
