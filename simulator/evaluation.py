"""Texts to be evaluated: from files, or from the ledger of a store."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from lambdas.registry import Registry
from lambdas.sentences import SentenceReader
from lambdas.store import Store
from simulator.errors import SimulatorError
from task.names import is_run_id

SOURCE, REFERENCE, DOCUMENT = "source", "reference", "document"  # columns of a table that are not systems


class TextError(SimulatorError):
    """Texts to be evaluated are missing, or do not belong together."""


@dataclass(frozen=True, slots=True)
class EvaluatedTexts:
    """Aligned sentences: what each system proposed, the references, and sources and documents if they are known."""

    systems: Mapping[str, Sequence[str]]
    references: Sequence[str]
    sources: Sequence[str] = ()
    documents: Sequence[str] = field(default=())


def read_files(references: Path, hypotheses: Sequence[str]) -> EvaluatedTexts:
    """Read one sentence per line from plain or gzipped files.

    Args:
        references: The file of references.
        hypotheses: Files of hypotheses, each a path or NAME=PATH. Without a name, a system is called by its file.
    """
    systems: dict[str, Sequence[str]] = {}
    for each in hypotheses:
        name, path = split_name(each)
        if name in systems:
            raise TextError(f"two systems are called {name}; give them names: NAME=PATH")
        systems[name] = list(read_lines(path))
    return EvaluatedTexts(systems, list(read_lines(references)))


def split_name(argument: str) -> tuple[str, Path]:
    """Return the name and the path of NAME=PATH; without a name, it is that of the file without suffixes."""
    name, separator, path = argument.partition("=")
    if separator and name and "/" not in name:
        return name, Path(path)
    return Path(argument).name.partition(".")[0] or argument, Path(argument)


def read_table(path: Path) -> EvaluatedTexts:
    """Read tab-separated columns with a header: ``reference``, perhaps ``source`` and ``document``, and the systems."""
    lines = read_lines(path)
    header = next(lines, "").split("\t")
    if REFERENCE not in header or len(set(header)) != len(header):
        raise InputError(f"its first line should name different columns, one of them {REFERENCE!r}", path, 1)
    columns: dict[str, list[str]] = {name: [] for name in header}
    for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), start=2):
        if len(row) != len(header):
            raise InputError(f"has {len(row)} columns, but the header has {len(header)}", path, number)
        for name, cell in zip(header, row, strict=True):
            columns[name].append(cell)
    references, sources, documents = (columns.pop(name, []) for name in (REFERENCE, SOURCE, DOCUMENT))
    if not columns:
        raise InputError("no column but reference, source and document: there is no system to evaluate", path, 1)
    return EvaluatedTexts(columns, references, sources, documents)


def read_runs(store: Store, runs: Sequence[str]) -> EvaluatedTexts:
    """Read what runs of one phase proposed, with the sources and references of the rounds that they have played."""
    registry, library = Registry(store), SentenceReader(store)
    systems: dict[str, Sequence[str]] = {}
    phases = set()
    if len(set(runs)) < len(runs):
        raise TextError("a run is given twice: it does not differ from itself")
    for run in runs:
        opened = store.opening(run) if is_run_id(run) else None
        if opened is None:
            raise TextError(f"there is no run {run} in this store; `banditmt leaderboard --json` lists the runs")
        name = opened.system if opened.system not in systems else f"{opened.system}-{opened.attempt}"
        systems[name] = [played.translation for played in store.rounds(run)]
        phases.add(opened.phase)
    if len(phases) > 1:
        raise TextError(f"these runs are of different phases: {', '.join(sorted(phases))}")
    record = registry.require_phase(phases.pop())
    played = max(map(len, systems.values()))
    references = [library.reference(record, index).text for index in range(played)]
    return EvaluatedTexts(systems, references, [library.source(record, index).text for index in range(played)])


def group_by_document(documents: Sequence[str], sentences: Sequence[str]) -> dict[str, list[str]]:
    """Return the sentences of each document, in the order in which documents come first."""
    if len(documents) != len(sentences):
        raise TextError(f"there are {len(documents):,} document ids for {len(sentences):,} sentences")
    grouped: dict[str, list[str]] = {}
    for document, sentence in zip(documents, sentences, strict=True):
        grouped.setdefault(document, []).append(sentence)
    return grouped
