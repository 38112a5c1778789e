"""A run that is killed anywhere, any number of times, ends exactly as one that was not."""

import os
import signal
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditmt_client import Client
from learners.errors import DivergedError, ResumeError, RewardError, SnapshotError
from learners.journal import Journal, JournalEntry
from learners.loop import begun_as, play, rounds_played, saved_run
from learners.snapshot import Snapshot
from tests.client_sdk.fake_service import RUN, FakeConnection, FakeService
from tests.learners.gambler import Gambler

SENTENCES = [f"satz {number}" for number in range(23)]


class Killed(BaseException):
    """What a SIGKILL looks like from inside: no handler runs."""


class Fragile(Gambler):
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


def fuse_of(length):
    """Burns down with every event; kills when it is spent."""
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


def test_a_folder_that_is_being_played_in_is_refused_and_left_alone(tmp_path):
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


@settings(deadline=None, max_examples=60)
@given(fuses=st.lists(st.integers(1, 60), max_size=6), snapshot_every=st.integers(1, 9))
def test_killed_anywhere_it_ends_as_if_it_had_not_been(fuses, snapshot_every, undisturbed, tmp_path_factory):
    task, folder = FakeService(SENTENCES), tmp_path_factory.mktemp("killed")
    for length in fuses:
        burn = fuse_of(length)
        try:
            play(Fragile(burn), open_run(task, burn), folder, snapshot_every=snapshot_every)
        except Killed:
            continue
    learner = Gambler(seed=99)  # whatever a new process begins with, the snapshot replaces
    if not (folder / "snapshot").exists():
        learner = Gambler()
    play(learner, open_run(task), folder, snapshot_every=snapshot_every)
    assert finished(task, learner) == undisturbed


def test_an_interrupt_is_heeded_between_two_rounds_and_leaves_a_snapshot(tmp_path, undisturbed):
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


def test_it_plays_in_a_thread_too(tmp_path, undisturbed):
    task, learner = FakeService(SENTENCES), Gambler()
    thread = threading.Thread(target=lambda: play(learner, open_run(task), tmp_path))
    thread.start()
    thread.join()
    assert finished(task, learner) == undisturbed


ABOUT: dict[str, str | int] = {"system": "gambler", "seed": 1, "luck": "a4"}


def test_the_folder_knows_its_run(tmp_path):
    assert (saved_run(tmp_path), begun_as(tmp_path)) == (None, None)
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path, about=ABOUT)
    assert (saved_run(tmp_path), begun_as(tmp_path)) == (RUN, ABOUT)


