"""Studies: they resume, keep finished runs, and refuse what cannot be compared."""

import gzip
import hashlib
import json
import shutil
import sys
from dataclasses import replace
from unittest.mock import Mock, patch

import pytest

from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study import Study, run_study, train_models
from benchmarks.studies.study_run import StudyRun
from learners.seed_models.dictionary import save_dictionary
from learners.seed_models.store import ModelStore
from learners.systems.system import Family
from simulator.competition import PlayState, RunSpec, RunStatus
from task.layout import Layout
from tests.benchmarks.study_runs import LAYOUT, LEARNER, ORACLE, REWARDS, STATIC


def run_small_study(folder, *options):
    """Return the report of a study of a system that needs no training."""
    floor = Study("?", folder, ["copy-source"], Family(name="floor", static="copy-source"), departments=3)
    small = ["--rounds", "2803", "--out-of-domain", "20", "--seeds", "1", "--out", str(folder / "out")]
    with patch.object(sys, "argv", ["study", *small, *options]):
        run_study(floor)
    return (folder / "out" / "table.md").read_text()


@pytest.fixture(scope="module")
def finished_study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return folder, run_small_study(folder, "--task-seed", "5")


def test_a_folder_keeps_the_options_that_it_was_begun_with(finished_study):
    folder, report = finished_study
    assert "2,803 rounds; --task-seed 5 --rounds 2803 --out-of-domain 20 --departments 3" in report
    with pytest.raises(SystemExit, match=r"was begun with .*'task_seed': 5.*: give another --folder"):
        run_small_study(folder, "--task-seed", "6")


PLUGIN = """
from learners.contract import Learner

class Half(Learner):
    def propose(self, sentence):
        words = sentence.source.split()
        return " ".join(words[: (len(words) + 1) // 2])

    def update(self, sentence, translation, feedback):
        pass
"""


def test_a_learner_from_outside_joins_a_study_that_was_finished_without_it(finished_study, tmp_path, monkeypatch):
    folder = shutil.copytree(finished_study[0], tmp_path / "study")
    (tmp_path / "halves.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    systems = ["--systems", "copy-source", "halves:Half"]
    report = run_small_study(folder, "--task-seed", "5", "--keep", *systems)
    assert "| halves:Half | - |" in report
    assert run_small_study(folder, "--task-seed", "5", "--keep", *systems) == report


@pytest.mark.parametrize("part", ["make_task", "train_models"])
def test_an_interrupt_before_the_runs_is_told_in_one_line(finished_study, part, tmp_path):
    folder = shutil.copytree(finished_study[0], tmp_path / "study")
    interrupted = patch(f"benchmarks.studies.study.{part}", side_effect=KeyboardInterrupt)
    with interrupted, pytest.raises(SystemExit, match=r"^interrupted: the same command resumes the study$"):
        run_small_study(folder, "--task-seed", "5")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--task", "/nowhere"], "^/nowhere is not a task: it has no task.json$"),
        (["--rounds", "300"], "^300 rounds cannot hold .* nearest: "),
        (
            ["--rounds", "2803", "--systems", "copy-source", "nope"],
            "^there is no system 'nope'; there are copy-source, ",
        ),
        (["--on", "spark"], "^--on is ray or ray:ADDRESS, but got 'spark'$"),
    ],
)
def test_wrong_options_are_refused_in_one_line(options, complaint, tmp_path):
    with pytest.raises(SystemExit, match=complaint):
        run_small_study(tmp_path, *options)


def test_a_failed_run_is_in_the_report(finished_study):
    folder, _ = finished_study
    failed = RunStatus(RunSpec("BNMT-EL"), PlayState.FAILED, message="its process died (1)")
    finished_before = RunStatus(RunSpec("copy-source"), PlayState.INTERRUPTED)
    ends = [finished_before, failed]
    with patch("benchmarks.studies.study.compete", return_value=ends), pytest.raises(SystemExit) as ending:
        run_small_study(folder, "--task-seed", "5")
    assert ending.value.code == 1
    report = (folder / "out" / "table.md").read_text()
    assert report.endswith("--departments 3\n- BNMT-EL: failed its process died (1)\n")


