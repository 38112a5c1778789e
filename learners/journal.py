"""A write-ahead log of rounds: what a learner was asked, what it proposed, and the feedback that it received.

With the last snapshot, the journal leads exactly to where the learner stopped. A line is written as soon as its
feedback is known, before the learner learns from it. A killed process leaves at most one partial line, which is
dropped.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from learners.contract import Feedback, Sentence, check_reward
from learners.errors import ResumeError, RewardError
from task.limits import is_log_probability

_FIELD_TYPES = {
    "index": (int,),
    "source": (str,),
    "translation": (str,),
    "reward": (float, int),
    "document": (str,),
    "position": (int,),
    "post_edit": (str,),
    "log_probability": (float, int),
}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One round from the learner's side. A line in the file has only the values that are not None."""

    index: int
    source: str
    translation: str
    reward: float
    document: str | None = None
    position: int | None = None  # in the document
    post_edit: str | None = None
    log_probability: float | None = None  # with which the learner sampled the translation

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.source, self.document, self.position)

    @property
    def feedback(self) -> Feedback:
        return Feedback(self.reward, self.post_edit)


class Journal:
    """An append-only file of entries; writing needs a ``with`` block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self.drop_partial_line()
        self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, entry: JournalEntry) -> None:
        """Append an entry; the operating system keeps it even if this process is killed."""
        values = {name: value for name, value in asdict(entry).items() if value is not None}
        self._file.write(json.dumps(values, ensure_ascii=False) + "\n")
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

    def drop_partial_line(self) -> None:
        """Remove the end of the file if it is no whole line: a killed process was about to write it."""
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
    if any(type(value) not in _FIELD_TYPES[name] for name, value in values.items()):
        raise TypeError("a value of another type")
    check_reward(entry.reward)
    if entry.log_probability is not None and not is_log_probability(entry.log_probability):
        raise ValueError("not the logarithm of a probability")
    return entry
