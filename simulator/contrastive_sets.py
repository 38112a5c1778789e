"""Contrastive test sets and the losses of their candidates, from files or from a program."""

import json
import math
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpora.errors import InputError
from corpora.line_files import decode, open_bytes, read_lines
from leaderboard.evaluation.contrastive import ContrastiveSet
from leaderboard.metrics.contrastive import ContrastiveError, parse_group
from simulator.errors import SimulatorError

SET_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
MAX_SET_BYTES = 256 << 20  # the largest published set has 5 MB
MAX_QUOTED = 80  # characters of a wrong line that an error shows


class ScoringError(SimulatorError):
    """A program that scores candidates cannot be run, or does not score them."""


def read_sets(paths: Sequence[Path]) -> list[ContrastiveSet]:
    """Read test sets: files in the published format or of JSON lines, and all such files of a folder.

    Raises:
        InputError: A file is not a test set, there is none in a folder, or two have the same name.
    """
    sets: dict[str, ContrastiveSet] = {}
    for path in paths:
        for file in _files_of(path):
            read = _read_set(file)
            if read.name in sets:
                raise InputError(f"is the second test set with the name {read.name}: rename it", file)
            sets[read.name] = read
    return list(sets.values())


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SET_SUFFIXES))
    if not files:
        raise InputError(f"has no test set: no file ends with {', '.join(SET_SUFFIXES)}", path)
    return files


def _read_set(path: Path) -> ContrastiveSet:
    """Read a set whose name tells its format: ``.jsonl`` has an object on each line, ``.json`` an array of objects."""
    objects = _json_lines(path) if ".jsonl" in path.suffixes else _json_array(path)
    groups = []
    for place, (where, values) in enumerate(objects, start=1):
        try:
            groups.append(parse_group(values))
        except ContrastiveError as wrong:
            raise InputError(f"group {place}: {wrong}", path, where) from None
    if not groups:
        raise InputError("has no groups", path)
    return ContrastiveSet(path.name.partition(".")[0], tuple(groups))


def _json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield number, _as_object(_parse(line, path, number), path, number)


def _json_array(path: Path) -> Iterator[tuple[None, Mapping[str, Any]]]:
    with open_bytes(path) as stream:
        raw = stream.read(MAX_SET_BYTES + 1)
    if len(raw) > MAX_SET_BYTES:
        raise InputError(f"is larger than {MAX_SET_BYTES:,} bytes: write it as JSON lines (.jsonl)", path)
    values = _parse(decode(raw, path, 1), path, None)
    if not isinstance(values, list):
        raise InputError("is not a JSON array of groups; a file with an object on each line ends with .jsonl", path)
    for each in values:
        yield None, _as_object(each, path, None)


def _parse(text: str, path: Path, line: int | None) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as wrong:  # ValueError also for a number of thousands of digits
        raise InputError(f"is not JSON ({wrong})", path, line) from None


def _as_object(value: object, path: Path, line: int | None) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError('a group is a JSON object with "src", "dst" and "true_ind"', path, line)
    return value


def write_lines(sets: Sequence[ContrastiveSet], prefix: Path) -> tuple[Path, Path]:
    """Write the sources and the targets of all candidates, to be scored by another toolkit, and return both files.

    Raises:
        InputError: One of the files exists.
    """
    files = prefix.with_name(f"{prefix.name}.src"), prefix.with_name(f"{prefix.name}.dst")
    for file in files:
        if file.exists():
            raise InputError("exists already: give another prefix", file)
    for side, file in enumerate(files):
        file.write_text("".join(f"{line[side]}\n" for line in _lines(sets)), encoding="utf-8")
    return files


def _lines(sets: Sequence[ContrastiveSet]) -> list[tuple[str, str]]:
    return [line for each in sets for group in each.groups for line in group.lines()]


def read_scores(path: Path, sets: Sequence[ContrastiveSet]) -> list[list[float]]:
    """Read the score of each candidate, one per line, in the order of the sets.

    Raises:
        InputError: A line is not a finite number, or there is not one line for each candidate.
    """
    scores = [_number(line, path, number) for number, line in enumerate(read_lines(path), start=1)]
    expected = sum(each.candidates for each in sets)
    if len(scores) != expected:
        raise InputError(f"has {len(scores):,} scores, but the test sets have {expected:,} candidates", path)
    return split_by_set(scores, sets)


def score_with_program(command: str, sets: Sequence[ContrastiveSet]) -> list[list[float]]:
    """Run a program that reads a source, a tab and a target on each line, and writes the score of each on a line.

    Raises:
        ScoringError: The program cannot be run or fails, or it does not write one number for each line.
    """
    text = "".join(f"{source}\t{target}\n" for source, target in _lines(sets))
    try:
        ran = subprocess.run(shlex.split(command), input=text.encode(), stdout=subprocess.PIPE, check=False)
    except (OSError, ValueError, IndexError) as problem:
        raise ScoringError(f"cannot run {command!r}: {getattr(problem, 'strerror', None) or problem}") from None
    if ran.returncode:
        raise ScoringError(f"{command!r} ended with code {ran.returncode}")
    lines = ran.stdout.decode("utf-8", "replace").splitlines()
    expected = sum(each.candidates for each in sets)
    if len(lines) != expected:
        raise ScoringError(f"{command!r} wrote {len(lines):,} lines for {expected:,} candidates: one number for each")
    try:
        return split_by_set([_number(line, command, number) for number, line in enumerate(lines, start=1)], sets)
    except InputError as wrong:
        raise ScoringError(str(wrong)) from None


def _number(line: str, where: Path | str, number: int) -> float:
    try:
        score = float(line)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f"a score is a finite number, but got {line.strip()[:MAX_QUOTED]!r}", where, number)
    return score


def split_by_set(scores: Sequence[float], sets: Sequence[ContrastiveSet]) -> list[list[float]]:
    """Return the scores of each set."""
    parts, start = [], 0
    for each in sets:
        parts.append(list(scores[start : start + each.candidates]))
        start += each.candidates
    return parts
