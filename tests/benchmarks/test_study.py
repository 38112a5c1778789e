"""The tables of studies, from runs made by hand."""

import gzip
import hashlib
import json
import shutil
import sys
from dataclasses import replace
from unittest.mock import Mock, patch

import pytest

from benchmarks.studies.figures import gains, passes, save_figures
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study import Study, _make_models, carry_out
from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.summary import kept, summary
from benchmarks.studies.table import ComparisonSystems, means, ordering, table
from learners.journal import JournalEntry
from learners.seed_models.dictionary import save_dictionary
from learners.seed_models.store import ModelStore
from simulator.competition import RunSpec, RunState, RunStatus
from task.layout import Layout

LAYOUT = Layout(blocks=2, block=2, gap=8)  # HHFFFFFFFFHH
SOURCES = list("abcaadefghab")
REFERENCES = ["w x y z v"] * 12


def played(system, rewards, translations):
    rows = zip(SOURCES, translations, rewards, strict=True)
    entries = [
        JournalEntry(index, source, translation, reward) for index, (source, translation, reward) in enumerate(rows)
    ]
    return StudyRun.from_journal(RunSpec(system), entries, REFERENCES, LAYOUT)


STATIC = played("BNMT-static", [0.2] * 12, ["w x y z u"] * 12)
ORACLE = played("BNMT-oracle", [0.8] * 12, ["w x y z v"] * 12)
NAMES = ComparisonSystems("BNMT-static", "BNMT-oracle", "BNMT-control")
REWARDS = [0.2] * 3 + [0.5] * 2 + [0.2] * 5 + [0.5] * 2  # more for what it has seen before
LEARNER = played("BNMT-EL", REWARDS, ["w x y z u"] * 10 + ["w x y z v w x y z v"] * 2)


def test_held_out_passes_are_scored_by_themselves():
    assert [held_out.length_ratio for held_out in (*LEARNER.passes, *ORACLE.passes)] == [1.0, 2.0, 1.0, 1.0]
    assert LEARNER.passes[0].bleu == pytest.approx(66.874, abs=0.001)
    assert ORACLE.passes[1].bleu == pytest.approx(100)


def test_first_seen_sources_and_repeats_are_told_apart():
    assert LEARNER.by_novelty(SOURCES) == (pytest.approx(0.2), pytest.approx(0.5))


def test_a_row_tells_the_difference_the_gap_and_the_length():
    lines = table([STATIC, LEARNER, ORACLE], NAMES, SOURCES).splitlines()
    assert len(lines) == 5
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells[:3] == ["BNMT-EL", "1", "0.3000"]
    assert cells[3].startswith("+0.1000 (")
    assert cells[4:7] == ["16.7 %", "0.2000", "0.5000"]
    assert cells[-1] == "2.00"


def test_where_there_is_a_control_all_are_compared_with_it():
    control = played("BNMT-control", [0.25] * 12, ["w x y z u"] * 12)
    lines = table([STATIC, control, LEARNER, ORACLE], NAMES, SOURCES).splitlines()
    header, learner = ([cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], lines[4]))
    assert header[3:6] == ["minus BNMT-static (95 %)", "minus BNMT-control (95 %)", "of the gap closed"]
    assert learner[4].startswith("+0.0500 (")
    assert learner[5] == "16.7 %"


def carried_out(folder, *options):
    """What a study of a system that needs no training says, in ``folder``."""
    floor = Study("?", folder, ["copy-source"], ComparisonSystems("copy-source", "BNMT-oracle"), departments=3)
    small = ["--rounds", "2803", "--out-of-domain", "20", "--seeds", "1", "--out", str(folder / "out")]
    with patch.object(sys, "argv", ["study", *small, *options]):
        carry_out(floor)
    return (folder / "out" / "table.md").read_text()


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return folder, carried_out(folder, "--task-seed", "5")


def test_a_folder_stays_with_the_options_that_it_was_begun_with(begun):
    folder, report = begun
    assert "2,803 rounds; --task-seed 5 --rounds 2803 --out-of-domain 20 --departments 3 --steps 4000" in report
    with pytest.raises(SystemExit, match=r"was begun with .*'task_seed': 5.*: give another --folder"):
        carried_out(folder, "--task-seed", "6")


