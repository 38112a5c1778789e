"""Algorithm 1: ask for a sentence, propose a translation, be told a reward, learn; over and over, and never twice.

After every round the service, the journal and the learner agree. Whatever is killed in between, the next process loads
the last snapshot, relives the journal's rounds after it, asks the service for the one round that may be missing, and is
exactly where the old one was. A power cut is more than a kill: it may take back lines of the journal that were written
since the last snapshot, and the service tells only one round again; then the run cannot be resumed, and says so.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

from banditmt_client import Progress, Run
from learners.contract import Learner, check_reward
from learners.errors import DivergedError, ResumeError, SnapshotError
from learners.journal import Journal, JournalEntry
from learners.snapshot import Snapshot

SNAPSHOT_EVERY = 1_000  # rounds
Watch = Callable[[JournalEntry], None]
About = Mapping[str, str | int]
NOBODY: About = {}
NOTE: Mapping[str, type] = {"system": str, "run": str, "about": dict}  # which run it is, and who plays
STATE: Mapping[str, type] = {**NOTE, "rounds": int, "learner": dict}
ANOTHER = "begin a run of another name (play --name) with an empty folder"  # this one goes on until it is finished
WHAT_TO_DO = f"go on with what it was begun with, or {ANOTHER}"


def play(
    learner: Learner,
    run: Run,
    folder: Path,
    *,
    about: About = NOBODY,
    snapshot_every: int = SNAPSHOT_EVERY,
    watch: Watch | None = None,
) -> Progress:
    """Play a run to its end, or until interrupted; ``folder`` holds what the next process needs to go on.

    ``about`` says who plays: a run can only be resumed with the same. ``watch`` is called after each new round. An
    interrupt is heeded between two rounds, after a snapshot was taken.
    """
    if snapshot_every < 1:
        raise ValueError(f"snapshots are taken every so many rounds, but got {snapshot_every}")
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder), Journal(folder / "journal.jsonl") as journal, _interrupts() as interrupted:
        game = _Game(learner, run, folder, about, journal)
        learned = game.catch_up()
        for sentence in run:
            if sentence.index != learned:
                raise ResumeError(f"the service is at round {sentence.index}, but the learner has seen {learned}")
            with _told_where(learned, folder):
                translation = learner.propose(sentence.source)
                entry = _entry(sentence.index, sentence.source, translation, run.submit(translation))
                journal.write(entry)
                learner.update(sentence.source, translation, entry.reward)
            learned += 1
            if watch:
                watch(entry)
            if learned % snapshot_every == 0 or interrupted.is_set():
                game.take_snapshot(learned)
            if interrupted.is_set():
                raise KeyboardInterrupt
        game.take_snapshot(learned)
    return run.progress


@contextmanager
def _told_where(learned: int, folder: Path) -> Iterator[None]:
    """A model that diverges is told with its round, and where what it was before is kept."""
    try:
        yield
    except DivergedError as diverged:
        raise DivergedError(
            f"{diverged} (in round {learned + 1:,}; {folder} keeps the journal, and the model as of its last snapshot)"
        ) from None


def rounds_played(folder: Path) -> int:
    """How many rounds the last snapshot in this folder knows of."""
    snapshot = _last_snapshot(folder)
    return int(snapshot.values["rounds"]) if snapshot else 0


def saved_run(folder: Path) -> str | None:
    """The id of the run that was begun in this folder, if any: for ``Client.get_run``."""
    known = _note(folder) or _last_snapshot(folder)
    return str(known.values["run"]) if known else None


def begun_as(folder: Path) -> About | None:
    """Who plays the run that was begun in this folder, if any."""
    known = _note(folder) or _last_snapshot(folder)
    return dict(known.values["about"]) if known else None


def _note(folder: Path) -> Snapshot | None:
    """What tells which run this is and who plays it, also where the snapshot that tells the same was removed."""
    try:
        return _read(_note_path(folder), NOTE)
    except SnapshotError as damage:
        spare = _is_whole(_snapshot_path(folder), STATE)
        advice = "remove it: the snapshot beside it tells the same" if spare else ANOTHER
        raise SnapshotError(f"{damage}; {advice}") from None


def _last_snapshot(folder: Path) -> Snapshot | None:
    try:
        return _read(_snapshot_path(folder), STATE)
    except SnapshotError as damage:
        spare = _is_whole(_note_path(folder), NOTE)  # else nobody would know whose journal it is
        advice = "remove it, and the journal leads back to where it was" if spare else ANOTHER
        raise SnapshotError(f"{damage}; {advice}") from None


def _read(path: Path, needed: Mapping[str, type]) -> Snapshot | None:
    if not path.exists():
        return None
    snapshot = Snapshot.read(path)
    if not all(isinstance(snapshot.values.get(name), kind) for name, kind in needed.items()):
        raise SnapshotError(f"{path} is no snapshot of a run, or one of another version of banditmt")
    return snapshot


def _is_whole(path: Path, needed: Mapping[str, type]) -> bool:
    try:
        return _read(path, needed) is not None
    except SnapshotError:
        return False


def _snapshot_path(folder: Path) -> Path:
    return folder / "snapshot"


def _note_path(folder: Path) -> Path:
    return folder / "run"


@dataclass(frozen=True)
class _Game:
    """A learner in a run, and what they leave in a folder."""

    learner: Learner
    run: Run
    folder: Path
    about: About
    journal: Journal

    def catch_up(self) -> int:
        """Bring the learner to where the run stands; returns the number of rounds it has learned from."""
        loaded = self._load_snapshot()
        learned = loaded or 0
        written = 0
        for entry in self.journal.entries():
            written = entry.index + 1
            if written > learned:
                with _told_where(learned, self.folder):
                    learned = _relive(self.learner, entry, learned)
        if written < learned:  # what would be written next would leave a gap
            raise ResumeError(
                f"the journal in {self.folder} ends after {written:,} rounds, but its snapshot knows of {learned:,}: "
                f"bring back the whole journal, or {ANOTHER}"
            )
        last = self.run.last
        if last is not None and last.index == learned:  # the process died between the answer and its journal
            entry = _entry(last.index, last.source, last.translation, last.score)
            with _told_where(learned, self.folder):
                learned = _relive(self.learner, entry, learned, write=self.journal.write)
        played = last.index + 1 if last else 0
        if played != learned:
            raise ResumeError(
                f"run {self.run.id} has {played:,} rounds, but {self.folder} knows of {learned:,}: "
                f"play on where the run was begun, or {ANOTHER}"
            )
        # Only now that all agree: a folder must not be bound to a run that it knows nothing of.
        Snapshot(values=self._identity()).write(_note_path(self.folder))
        if loaded is None:
            self.take_snapshot(learned)
        return learned

    def _identity(self) -> dict[str, Any]:
        return {"system": self.run.system, "run": self.run.id, "about": dict(self.about)}

    def take_snapshot(self, rounds: int) -> None:
        snapshot = Snapshot(values=self._identity() | {"rounds": rounds})
        snapshot.put("learner", self.learner.save())  # under a name of its own: learners call their values as they like
        self.journal.sync()  # the journal is never behind the snapshot
        snapshot.write(_snapshot_path(self.folder))

    def _load_snapshot(self) -> int | None:
        if note := _note(self.folder):
            self._check_same(note, _note_path(self.folder))
        snapshot, path = _last_snapshot(self.folder), _snapshot_path(self.folder)
        if snapshot is None:
            return None
        self._check_same(snapshot, path)
        try:
            self.learner.load(snapshot.part("learner"))
        except (KeyError, IndexError, TypeError, ValueError) as misfit:
            reason = f"{type(misfit).__name__}: {misfit}"
            raise SnapshotError(f"{path} does not fit this learner ({reason}): {WHAT_TO_DO}") from misfit
        return int(snapshot.values["rounds"])

    def _check_same(self, snapshot: Snapshot, path: Path) -> None:
        """Refuse what another run, or somebody else in this run, has left."""
        begun, run = snapshot.values, self.run
        if (begun["system"], begun["run"]) != (run.system, run.id):
            raise SnapshotError(
                f"{path} is of {begun['system']!r} in run {begun['run']}, not of {run.system!r} in run {run.id}"
            )
        before = begun["about"]
        differences = [
            f"{name} {before.get(name)!r}, not {self.about.get(name)!r}"
            for name in dict.fromkeys([*before, *self.about])
            if before.get(name) != self.about.get(name)
        ]
        if differences:
            raise SnapshotError(f"{path} was begun with {'; '.join(differences)}: {WHAT_TO_DO}")


def _relive(learner: Learner, entry: JournalEntry, learned: int, write: Watch = lambda _: None) -> int:
    """Let the learner live through a round again, which is written down once it proposes the same."""
    if entry.index != learned:
        raise ResumeError(f"the journal goes on with round {entry.index:,}, but the snapshot ends at {learned:,}")
    proposed = learner.propose(entry.source)
    if proposed != entry.translation:
        raise ResumeError(
            f"round {entry.index:,} was answered with {entry.translation!r}, but would now be {proposed!r}"
        )
    write(entry)
    learner.update(entry.source, entry.translation, entry.reward)
    return learned + 1


def _entry(index: int, source: str, translation: str, reward: float) -> JournalEntry:
    return JournalEntry(index, source, translation, check_reward(reward, f"the reward of round {index:,}"))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two processes in one folder would write into each other's journal. A lock dies with its process."""
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ResumeError(f"another process is playing in {folder}: let it end, or stop it") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Ctrl-C sets a flag, so that it never strikes in the middle of a round; a second one strikes at once."""
    wanted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wanted  # only the main thread hears signals
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        if wanted.is_set():
            raise KeyboardInterrupt
        wanted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield wanted
    finally:
        signal.signal(signal.SIGINT, before)
