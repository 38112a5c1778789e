"""What a learner was asked, answered and told: with the last snapshot it leads exactly to where the learner stopped.

A line is written as soon as its reward is known, before the learner learns from it. A process that is killed leaves at
most one line cut short, which is dropped.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from learners.contract import check_reward
from learners.errors import ResumeError, RewardError

KINDS = {"index": (int,), "source": (str,), "translation": (str,), "reward": (float, int)}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One round as the learner lived it."""

    index: int
    source: str
    translation: str
    reward: float


class Journal:
    """An append-only file of entries; to write, open it with ``with``."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._drop_half_line()
        self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, entry: JournalEntry) -> None:
        """Hand a line to the operating system, which keeps it even if this process is killed."""
        self._file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
        self._file.flush()

    def sync(self) -> None:
        """Put what was written on the disk, where it outlives the machine too."""
        os.fsync(self._file.fileno())

    def entries(self) -> Iterator[JournalEntry]:
        """All entries, in order and without gaps."""
        expected = None
        with self._path.open("rb") as file:  # a line that is no text shall not hide its number
            for number, line in enumerate(file, start=1):
                try:
                    entry = _read(line)
                except (ValueError, TypeError, OverflowError, RewardError):
                    raise ResumeError(f"{self._path}:{number} is not a line of a journal") from None
                if expected is not None and entry.index != expected:
                    raise ResumeError(f"{self._path}:{number} is round {entry.index}, but {expected} comes next")
                expected = entry.index + 1
                yield entry

    def _drop_half_line(self) -> None:
        if not self._path.exists():
            return
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._path, whole)


def _read(line: bytes) -> JournalEntry:
    """The entry of a line. Damage can leave good JSON, so every value is looked at before anyone learns from it."""
    values: Any = json.loads(line.decode())
    entry = JournalEntry(**values)
    if any(type(values[name]) not in kinds for name, kinds in KINDS.items()):  # to isinstance, True would be a number
        raise TypeError("a value of another kind")
    check_reward(entry.reward)
    return entry
