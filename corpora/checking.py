"""Is a directory a sound task? Looks at every line, and says of everything that is wrong where it is.

The arithmetic of phases and the feedback belong to the service, which corpora does not know: the caller hands in what
it needs (``Rules``).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.characters import first_non_printing
from corpora.description import DOCUMENTS, OUT_OF_DOMAIN, PARTS, PHASES, Description, file_name
from corpora.errors import CorpusError, InputError
from corpora.lines import FileSummary, read_lines
from corpora.task import Order, Task
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS

MAX_PROBLEMS = 20  # per file; whoever reads more learns nothing new


@dataclass(frozen=True, slots=True)
class Rules:
    """What the service knows of tasks. Either function raises a ValueError at what it refuses."""

    order: Callable[[int, int, int], Order]  # of a phase, from blocks, block and gap
    signature: Callable[[str, int], str]  # of the feedback, from the perturbation and the seed


def problems(path: Path, rules: Rules) -> Iterator[str]:
    """Everything that is wrong with a task, one line each; nothing for a sound one."""
    try:
        task = Task.open(path)
    except CorpusError as wrong:
        yield str(wrong)
        return
    yield from _feedback_problems(task, rules)
    if task.description.source == task.description.target:
        yield f"{path}: source and target are both {task.description.source!r}"
    orders: dict[str, Order] = {}
    for phase, layout in task.description.phases.items():
        try:
            orders[phase] = rules.order(layout.blocks, layout.block, layout.gap)
        except ValueError as wrong:
            yield f"{path}: phase {phase} cannot be laid out: {wrong}"
    yield from _name_problems(task)
    yield from _alignment_problems(task)
    for name, summary in task.description.files.items():
        part = name.split(".")[0]
        yield from _limited(_file_problems(path / name, summary, orders.get(part)), path / name)


def _limited(found: Iterable[str], file: Path) -> Iterator[str]:
    for number, problem in enumerate(found):
        if number == MAX_PROBLEMS:
            yield f"{file}: and more like these"
            return
        yield problem


def _feedback_problems(task: Task, rules: Rules) -> Iterator[str]:
    description = task.description
    try:
        expected = rules.signature(description.perturbation, description.seed)
    except ValueError as wrong:
        yield f"{task.path}: {wrong}"
        return
    if expected != description.signature:
        yield f"{task.path}: the signature is {description.signature}, but this feedback has {expected}"


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
    """Parts whose files do not have the same number of lines; whether the files are as described is another matter."""
    for part in PARTS:
        lines = {name: file.lines for name, file in task.description.files.items() if name.split(".")[0] == part}
        if len(set(lines.values())) > 1:
            sizes = ", ".join(f"{name} has {number:,} lines" for name, number in sorted(lines.items()))
            yield f"{task.path}: the files of {part} are not aligned: {sizes}"


def _expected_files(description: Description) -> set[str]:
    sides = [description.source, description.target, *([DOCUMENTS] if description.has_documents else [])]
    has_out_of_domain = any(name.startswith(f"{OUT_OF_DOMAIN}.") for name in description.files)
    parts = [part for part in PARTS if part in description.phases or (part == OUT_OF_DOMAIN and has_out_of_domain)]
    return {file_name(part, side) for part in parts for side in sides}


def _file_problems(file: Path, expected: FileSummary, order: Order | None) -> Iterator[str]:
    """What is wrong with one file: its lines, its held-out passes, and whether it is what ``task.json`` describes."""
    part, side = file.name.split(".")[:2]
    max_tokens = MAX_OUT_OF_DOMAIN_TOKENS if part == OUT_OF_DOMAIN else MAX_IN_DOMAIN_TOKENS
    digest, size, number = hashlib.sha256(), 0, 0
    block: list[str] = []
    differing: list[str] = []  # said last: a line too many or too few puts every pass after it out of step
    try:
        for number, line in enumerate(read_lines(file), start=1):
            data = f"{line}\n".encode()
            digest.update(data)
            size += len(data)
            if complaint := _id_problem(line) if side == DOCUMENTS else _text_problem(line, max_tokens):
                yield f"{file}:{number}: {complaint}"
            if order is not None and number <= order.total and len(differing) <= MAX_PROBLEMS:
                differing.extend(_held_out_problem(f"{file}:{number}", line, order, number - 1, block))
    except FileNotFoundError:
        yield f"{file}: missing, although task.json lists it"
        return
    except InputError as broken:
        yield str(broken)
        return
    if order is not None and number != order.total:
        yield f"{file}:{number}: ends after {number:,} lines, but its layout makes {order.total:,}"
    found = FileSummary(number, size, digest.hexdigest())
    if found.lines != expected.lines or found.bytes != expected.bytes:
        yield (
            f"{file}: has {found.lines:,} lines and {found.bytes:,} bytes of text,"
            f" but task.json says {expected.lines:,} and {expected.bytes:,}"
        )
    elif found.sha256 != expected.sha256:
        yield f"{file}: its text has changed since task.json was written (sha256 {found.sha256})"
    yield from differing


def _id_problem(line: str) -> str | None:
    """What is wrong with the id of a document; it may be empty, long and in capitals."""
    if " ".join(line.split()) != line:
        return "tokens are not separated by single spaces"
    if character := first_non_printing(line):
        return f"has a character that cannot be printed (U+{ord(character):04X})"
    return None


def _text_problem(line: str, max_tokens: int) -> str | None:
    if not line:
        return "empty line"
    if complaint := _id_problem(line):
        return complaint
    if line.lower() != line:
        return "is not lowercased"
    if (tokens := len(line.split())) > max_tokens:
        return f"has {tokens} tokens, but {max_tokens} are the most here"
    return None


def _held_out_problem(place: str, line: str, order: Order, index: int, block: list[str]) -> Iterator[str]:
    here = order.place(index)
    if here.held_out_pass == 0:
        block.append(line)
    elif here.held_out_pass and block[here.sentence] != line:
        yield f"{place}: pass {here.held_out_pass} over the held-out block differs from line {here.sentence + 1}"
