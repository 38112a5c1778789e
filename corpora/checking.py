"""Checks every line of a task, and reports each problem with its file and line."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpora.errors import CorpusError, InputError
from corpora.line_files import read_lines
from corpora.non_printing import first_non_printing
from corpora.task import Task
from task.description import DOCUMENTS, OUT_OF_DOMAIN, PARTS, FileSummary, TaskDescription, file_name
from task.languages import is_lowercased, is_single_spaced
from task.layout import Layout
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS
from task.phases import PHASES

MAX_PROBLEMS = 20  # reported per file


def find_problems(path: Path) -> Iterator[str]:
    """Yield everything that is wrong with a task, one line each; nothing for a valid one."""
    try:
        task = Task.open(path)
    except CorpusError as wrong:
        yield str(wrong)
        return
    description = task.description
    if description.signature != (expected := description.feedback.signature):
        yield f"{path}: the signature is {description.signature}, but this feedback has {expected}"
    if description.languages.source == description.languages.target:
        yield f"{path}: source and target are both {description.languages.source!r}"
    yield from _name_problems(task)
    yield from _alignment_problems(task)
    for name, summary in description.files.items():
        layout = description.phases.get(name.split(".")[0])
        yield from _first_problems(_file_problems(path / name, summary, layout), path / name)


def _first_problems(found: Iterable[str], file: Path) -> Iterator[str]:
    for number, problem in enumerate(found):
        if number == MAX_PROBLEMS:
            yield f"{file}: and more like these"
            return
        yield problem


def _name_problems(task: Task) -> Iterator[str]:
    description = task.description
    for phase in PHASES:
        if phase not in description.phases:
            yield f"{task.path}: phase {phase} is missing"
    expected = _expected_files(description)
    for name in sorted(expected - description.files.keys()):
        yield f"{task.path}: task.json does not list {name}"
    for name in sorted(description.files.keys() - expected):
        yield f"{task.path}: task.json lists {name}, which belongs to no part of this task"


def _alignment_problems(task: Task) -> Iterator[str]:
    """Yield the parts whose files have different numbers of lines according to ``task.json``."""
    for part in PARTS:
        lines = {name: file.lines for name, file in task.description.files.items() if name.split(".")[0] == part}
        if len(set(lines.values())) > 1:
            sizes = ", ".join(f"{name} has {number:,} lines" for name, number in sorted(lines.items()))
            yield f"{task.path}: the files of {part} are not aligned: {sizes}"


def _expected_files(description: TaskDescription) -> set[str]:
    sides = [*description.languages, *([DOCUMENTS] if description.has_documents else [])]
    has_out_of_domain = any(name.startswith(f"{OUT_OF_DOMAIN}.") for name in description.files)
    parts = [part for part in PARTS if part in description.phases or (part == OUT_OF_DOMAIN and has_out_of_domain)]
    return {file_name(part, side) for part in parts for side in sides}


def _file_problems(file: Path, expected: FileSummary, layout: Layout | None) -> Iterator[str]:
    """Yield what is wrong with one file: its lines, its held-out passes, and how it differs from ``task.json``."""
    part, side = file.name.split(".")[:2]
    max_tokens = MAX_OUT_OF_DOMAIN_TOKENS if part == OUT_OF_DOMAIN else MAX_IN_DOMAIN_TOKENS
    digest, size, number = hashlib.sha256(), 0, 0
    block: list[str] = []
    differing: list[str] = []  # reported last: a line too many or too few shifts every pass after it
    try:
        for number, line in enumerate(read_lines(file), start=1):
            data = f"{line}\n".encode()
            digest.update(data)
            size += len(data)
            if problem := _document_id_problem(line) if side == DOCUMENTS else _text_problem(line, max_tokens):
                yield f"{file}:{number}: {problem}"
            if layout is not None and number <= layout.total and len(differing) <= MAX_PROBLEMS:
                differing.extend(_held_out_problem(f"{file}:{number}", line, layout, number - 1, block))
    except FileNotFoundError:
        yield f"{file}: missing, although task.json lists it"
        return
    except InputError as broken:
        yield str(broken)
        return
    if layout is not None and number != layout.total:
        yield f"{file}:{number}: ends after {number:,} lines, but its layout makes {layout.total:,}"
    found = FileSummary(number, size, digest.hexdigest())
    if found.lines != expected.lines or found.bytes != expected.bytes:
        yield (
            f"{file}: has {found.lines:,} lines and {found.bytes:,} bytes of text,"
            f" but task.json says {expected.lines:,} and {expected.bytes:,}"
        )
    elif found.sha256 != expected.sha256:
        yield f"{file}: its text has changed since task.json was written (sha256 {found.sha256})"
    yield from differing


def _document_id_problem(line: str) -> str | None:
    """Return what is wrong with a document id; it may be empty, long and in capitals."""
    if not is_single_spaced(line):
        return "tokens are not separated by single spaces"
    if character := first_non_printing(line):
        return f"has a character that cannot be printed (U+{ord(character):04X})"
    return None


def _text_problem(line: str, max_tokens: int) -> str | None:
    """Return what is wrong with a sentence."""
    if not line:
        return "empty line"
    if problem := _document_id_problem(line):
        return problem
    if not is_lowercased(line):
        return "is not lowercased"
    if (tokens := len(line.split())) > max_tokens:
        return f"has {tokens} tokens, but {max_tokens} are the most here"
    return None


def _held_out_problem(place: str, line: str, layout: Layout, index: int, block: list[str]) -> Iterator[str]:
    """Yield a line that differs between two held-out passes; ``block`` collects the lines of the first."""
    here = layout.place(index)
    if here.held_out_pass == 0:
        block.append(line)
    elif here.held_out_pass and block[here.sentence] != line:
        yield f"{place}: pass {here.held_out_pass} over the held-out block differs from line {here.sentence + 1}"
