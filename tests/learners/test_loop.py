"""The loop: a run that is killed anywhere, any number of times, ends exactly as an undisturbed one."""

import os
import signal
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from banditmt_client import Client
from learners.errors import DivergedError, ResumeError, RewardError, SnapshotError
from learners.journal import Journal, JournalEntry
from learners.loop import play
from learners.run_folder import RunDetails, RunFolder
from learners.snapshot import Snapshot
from tests.client_sdk.fake_service import RUN, FakeConnection, FakeService
from tests.learners.gambler import Gambler

SENTENCES = [f"satz {number}" for number in range(23)]


def run_id(folder):
    details = RunFolder(folder).details()
    assert details is not None
    return details.run


def snapshot_rounds(folder):
    return RunFolder(folder).snapshot_rounds()


class Killed(BaseException):
    """A SIGKILL as seen from inside: no handler runs."""


class KilledLearner(Gambler):
    """A learner that is killed at a chosen call."""

    def __init__(self, fuse):
        super().__init__()
        self._fuse = fuse

    def propose(self, source):
        self._fuse("propose")
        return super().propose(source)

    def update(self, source, translation, reward):
        self._fuse("before update")
        super().update(source, translation, reward)
        self._fuse("after update")

    def save(self):
        self._fuse("save")
        return super().save()


def kill_after_events(length):
    """Return a callback that raises Killed at its n-th call."""
    left = [length]

    def burn(_moment):
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    return burn


def open_run(task, fail=lambda moment: None):
    return Client(connection=FakeConnection(task, fail)).open_run(phase="dev", system="tested")


def finished(task, learner):
    return task.ledger, learner.weights.tolist(), learner.baseline, learner.save().values


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    task, learner = FakeService(SENTENCES), Gambler()
    play(learner, open_run(task), tmp_path_factory.mktemp("whole"))
    return finished(task, learner)


def test_a_second_process_is_kept_out_of_the_folder(tmp_path):
    task, learner = FakeService(SENTENCES), Gambler()
    refusals = []

    def meanwhile(entry):
        if entry.index == 5:
            with pytest.raises(ResumeError, match="another process is playing") as refusal:
                play(Gambler(), open_run(task), tmp_path)
            refusals.append(refusal)

    play(learner, open_run(task), tmp_path, watch=meanwhile)
    assert len(refusals) == 1
    assert len(task.ledger) == len(SENTENCES)
    assert play(learner, open_run(task), tmp_path).index == len(SENTENCES)  # and afterwards it is free again


def test_the_ledger_the_journal_and_the_learner_agree(tmp_path):
    task, learner = FakeService(SENTENCES), Gambler()
    seen: list[JournalEntry] = []
    progress = play(learner, open_run(task), tmp_path, watch=seen.append)
    with Journal(tmp_path / "journal.jsonl") as journal:
        entries = list(journal.entries())
    assert [(entry.index, entry.translation, entry.reward) for entry in entries] == task.ledger
    assert seen == entries
    assert (progress.finished, learner.rounds) == (True, len(SENTENCES))
    assert progress.cumulative_reward == pytest.approx(sum(score for _, _, score in task.ledger))


@hypothesis_settings(deadline=None, max_examples=60)
@given(fuses=st.lists(st.integers(1, 60), max_size=6), snapshot_every=st.integers(1, 9))
def test_a_run_killed_anywhere_ends_as_an_undisturbed_one(fuses, snapshot_every, undisturbed, tmp_path_factory):
    task, folder = FakeService(SENTENCES), tmp_path_factory.mktemp("killed")
    for length in fuses:
        burn = kill_after_events(length)
        try:
            play(KilledLearner(burn), open_run(task, burn), folder, snapshot_every=snapshot_every)
        except Killed:
            continue
    learner = Gambler(seed=99)  # the snapshot replaces whatever a new process starts from
    if not (folder / "snapshot").exists():
        learner = Gambler()
    play(learner, open_run(task), folder, snapshot_every=snapshot_every)
    assert finished(task, learner) == undisturbed