def test_a_run_that_was_played_elsewhere_is_refused(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(Fragile(fuse_of(20)), open_run(task), tmp_path / "here")
    with pytest.raises(ResumeError, match=r"has \d rounds, but .* knows of 0"):
        play(Gambler(), open_run(task), tmp_path / "elsewhere")


def test_a_folder_that_lost_its_note_knows_its_run_by_the_snapshot_and_notes_it_again(tmp_path):
    task, note = FakeService(SENTENCES), tmp_path / "run"
    play(Gambler(), open_run(task), tmp_path, about=ABOUT)
    note.unlink()
    assert saved_run(tmp_path) == RUN
    play(Gambler(), open_run(task), tmp_path, about=ABOUT)
    assert Snapshot.read(note).values == {"system": "tested", "run": RUN, "about": ABOUT}


def test_a_damaged_note_can_be_removed(tmp_path):
    task, note = FakeService(SENTENCES), tmp_path / "run"
    play(Gambler(), open_run(task), tmp_path)
    note.write_bytes(note.read_bytes()[:-2])
    for ask in (saved_run, lambda folder: play(Gambler(), open_run(task), folder)):
        with pytest.raises(SnapshotError, match=r"run is damaged .*; remove it: the snapshot beside it tells the same"):
            ask(tmp_path)
    note.unlink()
    assert play(Gambler(), open_run(task), tmp_path).index == len(SENTENCES)


def without_the_last_line(folder):
    """As if the process had died between the answer and its journal."""
    path = folder / "journal.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def killed_after(task, folder, rounds):
    def stop(entry):
        if entry.index + 1 == rounds:
            raise Killed

    with pytest.raises(Killed):
        play(Gambler(), open_run(task), folder, watch=stop)


def test_a_model_that_diverges_on_the_round_that_was_missing_is_told_with_its_round(tmp_path):
    class Wild(Gambler):
        def update(self, source, translation, reward):
            if source == SENTENCES[4]:
                raise DivergedError("it runs away")
            super().update(source, translation, reward)

    task = FakeService(SENTENCES)
    killed_after(task, tmp_path, 5)
    without_the_last_line(tmp_path)
    with pytest.raises(DivergedError, match=r"it runs away \(in round 5; .* keeps the journal"):
        play(Wild(), open_run(task), tmp_path)
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 5


def test_a_round_that_this_learner_would_not_have_played_is_not_written_down(tmp_path):
    class Other(Gambler):
        def propose(self, source):
            return super().propose(source) + " and more"

    task = FakeService(SENTENCES)
    killed_after(task, tmp_path / "here", 1)
    with pytest.raises(ResumeError, match="but would now be"):
        play(Other(), open_run(task), tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "journal.jsonl").read_text() == ""


def test_a_refused_run_is_not_what_the_folder_knows_from_now_on(tmp_path):
    task = FakeService(SENTENCES)
    play(Gambler(), open_run(task), tmp_path)
    for name in ("snapshot", "run"):
        (tmp_path / name).unlink()
    with pytest.raises(ResumeError, match=r"has 0 rounds, but .* knows of 23"):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    assert not (tmp_path / "snapshot").exists()
    assert saved_run(tmp_path) is None


@pytest.mark.parametrize("rounds", [7, len(SENTENCES)])
def test_a_damaged_snapshot_can_be_removed_and_the_journal_leads_back(rounds, tmp_path, undisturbed):
    def stop(entry):
        if entry.index + 1 == rounds < len(SENTENCES):
            raise Killed

    task, path = FakeService(SENTENCES), tmp_path / "snapshot"
    with suppress(Killed):
        play(Gambler(), open_run(task), tmp_path, snapshot_every=3, watch=stop)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SnapshotError, match=r"snapshot is damaged .*; remove it, and the journal leads back to where"):
        play(Gambler(), open_run(task), tmp_path)
    path.unlink()
    assert saved_run(tmp_path) == RUN  # also of a run that is finished, in whose place the service would begin another
    learner = Gambler()
    play(learner, open_run(task), tmp_path)
    assert finished(task, learner) == undisturbed


@pytest.mark.parametrize(
    ("run", "snapshot"), [("cut", "gone"), ("cut", "cut"), ("cut", "forged"), ("gone", "cut"), ("gone", "forged")]
)
def test_what_would_be_lost_for_good_is_not_to_be_removed(run, snapshot, tmp_path):
    """Without either file nobody knows whose journal it is, and a finished run would be begun again."""

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
    for ask in (saved_run, begun_as, lambda folder: play(Gambler(), open_run(FakeService(SENTENCES)), folder)):
        with pytest.raises(SnapshotError, match=r"; begin a run of another name \(play --name\) with an empty folder$"):
            ask(tmp_path)


def test_a_snapshot_of_another_system_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    run = open_run(FakeService(SENTENCES))
    run.system = "another"
    with pytest.raises(SnapshotError, match=r"is of 'tested' in run a+, not of 'another'"):
        play(Gambler(), run, tmp_path)


@pytest.mark.parametrize(
    ("about", "difference"),
    [
        (ABOUT | {"system": "miser"}, "system 'gambler', not 'miser'"),
        (ABOUT | {"seed": 2}, "seed 1, not 2"),
        (ABOUT | {"system": "miser", "seed": 2}, "system 'gambler', not 'miser'; seed 1, not 2"),
        ({"system": "gambler", "seed": 1}, "luck 'a4', not None"),
        (ABOUT | {"charm": "b5"}, "charm None, not 'b5'"),
    ],
)
def test_a_run_goes_on_only_as_who_began_it(about, difference, tmp_path):
    task = FakeService(SENTENCES)
    play(Gambler(), open_run(task), tmp_path, about=ABOUT)
    before = (tmp_path / "snapshot").read_bytes()
    for found, removed in (("run", None), ("snapshot", "run"), ("run", "snapshot")):  # each tells alone, too
        if removed:
            (tmp_path / removed).unlink()
        with pytest.raises(SnapshotError) as refusal:
            play(Gambler(), open_run(task), tmp_path, about=about)
        assert str(refusal.value) == (
            f"{tmp_path / found} was begun with {difference}: "
            "go on with what it was begun with, or begin a run of another name (play --name) with an empty folder"
        )
        play(Gambler(), open_run(task), tmp_path, about=ABOUT)
    assert (tmp_path / "snapshot").read_bytes() == before
    assert play(Gambler(), open_run(task), tmp_path, about=ABOUT).index == len(SENTENCES)