def test_a_run_that_failed_is_part_of_the_result(begun):
    folder, _ = begun
    failed = RunStatus(RunSpec("BNMT-EL"), RunState.FAILED, message="its process died (1)")
    finished_before = RunStatus(RunSpec("copy-source"), RunState.INTERRUPTED)
    ends = [finished_before, failed]
    with patch("benchmarks.studies.study.compete", return_value=ends), pytest.raises(SystemExit) as ending:
        carried_out(folder, "--task-seed", "5")
    assert ending.value.code == 1
    report = (folder / "out" / "table.md").read_text()
    assert report.endswith("--steps 4000\n- BNMT-EL: failed its process died (1)\n")


def test_what_came_of_a_run_can_be_kept(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    found = StudyRun.read(path)
    assert (found.spec, found.passes, found.rewards.tolist()) == (LEARNER.spec, LEARNER.passes, REWARDS)


def test_a_file_that_is_no_run_is_named(tmp_path):
    path = tmp_path / "BNMT-EL.json.gz"
    LEARNER.write(path)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[:-20], gzip.compress(b"[]"), gzip.compress(b"{}")):
        path.write_bytes(damaged)
        with pytest.raises(
            SystemExit, match=r"BNMT-EL\.json\.gz is no run of a study \(.*\): remove it, and it is played"
        ):
            StudyRun.read(path)
    (tmp_path / "copied.json.gz").write_bytes(whole)
    with pytest.raises(SystemExit, match=r"copied\.json\.gz is no run of a study \(it is BNMT-EL\)"):
        StudyRun.read(tmp_path / "copied.json.gz")


STREAM = TaskIdentity({"task_seed": 5}, "a digest")
BEGUN_WITH = {"bnmt": "a1", "oracle": "b2"}
RUNS = [RunSpec(name) for name in ("copy-source", "BNMT-static", "BNMT-oracle", "BNMT-EL")]


@pytest.fixture
def archive(tmp_path):
    made = SavedRuns(tmp_path / "runs")
    made.save([STATIC, ORACLE], STREAM, BEGUN_WITH)
    return made


def test_an_archive_has_what_was_saved_last_and_no_more(archive):
    assert [run.spec.system for run in archive.find(RUNS, STREAM, LAYOUT)] == ["BNMT-static", "BNMT-oracle"]
    archive.save([LEARNER], STREAM, BEGUN_WITH)
    assert [run.spec.system for run in archive.all()] == ["BNMT-EL"]


def test_an_empty_archive_has_nothing(tmp_path):
    empty = SavedRuns(tmp_path / "nowhere")
    assert empty.find(RUNS, STREAM, LAYOUT) == []
    assert empty.join([], {"bnmt": "c3"}) == {"bnmt": "c3"}


@pytest.mark.parametrize("other", [replace(STREAM, task="another"), replace(STREAM, options={"task_seed": 6})])
def test_runs_of_another_stream_are_refused(archive, other):
    with pytest.raises(SystemExit, match=r"runs are of TaskIdentity\(.*5.*\), not of .*: give another --out"):
        archive.find(RUNS, other, LAYOUT)


def test_a_run_that_is_not_whole_is_refused(archive):
    with pytest.raises(SystemExit, match=r"BNMT-static\.json\.gz is not a whole run: remove it"):
        archive.find(RUNS, STREAM, Layout(blocks=3, block=2, gap=8))


def test_runs_that_began_with_another_seed_model_are_refused(archive):
    kept = archive.find(RUNS, STREAM, LAYOUT)
    assert archive.join(kept, {"bnmt": "a1", "wnmt": "c3"}) == {"bnmt": "a1", "oracle": "b2", "wnmt": "c3"}
    with pytest.raises(SystemExit, match=r"began with another seed model bnmt than is here: .* without --keep"):
        archive.join(kept, {"bnmt": "another"})


@pytest.mark.parametrize("told", ['{"stream": {"options": {"task_seed": 5}, "task": "a digest"}, "models": {}}'])
def test_runs_that_do_not_tell_what_they_began_with_are_refused(archive, told, tmp_path):
    (tmp_path / "runs" / "origin.json").write_text(told)
    with pytest.raises(SystemExit, match=r"began with an unknown seed model bnmt: .* without --keep"):
        archive.find(RUNS, STREAM, LAYOUT)