def test_an_interrupt_waits_for_the_end_of_the_round_and_leaves_a_snapshot(tmp_path, undisturbed):
    def interrupt(entry):
        if entry.index == 4:
            os.kill(os.getpid(), signal.SIGINT)

    task = FakeService(SENTENCES)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        play(Gambler(), open_run(task), tmp_path, watch=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(task.ledger) == 5
    learner = Gambler()
    play(learner, open_run(task), tmp_path)
    assert finished(task, learner) == undisturbed


def test_a_second_interrupt_strikes_at_once(tmp_path):
    def impatient(_entry):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    task = FakeService(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        play(Gambler(), open_run(task), tmp_path, watch=impatient)
    assert len(task.ledger) == 1


def test_a_run_can_be_played_in_a_thread(tmp_path, undisturbed):
    task, learner = FakeService(SENTENCES), Gambler()
    thread = threading.Thread(target=lambda: play(learner, open_run(task), tmp_path))
    thread.start()
    thread.join()
    assert finished(task, learner) == undisturbed


SETTINGS: dict[str, str | int] = {"system": "gambler", "seed": 1, "luck": "a4"}


def test_the_folder_records_its_run_and_settings(tmp_path):
    assert RunFolder(tmp_path).details() is None
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path, settings=SETTINGS)
    assert RunFolder(tmp_path).details() == RunDetails("tested", RUN, SETTINGS)


def test_a_run_that_was_played_in_another_folder_is_refused(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(20)), open_run(task), tmp_path / "here")
    with pytest.raises(ResumeError, match=r"has \d rounds, but .* has 0: resume it where it was begun, or start"):
        play(Gambler(), open_run(task), tmp_path / "elsewhere")


def test_a_missing_run_file_is_restored_from_the_snapshot(tmp_path):
    task, note = FakeService(SENTENCES), tmp_path / "run"
    play(Gambler(), open_run(task), tmp_path, settings=SETTINGS)
    note.unlink()
    assert run_id(tmp_path) == RUN
    play(Gambler(), open_run(task), tmp_path, settings=SETTINGS)
    assert Snapshot.read(note).values == {"system": "tested", "run": RUN, "about": SETTINGS}


def test_a_damaged_run_file_can_be_removed(tmp_path):
    task, note = FakeService(SENTENCES), tmp_path / "run"
    play(Gambler(), open_run(task), tmp_path)
    note.write_bytes(note.read_bytes()[:-2])
    for ask in (run_id, lambda folder: play(Gambler(), open_run(task), folder)):
        with pytest.raises(SnapshotError, match=r"run is damaged .*; remove it: the snapshot beside it says the same"):
            ask(tmp_path)
    note.unlink()
    assert play(Gambler(), open_run(task), tmp_path).index == len(SENTENCES)


def drop_last_line(folder):
    """Drop the last line of a journal, as if the process had died before it was written."""
    path = folder / "journal.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def kill_after_rounds(task, folder, rounds):
    def stop(entry):
        if entry.index + 1 == rounds:
            raise Killed

    with pytest.raises(Killed):
        play(Gambler(), open_run(task), folder, watch=stop)


def test_divergence_in_the_round_missing_from_the_journal_names_the_round(tmp_path):
    class Wild(Gambler):
        def update(self, source, translation, reward):
            if source == SENTENCES[4]:
                raise DivergedError("it runs away")
            super().update(source, translation, reward)

    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path, 5)
    drop_last_line(tmp_path)
    with pytest.raises(DivergedError, match=r"it runs away \(in round 5; .* keeps the journal"):
        play(Wild(), open_run(task), tmp_path)
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 5


def test_a_round_that_the_learner_does_not_repeat_is_not_written(tmp_path):
    class Other(Gambler):
        def propose(self, source):
            return super().propose(source) + " and more"

    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path / "here", 1)
    with pytest.raises(ResumeError, match="but would now be"):
        play(Other(), open_run(task), tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "journal.jsonl").read_text() == ""


def test_a_refused_run_does_not_bind_the_folder(tmp_path):
    task = FakeService(SENTENCES)
    play(Gambler(), open_run(task), tmp_path)
    for name in ("snapshot", "run"):
        (tmp_path / name).unlink()
    with pytest.raises(ResumeError, match=r"has 0 rounds, but .* has 23: resume it where"):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    assert not (tmp_path / "snapshot").exists()
    assert RunFolder(tmp_path).details() is None