def test_a_snapshot_that_does_not_say_who_plays_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    older = Snapshot.read(tmp_path / "snapshot")
    del older.values["about"]
    older.write(tmp_path / "snapshot")
    told = r"snapshot is no .* of another version of banditmt; remove it, and the journal leads back"
    with pytest.raises(SnapshotError, match=told):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)


def test_a_file_of_another_kind_where_the_snapshot_should_be_is_refused(tmp_path):
    path = tmp_path / "snapshot"
    Snapshot({"model": np.zeros(3)}, {"kind": "translator 1"}).write(path)
    for ask in (saved_run, rounds_played, lambda folder: play(Gambler(), open_run(FakeService(SENTENCES)), folder)):
        with pytest.raises(SnapshotError, match=f"{path} is no snapshot of a run"):
            ask(tmp_path)


def test_a_snapshot_that_lacks_what_the_learner_needs_is_refused(tmp_path):
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)
    poor = Snapshot.read(tmp_path / "snapshot")
    del poor.values["learner"]["baseline"]
    poor.write(tmp_path / "snapshot")
    with pytest.raises(SnapshotError, match=r"snapshot does not fit this learner \(KeyError: 'baseline'\)"):
        play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path)


def test_a_journal_that_lost_lines_of_before_the_snapshot_is_refused(tmp_path):
    task, journal = FakeService(SENTENCES), tmp_path / "journal.jsonl"
    with pytest.raises(Killed):
        play(Fragile(fuse_of(40)), open_run(task), tmp_path, snapshot_every=5)
    known = rounds_played(tmp_path)
    whole = journal.read_text()
    journal.write_text("".join(whole.splitlines(keepends=True)[: known - 2]))
    complaint = rf"ends after {known - 2} rounds, but its snapshot knows of {known}: bring back the whole journal, or "
    with pytest.raises(ResumeError, match=complaint):
        play(Gambler(), open_run(task), tmp_path)
    journal.write_text(whole)
    assert play(Gambler(), open_run(task), tmp_path).finished


@pytest.mark.parametrize("call", ["propose", "update"])
def test_a_learner_that_diverges_is_told_with_its_round_and_its_place(call, tmp_path):
    class Wild(Gambler):
        pass

    def diverge(self, *given):
        if self.rounds == 7:
            raise DivergedError("it has diverged")
        return getattr(Gambler, call)(self, *given)

    setattr(Wild, call, diverge)
    task = FakeService(SENTENCES)
    for _ in range(2):  # nor does it get further when it is resumed
        with pytest.raises(DivergedError, match=rf"it has diverged \(in round 8; {tmp_path} keeps the journal"):
            play(Wild(), open_run(task), tmp_path, snapshot_every=5)
    assert rounds_played(tmp_path) == 5
    assert play(Gambler(), open_run(task), tmp_path).finished


def test_a_learner_that_changed_its_mind_is_refused(tmp_path, monkeypatch):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(Fragile(fuse_of(20)), open_run(task), tmp_path)
    monkeypatch.setattr(Gambler, "propose", lambda learner, source: source)
    with pytest.raises(ResumeError, match=r"round 0 was answered with 'satz 0 .*', but would now be 'satz 0'"):
        play(Gambler(), open_run(task), tmp_path)


@pytest.mark.parametrize("reward", [float("nan"), 1.5, -0.1])
def test_a_reward_that_is_none_stops_the_run(reward, tmp_path, monkeypatch):
    run, learner = open_run(FakeService(SENTENCES)), Gambler()
    monkeypatch.setattr(run, "submit", lambda translation: reward)
    with pytest.raises(RewardError, match=f"the reward of round 0 is a number between 0 and 1, but got {reward}"):
        play(learner, run, tmp_path)
    assert learner.rounds == 0


def test_a_service_that_goes_backwards_is_noticed(tmp_path):
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


def test_snapshots_every_zero_rounds_are_refused_before_a_round_is_played(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(ValueError, match="every so many rounds"):
        play(Gambler(), open_run(task), tmp_path, snapshot_every=0)
    assert task.ledger == []