def test_what_no_kept_run_began_with_does_not_matter(archive):
    static = [run for run in archive.find(RUNS, STREAM, LAYOUT) if run.spec.system == "BNMT-static"]
    assert archive.join(static, {"oracle": "another"}) == {"bnmt": "a1", "oracle": "another"}


@pytest.mark.parametrize("told", [None, "", "[]", "{}", '{"stream": 5, "models": {}}'])
def test_runs_that_do_not_tell_where_they_are_from_are_refused(archive, told, tmp_path):
    path = tmp_path / "runs" / "origin.json"
    path.unlink() if told is None else path.write_text(told)
    with pytest.raises(SystemExit, match=r"origin\.json does not tell where these runs are from"):
        archive.find(RUNS, STREAM, LAYOUT)


def test_what_was_kept_is_not_played_again(begun):
    folder, report = begun
    with patch("benchmarks.studies.study.compete", side_effect=AssertionError("it was kept")):
        assert carried_out(folder, "--task-seed", "5", "--folder", str(folder / "elsewhere"), "--keep") == report


def test_runs_of_another_stream_are_not_mixed_with_those_that_were_kept(begun):
    folder, _ = begun
    with pytest.raises(SystemExit, match=r"runs are of .*'task_seed': 5.*, not of .*'task_seed': 6"):
        carried_out(folder, "--task-seed", "6", "--folder", str(folder / "another"), "--keep")


def test_a_study_asks_its_archive_whether_all_began_alike(begun):
    folder, _ = begun
    refused = patch.object(SavedRuns, "join", side_effect=SystemExit("began otherwise"))
    with refused, pytest.raises(SystemExit, match="began otherwise"):
        carried_out(folder, "--task-seed", "5", "--keep")


def test_a_seed_model_is_told_with_what_it_was_made_of(tmp_path):
    competition, task = Mock(models=tmp_path), Mock(path=tmp_path)
    with (
        patch.object(ModelStore, "digest", lambda _, model: f"of {model}"),
        patch("benchmarks.studies.study.train_seed_models"),
    ):
        models = _make_models(competition, [RunSpec("BNMT-oracle")], task, 1)
    assert models == {"bnmt": "of bnmt", "oracle": "of oracle"}


def test_a_whole_run_that_began_with_another_seed_model_is_refused(tmp_path):
    """A seed model was made again: the journal is whole, but it did not begin with the model that is here."""
    systems = ("--task-seed", "5", "--systems", "copy-source", "word-for-word")
    before = carried_out(tmp_path, *systems)
    save_dictionary({"rot": "red"}, tmp_path / "models" / "dictionary.model")
    with (
        patch("benchmarks.studies.study.compete") as competed,
        pytest.raises(SystemExit, match=r"word-for-word.*, or with another seed model .*: give another --folder"),
    ):
        carried_out(tmp_path, *systems)
    assert not competed.called
    assert (tmp_path / "out" / "table.md").read_text() == before


def test_without_what_all_are_compared_with_there_is_no_table(begun):
    folder, _ = begun
    failed = RunStatus(RunSpec("copy-source"), RunState.FAILED, message="its journal has a gap")
    told = "^copy-source, which all others are compared with, failed: its journal has a gap$"
    with patch("benchmarks.studies.study.compete", return_value=[failed]), pytest.raises(SystemExit, match=told):
        carried_out(folder, "--task-seed", "5")


@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        ("snapshot", "^copy-source has not finished yet: the same command goes on$"),
        ("journal.jsonl", "^copy-source has not finished yet: the same command goes on$"),
        (
            "run",
            "run is not a snapshot .*; remove it: the snapshot .* says the same; or give the study another --folder$",
        ),
    ],
)
def test_a_damaged_file_of_a_run_is_told_without_a_traceback(begun, damaged, told, tmp_path):
    folder = shutil.copytree(begun[0], tmp_path / "study")
    path = folder / "runs" / "dev" / "copy-source" / damaged
    path.write_bytes(path.read_bytes()[2:])
    stopped = RunStatus(RunSpec("copy-source"), RunState.INTERRUPTED)
    with patch("benchmarks.studies.study.compete", return_value=[stopped]), pytest.raises(SystemExit, match=told):
        carried_out(folder, "--task-seed", "5")


