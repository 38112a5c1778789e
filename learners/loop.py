"""Algorithm 1 of Sokolov et al. 2017: receive a sentence, propose a translation, receive feedback, learn.

After every round the service, the journal and the learner agree. If a process is killed in between, the next one loads
the last snapshot, replays the journal's rounds after it, and asks the service for the one round that may be missing:
then it is exactly where the old process was. What the journal says is compared with what the service says: the last
round, and the cumulative reward of all rounds. A power cut is more than a kill: it may take away lines of the journal
that were written since the last snapshot. The service repeats only one round, so such a run cannot be resumed, and the
error says so.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from banditmt_client import Progress, Round, Run
from learners.contract import Learner, Sentence, as_proposal, check_reward
from learners.errors import DivergedError, ResumeError
from learners.interrupts import deferred_interrupts
from learners.journal import JournalEntry
from learners.run_folder import START_OVER_ADVICE, RunDetails, RunFolder, Settings
from task.rounds import TICKS, to_ticks

SNAPSHOT_EVERY = 1_000  # rounds
REWARD_TOLERANCE = 1e-6  # of a cumulative reward, for services that add up floating-point numbers
_RESTORE_ADVICE = f"restore the journal of this run, or {START_OVER_ADVICE}"
NO_SETTINGS: Settings = MappingProxyType({})

Watch = Callable[[JournalEntry], None]


def play(
    learner: Learner,
    run: Run,
    folder: Path,
    *,
    settings: Settings = NO_SETTINGS,
    snapshot_every: int = SNAPSHOT_EVERY,
    watch: Watch | None = None,
) -> Progress:
    """Play a run to its end, or resume it where an earlier process stopped.

    Ctrl-C ends the current round, stores a snapshot, and raises KeyboardInterrupt; pressed again, it raises it at once.

    Args:
        learner: The system that translates and learns.
        run: A run of the SDK: new, unfinished or finished.
        folder: Where the journal and the snapshots of this run are kept.
        settings: How the learner was made (system, seed, seed models). A run is resumed with the same settings only.
        snapshot_every: The number of rounds between two snapshots.
        watch: Called after each new round.

    Returns:
        The progress of the finished run.

    Raises:
        ResumeError: The folder, the run and the learner do not agree.
        SnapshotError: A snapshot cannot be written or read, or is of another run or other settings.
        DivergedError: The model is no longer finite; the message names the round.
        RewardError: The service answered with a number that is not a reward.
    """
    if snapshot_every < 1:
        raise ValueError(f"snapshot_every is 1 round or more, but got {snapshot_every}")
    session = RunSession(learner, run, RunFolder(folder), settings)
    journal = session.folder.journal
    with session.folder.locked(), journal, deferred_interrupts() as interrupted:
        learned = session.catch_up()
        for sentence in run:
            if sentence.index != learned:
                raise ResumeError(f"the service is at round {sentence.index}, but the learner has seen {learned}")
            with session.locate_divergence(learned):
                served = Sentence(sentence.source, sentence.document, sentence.position)
                proposal = as_proposal(learner.propose(served))
                run.submit(proposal.translation, log_probability=proposal.log_probability)
                assert run.last is not None, "this round is committed"
                entry = _entry(run.last, proposal.log_probability)
                journal.write(entry)
                learner.update(entry.sentence, entry.translation, entry.feedback)
            learned += 1
            if watch:
                watch(entry)
            if learned % snapshot_every == 0 or interrupted.is_set():
                session.write_snapshot(learned)
            if interrupted.is_set():
                raise KeyboardInterrupt
        session.write_snapshot(learned)
    return run.progress


@dataclass(frozen=True)
class RunSession:
    """A learner, the run that it plays, and the folder of that run."""

    learner: Learner
    run: Run
    folder: RunFolder
    settings: Settings

    @property
    def details(self) -> RunDetails:
        return RunDetails(self.run.system, self.run.id, self.settings)

    def catch_up(self) -> int:
        """Bring the learner to the round that the run has reached; return the number of rounds it has learned from."""
        loaded = self._load_snapshot()
        learned, written = self._replay_journal(loaded or 0)
        self._compare_with_service(written)  # before anything is written: a journal of other rounds stays as it is
        learned = self._replay_unwritten_round(learned)
        played = self.run.last.index + 1 if self.run.last else 0
        if played != learned:
            raise ResumeError(
                f"run {self.run.id} has {played:,} rounds, but {self.folder.path} has {learned:,}: "
                f"resume it where it was begun, or {START_OVER_ADVICE}"
            )
        self.folder.write_details(self.details)  # not before all agree: a folder stays with its run for good
        if loaded is None:
            self.write_snapshot(learned)
        return learned

    def write_snapshot(self, rounds: int) -> None:
        self.folder.write_snapshot(self.details, rounds, self.learner.save())

    @contextmanager
    def locate_divergence(self, learned: int) -> Iterator[None]:
        """Add the round and the folder, which keeps the last snapshot, to a divergence error."""
        try:
            yield
        except DivergedError as diverged:
            raise DivergedError(
                f"{diverged} (in round {learned + 1:,}; "
                f"{self.folder.path} keeps the journal, and the model as of its last snapshot)"
            ) from None

    def _load_snapshot(self) -> int | None:
        """Load the last snapshot into the learner, and return its number of rounds; None if there is no snapshot."""
        found = self.folder.load_snapshot(self.details)
        if found is None:
            return None
        rounds, state = found
        try:
            self.learner.load(state)
        except (KeyError, IndexError, TypeError, ValueError) as reason:
            raise self.folder.mismatch_error(reason) from reason
        return rounds

    def _replay_journal(self, learned: int) -> tuple[int, "_WrittenRounds"]:
        """Replay the rounds after the snapshot; return the number of rounds that the learner has learned from.

        Returns also what the journal says of all of its rounds, the earlier ones too.
        """
        written = _WrittenRounds()
        for entry in self.folder.journal.entries():
            written.add(entry)
            if written.rounds > learned:
                learned = self._replay(entry, learned)
        if written.rounds < learned:  # the next line would leave a gap
            raise ResumeError(
                f"the journal in {self.folder.path} ends after {written.rounds:,} rounds, but its snapshot after "
                f"{learned:,}: restore the whole journal, or {START_OVER_ADVICE}"
            )
        return learned, written

    def _compare_with_service(self, written: "_WrittenRounds") -> None:
        """Raise ResumeError unless the journal has the service's last round and its cumulative reward.

        The service may be one round ahead. If it is further ahead, or behind, the number of rounds tells.
        """
        last, journal = self.run.last, f"the journal in {self.folder.path}"
        if last is None or last.index + 1 not in (written.rounds, written.rounds + 1):
            return
        if last.index + 1 == written.rounds and written.last != (known := _AnsweredRound.of(_entry(last))):
            raise ResumeError(
                f"round {last.index:,} of run {self.run.id} is {known} at the service, "
                f"but {written.last} in {journal}: {_RESTORE_ADVICE}"
            )
        unwritten = last.score if last.index == written.rounds else 0.0
        cumulative = self.run.progress.cumulative_reward
        if abs(cumulative - unwritten - written.cumulative_reward) > REWARD_TOLERANCE:
            raise ResumeError(
                f"the first {written.rounds:,} rounds of run {self.run.id} have a cumulative reward of "
                f"{cumulative - unwritten:.6f} at the service, but {written.cumulative_reward:.6f} in {journal}: "
                f"{_RESTORE_ADVICE}"
            )

    def _replay_unwritten_round(self, learned: int) -> int:
        """Replay the service's last round if a process died between its answer and its line in the journal."""
        last = self.run.last
        if last is None or last.index != learned:
            return learned
        return self._replay(_entry(last), learned, write=self.folder.journal.write)

    def _replay(self, entry: JournalEntry, learned: int, write: Watch = lambda _: None) -> int:
        """Let the learner propose and learn as in an earlier process; ``write`` the round once it proposes the same."""
        if entry.index != learned:
            raise ResumeError(f"the journal continues with round {entry.index:,}, but the snapshot ends at {learned:,}")
        with self.locate_divergence(learned):
            proposal = as_proposal(self.learner.propose(entry.sentence))
            if proposal.translation != entry.translation:
                raise ResumeError(
                    f"round {entry.index:,} was answered with {entry.translation!r}, "
                    f"but would now be {proposal.translation!r}: "
                    "a learner must propose the same again from the same snapshot"
                )
            write(replace(entry, log_probability=proposal.log_probability))  # which the service does not return
            self.learner.update(entry.sentence, entry.translation, entry.feedback)
        return learned + 1


class _AnsweredRound(NamedTuple):
    """What a round was, as both the journal and the service know it."""

    source: str
    translation: str
    reward: float

    @classmethod
    def of(cls, entry: JournalEntry) -> "_AnsweredRound":
        return cls(entry.source, entry.translation, entry.reward)

    def __str__(self) -> str:
        return f"{self.translation!r} for {self.source!r} with reward {self.reward}"


class _WrittenRounds:
    """The number of rounds in a journal, the last one, and their cumulative reward."""

    def __init__(self) -> None:
        self.rounds = 0
        self.last: _AnsweredRound | None = None
        self._ticks = 0

    def add(self, entry: JournalEntry) -> None:
        self.rounds, self.last = entry.index + 1, _AnsweredRound.of(entry)
        self._ticks += to_ticks(entry.reward)

    @property
    def cumulative_reward(self) -> float:
        return self._ticks / TICKS


def _entry(committed: Round, log_probability: float | None = None) -> JournalEntry:
    return JournalEntry(
        committed.index,
        committed.source,
        committed.translation,
        check_reward(committed.score, f"the reward of round {committed.index:,}"),
        document=committed.document,
        position=committed.position,
        post_edit=committed.post_edit,
        log_probability=log_probability,
    )
