"""The commands that make seed models and let systems play."""

import json

import pytest

from simulator import cli
from tests.simulator.games import write_task


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return str(write_task(tmp_path_factory.mktemp("learning") / "task"))


@pytest.fixture
def places(tmp_path):
    return ["--store", f"sqlite:{tmp_path / 'store'}", "--models", str(tmp_path / "models"), "--runs", str(tmp_path)]


def printed(capsys, arguments, code=0):
    assert cli.run(arguments) == code
    return capsys.readouterr()


def test_systems_are_listed(capsys):
    shown = printed(capsys, ["systems"]).out
    assert "BNMT-EL-VALUE" in shown
    listed = json.loads(printed(capsys, ["systems", "--json"]).out)
    assert listed[0] == {
        "name": "copy-source",
        "summary": "proposes the source: the floor",
        "source": "WMT 2017 task",
        "needs": [],
    }


def test_pretrain_play_compete(capsys, task, places, tmp_path):
    making = ["pretrain", "BNMT-static", "--task", task, "--models", str(tmp_path / "models")]
    assert printed(capsys, [*making, "--size", "tiny", "--steps", "5"]).out.endswith("models: bnmt\n")
    assert printed(capsys, making).out.endswith("models: bnmt\n")  # at once
    played = printed(capsys, ["play", "BNMT-static", "--phase", "mock", "--task", task, *places]).out
    assert played.startswith("BNMT-static: finished, 5 rounds mean reward 0.")
    competing = ["compete", "copy-source", "WNMT-EL", "--phase", "mock", *places]
    ends = json.loads(printed(capsys, [*competing, "--processes", "1", "--json"], code=1).out)
    assert [(end["name"], end["state"], end["rounds"]) for end in ends] == [
        ("copy-source", "finished", 5),
        ("WNMT-EL", "failed", 0),
    ]
    assert "make it with banditmt pretrain" in ends[1]["message"]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["play", "nope", "--phase", "dev"], 1, "banditmt: there is no system 'nope'; there are copy-source"),
        (["compete", "nope", "--phase", "dev"], 1, "banditmt: there is no system 'nope'; there are copy-source"),
        (["pretrain", "--task", "nowhere"], 1, "banditmt: nowhere is not a task"),
        (
            ["pretrain", "--task", "x", "--size", "huge"],
            2,
            "banditmt: Invalid value: --size is one of tiny, small, paper",
        ),
        (["play", "copy-source"], 2, "banditmt: Missing option '--phase'"),
        (
            ["play", "copy-source", "--phase", "dev", "--task", "x", "--url", "http://localhost"],
            2,
            "banditmt: Invalid value: --task is for playing in process",
        ),
        (["play", "copy-source", "--phase", "dev", "--url", "http://localhost:9"], 1, "banditmt: no API key"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(arguments, code, complaint, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
    assert printed(capsys, arguments, code).err.startswith(complaint)


def test_a_phase_that_is_not_there_is_said_in_a_line(capsys, places):
    assert "banditmt: " in printed(capsys, ["play", "copy-source", "--phase", "dev", *places], code=1).err