@pytest.mark.parametrize("lines", [None, 2802])
def test_a_journal_that_lost_lines_is_not_taken_for_a_finished_run(begun, lines, tmp_path):
    folder = shutil.copytree(begun[0], tmp_path / "study")
    path = folder / "runs" / "dev" / "copy-source" / "journal.jsonl"
    whole = path.read_text().splitlines(keepends=True)
    path.unlink() if lines is None else path.write_text("".join(whole[:lines]))
    stopped = RunStatus(RunSpec("copy-source"), RunState.INTERRUPTED)
    told = "^copy-source has not finished yet: the same command goes on$"
    with patch("benchmarks.studies.study.compete", return_value=[stopped]), pytest.raises(SystemExit, match=told):
        carried_out(folder, "--task-seed", "5")


def test_what_a_run_began_with_is_kept(begun):
    folder, _ = begun
    carried_out(folder, "--task-seed", "5", "--systems", "copy-source", "word-for-word")
    told = json.loads((folder / "out" / "runs" / "origin.json").read_text())
    assert told["models"] == {
        "dictionary": hashlib.sha256((folder / "models" / "dictionary.model").read_bytes()).hexdigest()
    }


def test_systems_are_ordered_by_the_mean_over_their_seeds():
    again = played("BNMT-EL", [0.1] * 12, ["w x y z u"] * 12)
    assert means([STATIC, LEARNER, again]) == pytest.approx({"BNMT-static": 0.2, "BNMT-EL": 0.2})
    assert ordering(means([STATIC, ORACLE])) == "BNMT-oracle 0.8000 > BNMT-static 0.2000"


def test_a_summary_has_a_row_for_each_system_and_a_range_over_its_seeds():
    again = played("BNMT-EL", [0.1] * 12, ["w x y z u"] * 12)
    lines = summary({"shop": [STATIC, LEARNER, again, ORACLE], "news": [STATIC, ORACLE]}, NAMES).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][:6] == [
        "system", "shop: reward", "shop: of the gap", "shop: held-out BLEU", "shop: length", "news: reward",
    ]  # fmt: skip
    assert [row[0] for row in rows[2:]] == ["BNMT-oracle", "BNMT-static", "BNMT-EL"]
    last = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)
    assert rows[4] == ["BNMT-EL", "0.2000", "-16.7 to 16.7 %", f"{last:.1f} to 66.9", "1.00 to 2.00", "", "", "", ""]
    assert rows[3][5:] == ["0.2000", "0.0 %", "66.9", "1.00"]


def test_a_summary_needs_what_all_are_measured_by(tmp_path):
    archive = SavedRuns(tmp_path / "shop" / "runs")
    archive.save([STATIC], STREAM, {})
    with pytest.raises(SystemExit, match="shop has no run of BNMT-oracle"):
        kept([tmp_path / "shop"], NAMES)
    archive.save([STATIC, ORACLE], STREAM, {})
    assert [run.spec.system for run in kept([tmp_path / "shop"], NAMES)["shop"]] == ["BNMT-oracle", "BNMT-static"]


def test_a_curve_tells_what_was_won_per_round_so_far():
    points = list(gains([LEARNER], STATIC))
    assert points == [{"system": "BNMT-EL", "seed": 1, "rounds": 12, "gain": 0.1}]  # too short for more than its end


def test_every_held_out_pass_is_a_point():
    last = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)  # twice as long as its reference
    assert [point["bleu"] for point in passes([ORACLE, LEARNER])] == [100.0, 100.0, 66.874, round(last, 3)]


def test_figures_name_what_can_be_told_apart(tmp_path):
    gain, held_out = save_figures([STATIC, LEARNER, ORACLE], NAMES, tmp_path)
    for path in (gain, held_out):
        drawing = path.read_text()
        assert all(name in drawing for name in ("BNMT-static", "BNMT-EL"))
        assert "BNMT-oracle" not in drawing
