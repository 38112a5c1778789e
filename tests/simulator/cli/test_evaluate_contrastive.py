"""``banditmt evaluate contrastive``: sets in both formats, scores from files and programs, and what is refused."""

import json
import sys

import pytest

from leaderboard.metrics.contrastive import parse_group
from simulator.cli import run
from tests.leaderboard.metrics.test_contrastive import balanced_groups, hashed_losses

GROUPS = [
    {"src": "a _eos b", "dst": ["x _eos y", "x _eos z"], "true_ind": 0, "ctx_dist": 1},
    {"src": "c _eos d", "dst": ["u _eos v", "u _eos w"], "true_ind": 1, "ctx_dist": 2},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A published set, the same set as JSON lines, and the losses of a system."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deixis.json").write_text(json.dumps(GROUPS))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(each) + "\n" for each in GROUPS))
    (tmp_path / "mine.txt").write_text("1.5\n2.5\n3\n4\n")
    return tmp_path


def evaluate(capsys, *arguments):
    assert run(["evaluate", "contrastive", *arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    return {row["system"]: {k: v["value"] for k, v in row.items() if k != "system"} for row in report["rows"]}


@pytest.mark.parametrize("name", ["deixis.json", "lines.jsonl"])
def test_both_formats_give_total_and_distances(capsys, folder, name):
    found = evaluate(capsys, "--set", name, "--scores", "mine.txt")
    assert found == {"mine": {"total": 50.0, "1": 100.0, "2": 0.0}}


def test_log_probabilities_are_better_if_higher(capsys, folder):
    found = evaluate(capsys, "--set", "deixis.json", "--scores", "mine.txt", "--higher-is-better")
    assert found["mine"] == {"total": 50.0, "1": 0.0, "2": 100.0}


def test_a_folder_of_sets_has_a_column_for_each(capsys, folder):
    (folder / "sets").mkdir()
    for name in ("deixis", "ellipsis"):
        (folder / "sets" / f"{name}.json").write_text(json.dumps(GROUPS))
    (folder / "both.txt").write_text("1\n2\n4\n3\n2\n1\n3\n4\n")
    assert evaluate(capsys, "--set", "sets", "--scores", "b=both.txt") == {"b": {"deixis": 100.0, "ellipsis": 0.0}}


def test_a_program_scores_the_candidates(capsys, folder):
    code = "import sys\nfor line in sys.stdin:\n source, target = line.split('\\t')\n print(ord(target.strip()[-1]))"
    (folder / "score.py").write_text(code)
    found = evaluate(capsys, "--set", "deixis.json", "--program", f"by-letter={sys.executable} score.py")
    assert found == {"by-letter": {"total": 50.0, "1": 100.0, "2": 0.0}}


def test_lines_for_another_toolkit_are_scored_in_the_same_order(capsys, folder):
    assert run(["evaluate", "contrastive", "--set", "deixis.json", "--lines", "out"]) == 0
    assert "wrote 4 lines to out.src and to out.dst" in capsys.readouterr().out
    assert (folder / "out.src").read_text() == "a _eos b\na _eos b\nc _eos d\nc _eos d\n"
    assert (folder / "out.dst").read_text() == "x _eos y\nx _eos z\nu _eos v\nu _eos w\n"
    assert run(["evaluate", "contrastive", "--set", "deixis.json", "--lines", "out"]) == 1
    assert "out.src: exists already" in capsys.readouterr().err


def test_a_hashed_scorer_without_context_gets_exactly_half_at_every_distance(capsys, folder):
    groups = [group for distance in (1, 2, 3) for group in balanced_groups(30, distance)]
    (folder / "balanced.json").write_text(json.dumps([group.as_dict() for group in groups]))
    (folder / "hash").write_text("".join(f"{loss}\n" for loss in hashed_losses(groups)))
    assert parse_group(groups[0].as_dict()) == groups[0]
    found = evaluate(capsys, "--set", "balanced.json", "--scores", "hash")
    assert found["hash"] == {"total": 50.0, "1": 50.0, "2": 50.0, "3": 50.0}


def test_a_figure(folder):
    arguments = ["--set", "deixis.json", "--scores", "mine.txt", "--figure", "accuracy.svg"]
    assert run(["evaluate", "contrastive", *arguments]) == 0
    assert (folder / "accuracy.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ["--set", "deixis.json"], "give --scores, --program or --model, or --lines"),
        ({}, ["--set", "deixis.json", "--lines", "o", "--scores", "mine.txt"], "--lines writes what is to be scored"),
        ({}, ["--set", "none.json", "--scores", "mine.txt"], "none.json: no such file"),
        ({"s": "1\n2\n3\n"}, ["--set", "deixis.json", "--scores", "s"], "has 3 scores, but the test sets have 4"),
        ({"s": "1\n2\nx\n4\n"}, ["--set", "deixis.json", "--scores", "s"], "s:3: a score is a finite number"),
        ({"s": "1\n2\ninf\n4\n"}, ["--set", "deixis.json", "--scores", "s"], "s:3: a score is a finite number"),
        ({}, ["--set", "deixis.json", "--scores", "mine.txt", "--scores", "mine.txt"], "two systems are called mine"),
        ({"e.json": "[]"}, ["--set", "e.json", "--scores", "mine.txt"], "e.json: has no groups"),
        ({"e.json": "{}"}, ["--set", "e.json", "--scores", "mine.txt"], "is not a JSON array of groups"),
        ({"e.json": "[1]"}, ["--set", "e.json", "--scores", "mine.txt"], "a group is a JSON object"),
        ({"e.json": "["}, ["--set", "e.json", "--scores", "mine.txt"], "e.json: is not JSON"),
        ({"e.jsonl": '\n{"src": 1}\n'}, ["--set", "e.jsonl", "--scores", "mine.txt"], "e.jsonl:2: group 1: a group is"),
        ({}, ["--set", "deixis.json", "--set", "deixis.json", "--scores", "mine.txt"], "second test set with the name"),
        ({"d/x.txt": ""}, ["--set", "d", "--scores", "mine.txt"], "d: has no test set"),
        ({}, ["--set", "deixis.json", "--program", "no-such-program"], "cannot run 'no-such-program'"),
        ({}, ["--set", "deixis.json", "--program", "false"], "'false' ended with code 1"),
        ({}, ["--set", "deixis.json", "--program", "true"], "'true' wrote 0 lines for 4 candidates"),
        ({}, ["--set", "deixis.json", "--program", "cat"], "a score is a finite number, but got 'a _eos b"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(capsys, folder, files, arguments, message):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    assert run(["evaluate", "contrastive", *arguments]) in (1, 2)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