def test_a_run_is_written_and_read(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    found = StudyRun.read(path)
    assert (found.spec, found.passes, found.rewards.tolist()) == (LEARNER.spec, LEARNER.passes, REWARDS)
    assert found.whole.blocks == LEARNER.whole.blocks


def test_a_file_of_an_earlier_version_has_no_statistics_of_its_translations(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    values = json.loads(gzip.decompress(path.read_bytes()))
    del values["blocks"]
    path.write_bytes(gzip.compress(json.dumps(values).encode()))
    found = StudyRun.read(path)
    assert (found.rewards.tolist(), found.passes) == (REWARDS, LEARNER.passes)
    assert (found.whole.text, found.last_quarter.text) == (None, None)


def test_a_file_that_is_not_a_run_is_refused(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    whole = path.read_bytes()
    values = json.loads(gzip.decompress(whole)) | {"blocks": [[1, 2, 3]]}
    for damaged in (b"", b"nonsense", whole[:-20], *map(gzip.compress, (b"[]", b"{}", json.dumps(values).encode()))):
        path.write_bytes(damaged)
        with pytest.raises(
            SystemExit, match=r"BNMT-EL\.json\.gz is not a run of a study \(.*\): remove it, and the run is played"
        ):
            StudyRun.read(path)
    (tmp_path / "copied.json.gz").write_bytes(whole)
    with pytest.raises(SystemExit, match=r"copied\.json\.gz is not a run of a study \(it is BNMT-EL\)"):
        StudyRun.read(tmp_path / "copied.json.gz")


TASK = TaskIdentity({"task_seed": 5}, "a digest")
BEGUN_WITH = {"bnmt": "a1", "oracle": "b2"}
RUNS = [RunSpec(name) for name in ("copy-source", "BNMT-static", "BNMT-oracle", "BNMT-EL")]


@pytest.fixture
def saved(tmp_path):
    made = SavedRuns(tmp_path / "runs")
    made.save([STATIC, ORACLE], TASK, BEGUN_WITH)
    return made


def test_only_the_runs_saved_last_are_kept(saved):
    assert [run.spec.system for run in saved.find(RUNS, TASK, LAYOUT)] == ["BNMT-static", "BNMT-oracle"]
    saved.save([LEARNER], TASK, BEGUN_WITH)
    assert [run.spec.system for run in saved.read_all()] == ["BNMT-EL"]


def test_a_run_that_was_saved_under_a_former_name_is_kept(tmp_path):
    saved = SavedRuns(tmp_path / "runs")
    saved.save([replace(LEARNER, spec=RunSpec("BNMT-EL", 1, "BNMT-EL.s1"))], TASK, BEGUN_WITH)
    (kept,) = saved.find([RunSpec("BNMT-EL"), RunSpec("BNMT-EL", 2, "BNMT-EL.s2")], TASK, LAYOUT)
    assert kept.spec == RunSpec("BNMT-EL")


def test_a_missing_folder_has_no_runs(tmp_path):
    empty = SavedRuns(tmp_path / "nowhere")
    assert empty.find(RUNS, TASK, LAYOUT) == []
    assert empty.merge_models([], {"bnmt": "c3"}) == {"bnmt": "c3"}


@pytest.mark.parametrize("other", [replace(TASK, task="another"), replace(TASK, options={"task_seed": 6})])
def test_runs_of_another_task_are_refused(saved, other):
    with pytest.raises(
        SystemExit, match=r"runs are of the task .* with the options \{'task_seed': 5\}, not of .*: give another --out"
    ):
        saved.find(RUNS, other, LAYOUT)


def test_an_incomplete_run_is_refused(saved):
    with pytest.raises(
        SystemExit, match=r"BNMT-static\.json\.gz is incomplete: remove it, and the run is played again"
    ):
        saved.find(RUNS, TASK, Layout(blocks=3, block=2, gap=8))


def test_runs_that_began_with_another_seed_model_are_refused(saved):
    kept = saved.find(RUNS, TASK, LAYOUT)
    assert saved.merge_models(kept, {"bnmt": "a1", "wnmt": "c3"}) == {"bnmt": "a1", "oracle": "b2", "wnmt": "c3"}
    with pytest.raises(SystemExit, match=r"began with another seed model bnmt than the one here: .* without --keep"):
        saved.merge_models(kept, {"bnmt": "another"})


@pytest.mark.parametrize("origin", ['{"stream": {"options": {"task_seed": 5}, "task": "a digest"}, "models": {}}'])
def test_runs_of_an_unknown_seed_model_are_refused(saved, origin, tmp_path):
    (tmp_path / "runs" / "origin.json").write_text(origin)
    with pytest.raises(SystemExit, match=r"began with an unknown seed model bnmt: .* without --keep"):
        saved.find(RUNS, TASK, LAYOUT)


def test_a_seed_model_that_no_kept_run_began_with_may_change(saved):
    static = [run for run in saved.find(RUNS, TASK, LAYOUT) if run.spec.system == "BNMT-static"]
    assert saved.merge_models(static, {"oracle": "another"}) == {"bnmt": "a1", "oracle": "another"}


@pytest.mark.parametrize("origin", [None, "", "[]", "{}", '{"stream": 5, "models": {}}'])
def test_runs_of_an_unknown_task_are_refused(saved, origin, tmp_path):
    path = tmp_path / "runs" / "origin.json"
    path.unlink() if origin is None else path.write_text(origin)
    with pytest.raises(SystemExit, match=r"origin\.json does not say which task these runs are of"):
        saved.find(RUNS, TASK, LAYOUT)


def test_kept_runs_are_not_played_again(finished_study):
    folder, report = finished_study
    with patch("benchmarks.studies.study.compete", side_effect=AssertionError("it was kept")):
        assert run_small_study(folder, "--task-seed", "5", "--folder", str(folder / "elsewhere"), "--keep") == report


def test_runs_of_another_task_are_not_mixed_with_kept_ones(finished_study):
    folder, _ = finished_study
    with pytest.raises(SystemExit, match=r"runs are of .*'task_seed': 5.*, not of .*'task_seed': 6"):
        run_small_study(folder, "--task-seed", "6", "--folder", str(folder / "another"), "--keep")


def test_a_study_checks_that_all_runs_began_with_the_same_seed_models(finished_study):
    folder, _ = finished_study
    refused = patch.object(SavedRuns, "merge_models", side_effect=SystemExit("began differently"))
    with refused, pytest.raises(SystemExit, match="began differently"):
        run_small_study(folder, "--task-seed", "5", "--keep")


def test_the_digests_include_the_models_that_a_seed_model_was_made_from(tmp_path):
    competition, task = Mock(models=tmp_path), Mock(path=tmp_path)
    with (
        patch.object(ModelStore, "digest", lambda _, model: f"of {model}"),
        patch("benchmarks.studies.study.train_seed_models"),
    ):
        models = train_models(competition, [RunSpec("BNMT-oracle")], task, 1)
    assert models == {"bnmt": "of bnmt", "oracle": "of oracle"}


def test_a_finished_run_that_began_with_another_seed_model_is_refused(tmp_path):
    """A seed model was made again: the journal is whole, but it did not begin with the model that is here."""
    systems = ("--task-seed", "5", "--systems", "copy-source", "word-for-word")
    before = run_small_study(tmp_path, *systems)
    save_dictionary({"rot": "red"}, tmp_path / "models" / "dictionary.model")
    with (
        patch("benchmarks.studies.study.compete") as competed,
        pytest.raises(SystemExit, match=r"word-for-word.*, or with another seed model .*: give another --folder"),
    ):
        run_small_study(tmp_path, *systems)
    assert not competed.called
    assert (tmp_path / "out" / "table.md").read_text() == before


def test_there_is_no_table_without_the_static_run(finished_study):
    folder, _ = finished_study
    failed = RunStatus(RunSpec("copy-source"), PlayState.FAILED, message="its journal has a gap")
    complaint = "^copy-source, which all others are compared with, failed: its journal has a gap$"
    with patch("benchmarks.studies.study.compete", return_value=[failed]), pytest.raises(SystemExit, match=complaint):
        run_small_study(folder, "--task-seed", "5")


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        ("snapshot", "^copy-source has not finished yet: the same command resumes it$"),
        ("journal.jsonl", "^copy-source has not finished yet: the same command resumes it$"),
        (
            "run",
            "run is not a snapshot .*; remove it: the snapshot .* says the same; or give the study another --folder$",
        ),
    ],
)
def test_a_damaged_file_of_a_run_is_reported_in_one_line(finished_study, damaged, complaint, tmp_path):
    folder = shutil.copytree(finished_study[0], tmp_path / "study")
    path = folder / "runs" / "dev" / "copy-source" / damaged
    path.write_bytes(path.read_bytes()[2:])
    stopped = RunStatus(RunSpec("copy-source"), PlayState.INTERRUPTED)
    with patch("benchmarks.studies.study.compete", return_value=[stopped]), pytest.raises(SystemExit, match=complaint):
        run_small_study(folder, "--task-seed", "5")


@pytest.mark.parametrize("lines", [None, 2802])
def test_a_journal_that_lost_lines_is_not_a_finished_run(finished_study, lines, tmp_path):
    folder = shutil.copytree(finished_study[0], tmp_path / "study")
    path = folder / "runs" / "dev" / "copy-source" / "journal.jsonl"
    whole = path.read_text().splitlines(keepends=True)
    path.unlink() if lines is None else path.write_text("".join(whole[:lines]))
    stopped = RunStatus(RunSpec("copy-source"), PlayState.INTERRUPTED)
    complaint = "^copy-source has not finished yet: the same command resumes it$"
    with patch("benchmarks.studies.study.compete", return_value=[stopped]), pytest.raises(SystemExit, match=complaint):
        run_small_study(folder, "--task-seed", "5")


def test_the_seed_models_of_runs_are_saved(finished_study):
    folder, _ = finished_study
    run_small_study(folder, "--task-seed", "5", "--systems", "copy-source", "word-for-word")
    origin = json.loads((folder / "out" / "runs" / "origin.json").read_text())
    assert origin["models"] == {
        "dictionary": hashlib.sha256((folder / "models" / "dictionary.model").read_bytes()).hexdigest()
    }
