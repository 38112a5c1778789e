"""The folder of a run: everything that the next process needs to resume it.

- ``journal.jsonl``: every committed round, in order (``learners.journal``).
- ``snapshot``: the learner after some of these rounds, and which run it plays.
- ``run``: which run this is and with which settings it is played. It repeats what the snapshot says, so that a damaged
  snapshot can be removed, and what the run is remains known.
- ``lock``: held by the process that plays.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from learners.errors import ResumeError, SnapshotError
from learners.journal import Journal
from learners.snapshot import Snapshot

START_OVER_ADVICE = (
    "start a run under another name (play --name) in an empty folder"  # a begun run cannot be begun again
)
KEEP_SETTINGS_ADVICE = f"resume it with the settings that it was begun with, or {START_OVER_ADVICE}"

JOURNAL_FILE, SNAPSHOT_FILE, RUN_FILE = "journal.jsonl", "snapshot", "run"

Settings = Mapping[str, str | int]

# The values of the two files and their types. ``about`` holds the settings.
_RUN_FIELDS: Mapping[str, type] = {"system": str, "run": str, "about": dict}
_SNAPSHOT_FIELDS: Mapping[str, type] = {**_RUN_FIELDS, "rounds": int, "learner": dict}


@dataclass(frozen=True)
class RunDetails:
    """Which run a folder belongs to, and the settings it is played with: system, seed, digests of seed models."""

    system: str  # the name on the leaderboard
    run: str
    settings: Settings

    def as_values(self) -> dict[str, Any]:
        """Return the values that stand in both files."""
        return {"system": self.system, "run": self.run, "about": dict(self.settings)}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "RunDetails":
        return cls(values["system"], values["run"], values["about"])


class RunFolder:
    """The files that a run leaves in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = Journal(path / JOURNAL_FILE)
        self._snapshot_path = path / SNAPSHOT_FILE
        self._run_path = path / RUN_FILE

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out of the folder: they would write into the same journal.

        Raises:
            ResumeError: Another process holds the lock. A lock ends with its process.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ResumeError(f"another process is playing in {self.path}: wait until it ends, or stop it") from None
        try:
            yield
        finally:
            lock.release()

    def details(self) -> RunDetails | None:
        """Return what is known of the run that was begun in this folder; None if none was.

        Raises:
            SnapshotError: A file is damaged; the message says whether it can be removed.
        """
        known = self._read_run_file() or self._read_snapshot()
        return RunDetails.from_values(known.values) if known else None

    def snapshot_rounds(self) -> int:
        """Return the number of rounds that the last snapshot has learned from; 0 if there is no snapshot."""
        snapshot = self._read_snapshot()
        return int(snapshot.values["rounds"]) if snapshot else 0

    def write_details(self, details: RunDetails) -> None:
        """Bind the folder to a run."""
        Snapshot(values=details.as_values()).write(self._run_path)

    def write_snapshot(self, details: RunDetails, rounds: int, learner: Snapshot) -> None:
        """Store the state of a learner after some rounds; the journal is flushed first, so it is never behind."""
        snapshot = Snapshot(values={**details.as_values(), "rounds": rounds})
        snapshot.put("learner", learner)  # under its own name: learners may use any names
        self.journal.sync()
        snapshot.write(self._snapshot_path)

    def load_snapshot(self, details: RunDetails) -> tuple[int, Snapshot] | None:
        """Return the rounds of the last snapshot and the learner's state; None if there is no snapshot.

        Raises:
            SnapshotError: A file is damaged, or the folder belongs to another run, or was begun with other settings.
        """
        if run_file := self._read_run_file():
            _check_same_run(RunDetails.from_values(run_file.values), details, self._run_path)
        snapshot = self._read_snapshot()
        if snapshot is None:
            return None
        _check_same_run(RunDetails.from_values(snapshot.values), details, self._snapshot_path)
        return int(snapshot.values["rounds"]), snapshot.part("learner")

    def mismatch_error(self, reason: Exception) -> SnapshotError:
        """Return the error for a snapshot that a learner could not load."""
        said = f"{type(reason).__name__}: {reason}"
        return SnapshotError(f"{self._snapshot_path} does not fit this learner ({said}): {KEEP_SETTINGS_ADVICE}")

    def _read_run_file(self) -> Snapshot | None:
        try:
            return _read(self._run_path, _RUN_FIELDS)
        except SnapshotError as damage:
            spare = _is_sound(self._snapshot_path, _SNAPSHOT_FIELDS)
            advice = "remove it: the snapshot beside it says the same" if spare else START_OVER_ADVICE
            raise SnapshotError(f"{damage}; {advice}") from None

    def _read_snapshot(self) -> Snapshot | None:
        try:
            return _read(self._snapshot_path, _SNAPSHOT_FIELDS)
        except SnapshotError as damage:
            spare = _is_sound(self._run_path, _RUN_FIELDS)  # else no file would say whose journal it is
            advice = "remove it: the journal is replayed instead" if spare else START_OVER_ADVICE
            raise SnapshotError(f"{damage}; {advice}") from None


def _read(path: Path, fields: Mapping[str, type]) -> Snapshot | None:
    if not path.exists():
        return None
    snapshot = Snapshot.read(path)
    if not all(isinstance(snapshot.values.get(name), kind) for name, kind in fields.items()):
        raise SnapshotError(f"{path} is not a snapshot of a run, or one of another version of banditmt")
    return snapshot


def _is_sound(path: Path, fields: Mapping[str, type]) -> bool:
    try:
        return _read(path, fields) is not None
    except SnapshotError:
        return False


def _check_same_run(begun: RunDetails, resumed: RunDetails, path: Path) -> None:
    """Raise SnapshotError if a file belongs to another run, or to this run with other settings."""
    if (begun.system, begun.run) != (resumed.system, resumed.run):
        raise SnapshotError(
            f"{path} is of {begun.system!r} in run {begun.run}, not of {resumed.system!r} in run {resumed.run}"
        )
    before, now = begun.settings, resumed.settings
    differences = [
        f"{name} {before.get(name)!r}, not {now.get(name)!r}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
    if differences:
        raise SnapshotError(f"{path} was begun with {'; '.join(differences)}: {KEEP_SETTINGS_ADVICE}")
