"""``banditmt evaluate off-policy``: estimates for systems that were not played, from the log of another."""

import json

import pytest

from simulator import cli


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    with path.open("w") as file:
        for number in range(60):
            copies = number % 2 == 0
            row = {
                "source": f"rot {number}",
                "translation": f"rot {number}" if copies else f"red {number}",
                "observed_reward": 0.25 if copies else 0.75,
                "log_probability": -0.6931471805599453,
                "system": "BNMT-EL",
            }
            file.write(json.dumps(row) + "\n")
    return path


def run(capsys, *arguments, code=0):
    assert cli.run(["evaluate", "off-policy", *map(str, arguments)]) == code
    return capsys.readouterr()


def test_a_system_is_estimated_from_a_log(log, tmp_path, capsys):
    report = json.loads(run(capsys, "copy-source", "--log", log, "--models", tmp_path, "--json").out)
    (row,) = report["rows"]
    assert row["system"] == "copy-source"
    assert row["IPS"]["value"] == pytest.approx(0.25)
    assert row["SNIPS"]["value"] == pytest.approx(0.25)
    assert row["agreeing rounds"]["value"] == 30
    assert row["effective rounds"]["value"] == pytest.approx(30)
    assert report["notes"] == ["the log earned 0.5000 per round, in 60 rounds"]


def test_the_table_has_intervals_and_a_figure_can_be_drawn(log, tmp_path, capsys):
    figure = tmp_path / "figure.svg"
    shown = run(capsys, "copy-source", "--log", log, "--models", tmp_path, "--figure", figure).out
    assert "effective" in shown
    assert "[low, high]: 95 % interval" in shown
    assert figure.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["nope"], 2, "there is no system 'nope'"),
        (["BNMT-static"], 1, "there is no seed model bnmt in"),
        (["copy-source", "--logged-by", "X"], 1, "has no rounds of X; its systems are BNMT-EL"),
    ],
)
def test_wrong_usage_is_one_line(arguments, code, complaint, log, tmp_path, capsys):
    error = run(capsys, *arguments, "--log", log, "--models", tmp_path, code=code).err
    assert complaint in error
    assert error.count("\n") == 1
