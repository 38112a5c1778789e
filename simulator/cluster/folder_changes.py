"""The changes of the folder of a run, for a copy elsewhere that follows: new lines of the journal, replaced files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from learners.run_folder import JOURNAL_FILE, RUN_FILE, SNAPSHOT_FILE
from task.atomic_files import write_bytes

REPLACED_FILES = (RUN_FILE, SNAPSHOT_FILE)  # whole files; the journal grows

_Stamp = tuple[int, int, int]  # of a version of a file: no two versions have the same


@dataclass(frozen=True)
class FolderChanges:
    """The changes of a folder since they were last read. The changes of an empty folder are all its files."""

    journal: bytes = b""  # lines that were appended
    files: Mapping[str, bytes] = field(default_factory=dict)  # that were replaced, by name

    def apply(self, folder: Path) -> None:
        """Make the same changes in another folder; the journal first, so that it is never behind the snapshot."""
        if self.journal or self.files:
            with (folder / JOURNAL_FILE).open("ab") as journal:
                journal.write(self.journal)
                if self.files:
                    journal.flush()
                    os.fsync(journal.fileno())
        for name, content in self.files.items():
            write_bytes(folder / name, content)


class ChangeReader:
    """Reads the changes of a folder that nothing else writes to meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal_bytes = 0  # read so far
        self._stamps: dict[str, _Stamp] = {}

    def read(self) -> FolderChanges:
        """Return the changes since the last call; since the folder was empty in the first one."""
        return FolderChanges(self._new_lines(), dict(self._replaced_files()))

    def _new_lines(self) -> bytes:
        path = self._folder / JOURNAL_FILE
        if not path.exists():
            return b""
        with path.open("rb", buffering=0) as journal:
            journal.seek(self._journal_bytes)
            lines = journal.read()
        self._journal_bytes += len(lines)
        return lines

    def _replaced_files(self) -> list[tuple[str, bytes]]:
        replaced = []
        for name in REPLACED_FILES:
            path = self._folder / name
            if path.exists() and (stamp := _stamp(path)) != self._stamps.get(name):
                self._stamps[name] = stamp
                replaced.append((name, path.read_bytes()))
        return replaced


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size
