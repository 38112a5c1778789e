"""Systems that learn from post-edits play through the same service, journal and resume as all others."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.task import TaskWriter, write_pairs
from lambdas.store import open_store
from learners.errors import LearnerError
from learners.journal import Journal
from learners.seed_models.catalogue import ADAPT
from learners.snapshot import Snapshot
from simulator import cli
from simulator.competition import Competition, RunSpec, play_run
from simulator.pretraining import train_seed_models
from simulator.tasks import load_task
from task.description import OUT_OF_DOMAIN, TaskDescription
from task.feedback import FeedbackKind, FeedbackSpec
from task.languages import LanguagePair
from task.layout import Layout
from tests.learners.tiny import PRETRAINING, SETTINGS, sentences

ROUNDS = 8
LASSO = RunSpec("ADAPT-lasso")
# Plays a run, and kills its own process after some rounds.
CHILD = """
import os, signal, sys
from functools import partial
from pathlib import Path
from learners.journal import Journal
from learners.loop import play
from simulator import competition
from simulator.competition import Competition, RunSpec, play_run

competition.play = partial(play, snapshot_every=2)
store, models, folder, rounds = sys.argv[1:]
write = Journal.write

def write_and_die(journal, entry):
    write(journal, entry)
    if entry.index + 1 == int(rounds):
        os.kill(os.getpid(), signal.SIGKILL)

Journal.write = write_and_die
play_run(Competition(store, "dev", Path(models), Path(folder)), RunSpec("ADAPT-lasso"))
"""


def write_task(path: Path, kind: FeedbackKind) -> Path:
    about = TaskDescription(LanguagePair("de", "en"), "test 1", "CC0-1.0", FeedbackSpec(seed=7, kind=kind))
    with TaskWriter(path, about) as writer:
        for part in ("mock", "dev", "training"):
            pairs = sentences(ROUNDS, seed=3)
            writer.add(part, write_pairs(writer.directory, part, ("de", "en"), pairs), Layout.plain(ROUNDS))
        news = sentences(200)
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), news))
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adaptation")
    task = write_task(folder / "task", FeedbackKind.POST_EDIT)
    train_seed_models(task, folder / "models", [ADAPT], settings=SETTINGS, pretraining=PRETRAINING)
    return folder / "models"


def competition(folder: Path, models: Path, kind: FeedbackKind = FeedbackKind.POST_EDIT) -> Competition:
    folder.mkdir(exist_ok=True)
    address = f"sqlite:{folder / 'store'}?synchronous=normal"
    store = open_store(address)
    load_task(store, write_task(folder / "task", kind))
    store.close()
    return Competition(address, "dev", models, folder / "runs")


def final_state(played: Competition) -> tuple[object, ...]:
    """Return the outputs and everything that the learner has learned."""
    with Journal(played.run_folder(LASSO) / "journal.jsonl") as journal:
        outputs = [(entry.index, entry.translation, entry.reward, entry.post_edit) for entry in journal.entries()]
    snapshot = Snapshot.read(played.run_folder(LASSO) / "snapshot")
    del snapshot.values["run"]  # another ledger, another id
    return outputs, snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}


def test_a_run_that_was_killed_resumes_with_the_same_outputs_and_offsets(models, tmp_path):
    killed, whole = (competition(tmp_path / name, models) for name in ("killed", "whole"))
    command = [sys.executable, "-c", CHILD, killed.store, str(models), str(killed.folder), "5"]
    assert subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode == -signal.SIGKILL
    play_run(killed, LASSO)
    play_run(whole, LASSO)
    assert final_state(killed) == final_state(whole)


def test_a_phase_without_post_edits_is_refused_before_a_run_is_opened(models, tmp_path):
    here = competition(tmp_path, models, FeedbackKind.BANDIT)
    with pytest.raises(LearnerError, match="ADAPT-full learns from post-edits, and phase dev shows none"):
        play_run(here, RunSpec("ADAPT-full"))
    assert not here.folder.exists()


def test_the_size_of_the_offsets_is_printed_and_they_are_written(models, tmp_path, capsys):
    here = competition(tmp_path, models)
    play_run(here, RunSpec("ADAPT-bias"))
    folder = here.run_folder(RunSpec("ADAPT-bias"))
    assert cli.run(["offsets", str(folder), "--output", str(tmp_path / "bias.offsets")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("ADAPT-bias after 8 rounds: ")
    assert printed.endswith("parameters in 1 tensors and 0 rows of embeddings\n")
    assert cli.run(["offsets", str(folder), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["bytes"] == 4 * values["parameters"]
    assert 0 < (tmp_path / "bias.offsets").stat().st_size - values["bytes"] < 1_000


def test_a_folder_without_offsets_is_refused(models, tmp_path, capsys):
    here = competition(tmp_path, models)
    assert cli.run(["offsets", str(tmp_path / "nowhere")]) == 1
    assert "has no snapshot of a run: give the folder of a run" in capsys.readouterr().err
    play_run(here, RunSpec("ADAPT-memory"))
    assert cli.run(["offsets", str(here.run_folder(RunSpec("ADAPT-memory")))]) == 1
    assert "ADAPT-memory in" in (error := capsys.readouterr().err)
    assert "has no offsets: only networks that learn from post-edits do" in error
