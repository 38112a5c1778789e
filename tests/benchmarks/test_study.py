"""The tables of studies, from runs made by hand."""

import gzip
import hashlib
import json
import shutil
import sys
from dataclasses import replace
from unittest.mock import Mock, patch

import pytest

from benchmarks.studies.figures import gain_points, pass_points, save_figures
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study import Study, _train_models, run_study
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.summary import read_studies, summary
from benchmarks.studies.table import ComparisonSystems, mean_rewards, ranking, table
from learners.journal import JournalEntry
from learners.seed_models.dictionary import save_dictionary
from learners.seed_models.store import ModelStore
from simulator.competition import PlayState, RunSpec, RunStatus
from task.layout import Layout

LAYOUT = Layout(blocks=2, block=2, gap=8)  # HHFFFFFFFFHH
SOURCES = list("abcaadefghab")
REFERENCES = ["w x y z v"] * 12


def study_run(system, rewards, translations):
    rows = zip(SOURCES, translations, rewards, strict=True)
    entries = [
        JournalEntry(index, source, translation, reward) for index, (source, translation, reward) in enumerate(rows)
    ]
    return StudyRun.from_journal(RunSpec(system), entries, REFERENCES, LAYOUT)


STATIC = study_run("BNMT-static", [0.2] * 12, ["w x y z u"] * 12)
ORACLE = study_run("BNMT-oracle", [0.8] * 12, ["w x y z v"] * 12)
COMPARISON = ComparisonSystems("BNMT-static", "BNMT-oracle", "BNMT-control")
REWARDS = [0.2] * 3 + [0.5] * 2 + [0.2] * 5 + [0.5] * 2  # more for what it has seen before
LEARNER = study_run("BNMT-EL", REWARDS, ["w x y z u"] * 10 + ["w x y z v w x y z v"] * 2)


def test_held_out_passes_are_scored_by_themselves():
    assert [held_out.length_ratio for held_out in (*LEARNER.passes, *ORACLE.passes)] == [1.0, 2.0, 1.0, 1.0]
    assert LEARNER.passes[0].bleu == pytest.approx(66.874, abs=0.001)
    assert ORACLE.passes[1].bleu == pytest.approx(100)


def test_new_and_repeated_sources_have_separate_means():
    assert LEARNER.means_by_novelty(SOURCES) == (pytest.approx(0.2), pytest.approx(0.5))


def test_a_row_has_the_difference_the_gap_and_the_length_ratio():
    lines = table([STATIC, LEARNER, ORACLE], COMPARISON, SOURCES).splitlines()
    assert len(lines) == 5
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells[:3] == ["BNMT-EL", "1", "0.3000"]
    assert cells[3].startswith("+0.1000 (")
    assert cells[4:7] == ["16.7 %", "0.2000", "0.5000"]
    assert cells[-1] == "2.00"


def test_all_runs_are_compared_with_the_control_if_there_is_one():
    control = study_run("BNMT-control", [0.25] * 12, ["w x y z u"] * 12)
    lines = table([STATIC, control, LEARNER, ORACLE], COMPARISON, SOURCES).splitlines()
    header, learner = ([cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], lines[4]))
    assert header[3:6] == ["minus BNMT-static (95 %)", "minus BNMT-control (95 %)", "of the gap closed"]
    assert learner[4].startswith("+0.0500 (")
    assert learner[5] == "16.7 %"


def run_small_study(folder, *options):
    """Return the report of a study of a system that needs no training."""
    floor = Study("?", folder, ["copy-source"], ComparisonSystems("copy-source", "BNMT-oracle"), departments=3)
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


def test_a_file_that_is_not_a_run_is_refused(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[:-20], gzip.compress(b"[]"), gzip.compress(b"{}")):
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
        models = _train_models(competition, [RunSpec("BNMT-oracle")], task, 1)
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


def test_systems_are_ordered_by_the_mean_over_their_seeds():
    again = study_run("BNMT-EL", [0.1] * 12, ["w x y z u"] * 12)
    assert mean_rewards([STATIC, LEARNER, again]) == pytest.approx({"BNMT-static": 0.2, "BNMT-EL": 0.2})
    assert ranking(mean_rewards([STATIC, ORACLE])) == "BNMT-oracle 0.8000 > BNMT-static 0.2000"


def test_a_summary_has_a_row_for_each_system_and_a_range_over_its_seeds():
    again = study_run("BNMT-EL", [0.1] * 12, ["w x y z u"] * 12)
    lines = summary({"shop": [STATIC, LEARNER, again, ORACLE], "news": [STATIC, ORACLE]}, COMPARISON).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][:6] == [
        "system", "shop: reward", "shop: of the gap", "shop: held-out BLEU", "shop: length", "news: reward",
    ]  # fmt: skip
    assert [row[0] for row in rows[2:]] == ["BNMT-oracle", "BNMT-static", "BNMT-EL"]
    last = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)
    assert rows[4] == ["BNMT-EL", "0.2000", "-16.7 to 16.7 %", f"{last:.1f} to 66.9", "1.00 to 2.00", "", "", "", ""]
    assert rows[3][5:] == ["0.2000", "0.0 %", "66.9", "1.00"]


def test_a_summary_needs_the_static_system_and_the_oracle(tmp_path):
    saved = SavedRuns(tmp_path / "shop" / "runs")
    saved.save([STATIC], TASK, {})
    with pytest.raises(SystemExit, match="shop has no run of BNMT-oracle"):
        read_studies([tmp_path / "shop"], COMPARISON)
    saved.save([STATIC, ORACLE], TASK, {})
    assert [run.spec.system for run in read_studies([tmp_path / "shop"], COMPARISON)["shop"]] == [
        "BNMT-oracle",
        "BNMT-static",
    ]


def test_a_curve_has_the_gain_per_round_so_far():
    points = list(gain_points([LEARNER], STATIC))
    assert points == [{"system": "BNMT-EL", "seed": 1, "rounds": 12, "gain": 0.1}]  # too short for more than its end


def test_every_held_out_pass_is_a_point():
    last = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)  # twice as long as its reference
    assert [point["bleu"] for point in pass_points([ORACLE, LEARNER])] == [100.0, 100.0, 66.874, round(last, 3)]


def test_figures_show_the_systems_near_each_other_only(tmp_path):
    gain, held_out = save_figures([STATIC, LEARNER, ORACLE], COMPARISON, tmp_path)
    for path in (gain, held_out):
        drawing = path.read_text()
        assert all(name in drawing for name in ("BNMT-static", "BNMT-EL"))
        assert "BNMT-oracle" not in drawing