@pytest.mark.parametrize("rounds", [7, len(SENTENCES)])
def test_a_damaged_snapshot_can_be_removed_and_the_journal_is_replayed(rounds, tmp_path, undisturbed):
    def stop(entry):
        if entry.index + 1 == rounds < len(SENTENCES):
            raise Killed

    task, path = FakeService(SENTENCES), tmp_path / "snapshot"
    with suppress(Killed):
        play(Gambler(), open_run(task), tmp_path, snapshot_every=3, watch=stop)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SnapshotError, match=r"snapshot is damaged .*; remove it: the journal is replayed instead$"):
        play(Gambler(), open_run(task), tmp_path)
    path.unlink()
    assert run_id(tmp_path) == RUN  # also of a finished run, in whose place the service would begin another
    learner = Gambler()
    play(learner, open_run(task), tmp_path)
    assert finished(task, learner) == undisturbed


@pytest.mark.parametrize(
    ("run", "snapshot"), [("cut", "gone"), ("cut", "cut"), ("cut", "forged"), ("gone", "cut"), ("gone", "forged")]
)
def test_the_last_file_that_names_the_run_is_not_to_be_removed(run, snapshot, tmp_path):
    """Without either file it is unknown whose journal it is, and a finished run would be begun again."""

    def spoil(path, how):
        if how == "gone":
            path.unlink()
        elif how == "cut":
            path.write_bytes(path.read_bytes()[:-2])
        else:
            forged = Snapshot.read(path)
            forged.values["rounds"] = "many"
            forged.write(path)

    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    for name, how in (("run", run), ("snapshot", snapshot)):
        spoil(tmp_path / name, how)
    for ask in (run_id, lambda folder: play(Gambler(), open_run(FakeService(SENTENCES)), folder)):
        with pytest.raises(
            SnapshotError, match=r"; start a run under another name \(play --name\) in an empty folder$"
        ):
            ask(tmp_path)


def test_a_snapshot_of_another_system_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    run = open_run(FakeService(SENTENCES))
    run.system = "another"
    with pytest.raises(SnapshotError, match=r"is of 'tested' in run a+, not of 'another'"):
        play(Gambler(), run, tmp_path)


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        (SETTINGS | {"system": "miser"}, "system 'gambler', not 'miser'"),
        (SETTINGS | {"seed": 2}, "seed 1, not 2"),
        (SETTINGS | {"system": "miser", "seed": 2}, "system 'gambler', not 'miser'; seed 1, not 2"),
        ({"system": "gambler", "seed": 1}, "luck 'a4', not None"),
        (SETTINGS | {"charm": "b5"}, "charm None, not 'b5'"),
    ],
)
def test_a_run_is_resumed_only_with_its_settings(settings, difference, tmp_path):
    task = FakeService(SENTENCES)
    play(Gambler(), open_run(task), tmp_path, settings=SETTINGS)
    before = (tmp_path / "snapshot").read_bytes()
    for found, removed in (("run", None), ("snapshot", "run"), ("run", "snapshot")):  # each file suffices
        if removed:
            (tmp_path / removed).unlink()
        with pytest.raises(SnapshotError) as refusal:
            play(Gambler(), open_run(task), tmp_path, settings=settings)
        assert str(refusal.value) == (
            f"{tmp_path / found} was begun with {difference}: "
            "resume it with the settings that it was begun with, or "
            "start a run under another name (play --name) in an empty folder"
        )
        play(Gambler(), open_run(task), tmp_path, settings=SETTINGS)
    assert (tmp_path / "snapshot").read_bytes() == before
    assert play(Gambler(), open_run(task), tmp_path, settings=SETTINGS).index == len(SENTENCES)


def test_a_snapshot_without_settings_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    older = Snapshot.read(tmp_path / "snapshot")
    del older.values["about"]
    older.write(tmp_path / "snapshot")
    told = r"snapshot is not .* of another version of banditmt; remove it: the journal is replayed"
    with pytest.raises(SnapshotError, match=told):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)


