"""The examples in docs/evaluation.md print what the document says."""

import re
import subprocess
from pathlib import Path

import pytest

from simulator.cli import run

DOCUMENT = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text()
EXAMPLES = re.findall(r"^```console\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
COMMANDS = ["recall", "slope", "reliability", "ter", "repetition", "contrastive"]  # the first of each example


def steps(example):
    """Yield each command of an example, with the lines that it prints."""
    for step in re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]:
        command, *printed = step.splitlines()
        yield command, printed


def test_every_command_has_an_example():
    found = re.findall(r"^\$ banditmt evaluate ([\w-]+)", "".join(EXAMPLES), re.MULTILINE)
    assert set(found) == {"recall", "slope", "reliability", "ter", "sentence-bleu", "repetition", "contrastive"}


@pytest.mark.parametrize("example", EXAMPLES, ids=COMMANDS)
def test_an_example_prints_what_the_document_says(capsys, tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for command, expected in steps(example):
        if command.startswith("banditmt "):
            assert run(command.split()[1:]) == 0
            assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == expected
        else:
            subprocess.run(["sh", "-c", command], check=True, timeout=10)
            assert expected == []
    assert list(tmp_path.iterdir())


SMOOTHINGS = re.findall(r"^\| `([\w-]+)`(?: \(default\))? \| ([\d.]+) \|", DOCUMENT, re.MULTILINE)


def test_the_table_of_smoothings_has_the_scores_of_the_example(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reference").write_text("the cat is on the mat\n")
    (tmp_path / "replaced").write_text("the cat sat on the mat\n")
    assert len(SMOOTHINGS) == 4
    for smoothing, score in SMOOTHINGS:
        command = ["evaluate", "sentence-bleu", "--references", "reference", "--hypotheses", "replaced"]
        assert run([*command, "--smoothing", smoothing]) == 0
        assert f"replaced   {score}  38.0" in capsys.readouterr().out
