"""A write-ahead log of rounds: what a learner was asked, what it proposed, and the reward that it received.

With the last snapshot, the journal leads exactly to where the learner stopped. A line is written as soon as its reward
is known, before the learner learns from it. A killed process leaves at most one partial line, which is dropped.
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

_FIELD_TYPES = {"index": (int,), "source": (str,), "translation": (str,), "reward": (float, int)}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One round from the learner's side."""

    index: int
    source: str
    translation: str
    reward: float


class Journal:
    """An append-only file of entries; writing needs a ``with`` block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._drop_partial_line()
        self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, entry: JournalEntry) -> None:
        """Append an entry; the operating system keeps it even if this process is killed."""
        self._file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
        self._file.flush()

    def sync(self) -> None:
        """Flush all entries to the disk, where they survive a power cut, too."""
        os.fsync(self._file.fileno())

    def entries(self) -> Iterator[JournalEntry]:
        """Yield all entries in order.

        Raises:
            ResumeError: A line is damaged, or a round is missing; the message names the file and the line.
        """
        expected = None
        with self._path.open("rb") as file:  # as bytes, so that damaged text is reported with its line number
            for number, line in enumerate(file, start=1):
                try:
                    entry = _parse(line)
                except (ValueError, TypeError, OverflowError, RewardError):
                    raise ResumeError(f"{self._path}:{number} is not a line of a journal") from None
                if expected is not None and entry.index != expected:
                    raise ResumeError(f"{self._path}:{number} is round {entry.index}, but round {expected} comes next")
                expected = entry.index + 1
                yield entry

    def _drop_partial_line(self) -> None:
        if not self._path.exists():
            return
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._path, whole)


def _parse(line: bytes) -> JournalEntry:
    """Return the entry of a line; damage can leave valid JSON, so every value is checked before it is learned from."""
    values: Any = json.loads(line.decode())
    entry = JournalEntry(**values)
    # By exact type: to isinstance, True would be a number.
    if any(type(values[name]) not in types for name, types in _FIELD_TYPES.items()):
        raise TypeError("a value of another type")
    check_reward(entry.reward)
    return entry