def test_a_snapshot_of_something_else_than_a_run_is_refused(tmp_path):
    path = tmp_path / "snapshot"
    Snapshot({"model": np.zeros(3)}, {"kind": "translator 1"}).write(path)
    for ask in (run_id, snapshot_rounds, lambda folder: play(Gambler(), open_run(FakeService(SENTENCES)), folder)):
        with pytest.raises(SnapshotError, match=f"{path} is not a snapshot of a run"):
            ask(tmp_path)


def test_a_snapshot_that_lacks_a_value_of_the_learner_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    poor = Snapshot.read(tmp_path / "snapshot")
    del poor.values["learner"]["baseline"]
    poor.write(tmp_path / "snapshot")
    with pytest.raises(SnapshotError, match=r"snapshot does not fit this learner \(KeyError: 'baseline'\)"):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)


def test_a_journal_shorter_than_the_snapshot_is_refused(tmp_path):
    task, journal = FakeService(SENTENCES), tmp_path / "journal.jsonl"
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(40)), open_run(task), tmp_path, snapshot_every=5)
    known = snapshot_rounds(tmp_path)
    whole = journal.read_text()
    journal.write_text("".join(whole.splitlines(keepends=True)[: known - 2]))
    complaint = rf"ends after {known - 2} rounds, but its snapshot after {known}: restore the whole journal, or "
    with pytest.raises(ResumeError, match=complaint):
        play(Gambler(), open_run(task), tmp_path)
    journal.write_text(whole)
    assert play(Gambler(), open_run(task), tmp_path).finished


@pytest.mark.parametrize("call", ["propose", "update"])
def test_divergence_names_the_round_and_the_folder(call, tmp_path):
    class Wild(Gambler):
        pass

    def diverge(self, *given):
        if self.rounds == 7:
            raise DivergedError("it has diverged")
        return getattr(Gambler, call)(self, *given)

    setattr(Wild, call, diverge)
    task = FakeService(SENTENCES)
    for _ in range(2):  # it does not get further when it is resumed
        with pytest.raises(DivergedError, match=rf"it has diverged \(in round 8; {tmp_path} keeps the journal"):
            play(Wild(), open_run(task), tmp_path, snapshot_every=5)
    assert snapshot_rounds(tmp_path) == 5
    assert play(Gambler(), open_run(task), tmp_path).finished


def test_a_learner_that_proposes_otherwise_in_replay_is_refused(tmp_path, monkeypatch):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(20)), open_run(task), tmp_path)
    monkeypatch.setattr(Gambler, "propose", lambda learner, source: source)
    with pytest.raises(ResumeError, match=r"round 0 was answered with 'satz 0 .*', but would now be 'satz 0'"):
        play(Gambler(), open_run(task), tmp_path)


@pytest.mark.parametrize("reward", [float("nan"), 1.5, -0.1])
def test_an_invalid_reward_stops_the_run(reward, tmp_path, monkeypatch):
    run, learner = open_run(FakeService(SENTENCES)), Gambler()
    monkeypatch.setattr(run, "submit", lambda translation: reward)
    with pytest.raises(RewardError, match=f"the reward of round 0 is a number between 0 and 1, but got {reward}"):
        play(learner, run, tmp_path)
    assert learner.rounds == 0


def test_a_service_that_lost_a_round_is_noticed(tmp_path):
    task = FakeService(SENTENCES)
    run = open_run(task)

    def lose_a_round(entry):
        if entry.index == 3:
            task.ledger.pop()
            run._pending = None

    with pytest.raises(ResumeError, match="the service is at round 3, but the learner has seen 4"):
        play(Gambler(), run, tmp_path, watch=lose_a_round)


def test_the_gambler_learns_at_all():
    learner = Gambler()
    for _ in range(400):
        learner.update("s", "t", float(learner.propose("s").endswith("maybe")))
    assert np.argmax(learner.weights) == 2


def test_snapshots_every_zero_rounds_are_refused_before_the_first_round(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(ValueError, match="snapshot_every is 1 round or more, but got 0"):
        play(Gambler(), open_run(task), tmp_path, snapshot_every=0)
    assert task.ledger == []
