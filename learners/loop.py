"""Algorithm 1: ask for a sentence, propose a translation, be told a reward, learn; over and over, and never twice.

After every round the service, the journal and the learner agree. Whatever is killed in between, the next process loads
the last snapshot, relives the journal's rounds after it, asks the service for the one round that may be missing, and is
exactly where the old one was. A power cut is more than a kill: it may take back lines of the journal that were written
since the last snapshot, and the service tells only one round again; then the run cannot be resumed, and says so.
"""

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from banditmt_client import Progress, Run
from learners.contract import Learner
from learners.errors import ResumeError, RewardError, SnapshotError
from learners.journal import Entry, Journal
from learners.snapshot import Snapshot

SNAPSHOT_EVERY = 1_000  # rounds
Watch = Callable[[Entry], None]


def play(
    learner: Learner, run: Run, folder: Path, *, snapshot_every: int = SNAPSHOT_EVERY, watch: Watch | None = None
) -> Progress:
    """Play a run to its end, or until interrupted; ``folder`` holds what the next process needs to go on.

    ``watch`` is called after each new round. An interrupt is heeded between two rounds, after a snapshot was taken.
    """
    if snapshot_every < 1:
        raise ValueError(f"snapshots are taken every so many rounds, but got {snapshot_every}")
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / "journal.jsonl") as journal, _interrupts() as interrupted:
        learned = _catch_up(learner, run, folder, journal)
        for sentence in run:
            if sentence.index != learned:
                raise ResumeError(f"the service is at round {sentence.index}, but the learner has seen {learned}")
            translation = learner.propose(sentence.source)
            reward = _checked(run.submit(translation), sentence.index)
            entry = Entry(sentence.index, sentence.source, translation, reward)
            journal.write(entry)
            learner.update(sentence.source, translation, reward)
            learned += 1
            if watch:
                watch(entry)
            if learned % snapshot_every == 0 or interrupted.is_set():
                _take_snapshot(learner, run, folder, journal, learned)
            if interrupted.is_set():
                raise KeyboardInterrupt
        _take_snapshot(learner, run, folder, journal, learned)
    return run.progress


def saved_run(folder: Path) -> str | None:
    """The id of the run that was begun in this folder, if any: for ``Client.get_run``."""
    path = folder / "snapshot"
    return str(Snapshot.read(path).values["run"]) if path.exists() else None


def _catch_up(learner: Learner, run: Run, folder: Path, journal: Journal) -> int:
    """Bring the learner to where the run stands; returns the number of rounds it has learned from."""
    learned = _load_snapshot(learner, run, folder)
    if learned is None:
        learned = 0
        _take_snapshot(learner, run, folder, journal, learned)
    for entry in journal.entries(learned):
        learned = _relive(learner, entry, learned)
    last = run.last
    if last is not None and last.index == learned:  # the process died between the answer and its journal
        entry = Entry(last.index, last.source, last.translation, _checked(last.score, last.index))
        journal.write(entry)
        learned = _relive(learner, entry, learned)
    played = last.index + 1 if last else 0
    if played != learned:
        raise ResumeError(
            f"run {run.id} has {played:,} rounds, but {folder} knows of {learned:,}: "
            "play on where the run was begun, or begin a new one with an empty folder"
        )
    return learned


def _relive(learner: Learner, entry: Entry, learned: int) -> int:
    if entry.index != learned:
        raise ResumeError(f"the journal goes on with round {entry.index:,}, but the snapshot ends at {learned:,}")
    proposed = learner.propose(entry.source)
    if proposed != entry.translation:
        raise ResumeError(
            f"round {entry.index:,} was answered with {entry.translation!r}, but would now be {proposed!r}"
        )
    learner.update(entry.source, entry.translation, entry.reward)
    return learned + 1


def _load_snapshot(learner: Learner, run: Run, folder: Path) -> int | None:
    path = folder / "snapshot"
    if not path.exists():
        return None
    snapshot = Snapshot.read(path)
    about = snapshot.values
    if (about.get("system"), about.get("run")) != (run.system, run.id):
        raise SnapshotError(
            f"{path} is of {about.get('system')!r} in run {about.get('run')}, not of {run.system!r} in run {run.id}"
        )
    learner.load(snapshot.part("learner"))
    return int(about["rounds"])


def _take_snapshot(learner: Learner, run: Run, folder: Path, journal: Journal, rounds: int) -> None:
    snapshot = Snapshot(values={"system": run.system, "run": run.id, "rounds": rounds})
    snapshot.put("learner", learner.save())  # under a name of its own: learners may call their values what they like
    journal.sync()  # the journal is never behind the snapshot
    snapshot.write(folder / "snapshot")


def _checked(reward: float, index: int) -> float:
    if not (math.isfinite(reward) and 0 <= reward <= 1):
        raise RewardError(f"round {index:,} was rewarded with {reward}, which is not a number between 0 and 1")
    return reward


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
