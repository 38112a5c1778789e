"""The files of a run: what they say, and what is done where one is damaged, missing or of another run."""

from contextlib import suppress

import numpy as np
import pytest

from learners.errors import ResumeError, SnapshotError
from learners.loop import play
from learners.run_folder import RunDetails, RunFolder
from learners.snapshot import Snapshot
from tests.client_sdk.fake_service import RUN, FakeService
from tests.learners.gambler import Gambler
from tests.learners.killed_runs import SENTENCES, Killed, final_state, open_run, run_id, snapshot_rounds, undisturbed

SETTINGS: dict[str, str | int] = {"system": "gambler", "seed": 1, "luck": "a4"}


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


def test_the_folder_records_its_run_and_settings(tmp_path):
    assert RunFolder(tmp_path).details() is None
    play(Gambler(), open_run(FakeService(SENTENCES)), tmp_path, settings=SETTINGS)
    assert RunFolder(tmp_path).details() == RunDetails("tested", RUN, SETTINGS)


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
def test_a_damaged_snapshot_can_be_removed_and_the_journal_is_replayed(rounds, tmp_path):
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
    assert final_state(task, learner) == undisturbed()


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
    complaint = r"snapshot is not .* of another version of banditmt; remove it: the journal is replayed"
    with pytest.raises(SnapshotError, match=complaint):
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
