"""``banditmt systems`` and ``pretrain``: the list of systems, and the command line that trains their seed models."""

import json

import pytest

from learners.systems.registry import SYSTEMS
from simulator import cli

WRONG_STEPS = "banditmt: Invalid value for '--steps': Input should be"


def printed(capsys, arguments, code=0):
    assert cli.run(arguments) == code
    return capsys.readouterr()


def test_systems_are_listed_with_their_origin_seed_models_control_and_family(capsys):
    shown = printed(capsys, ["systems"]).out
    assert "BNMT-EL-VALUE" in shown
    listed = json.loads(printed(capsys, ["systems", "--json"]).out)
    assert listed[0] == {
        "name": "copy-source",
        "summary": "proposes the source: the floor",
        "source": "Sokolov et al. 2017, Table 3",
        "needs": [],
        "stochastic": False,
        "oracle": False,
        "control": None,
        "family": None,
    }
    assert next(one for one in listed if one["name"] == "SMT-EL-CV-ADAM")["control"] == "SMT-sampling"
    assert next(one for one in listed if one["name"] == "SMT-k-best-oracle")["family"] == {
        "name": "SMT",
        "static": "SMT-static",
        "oracle": "SMT-oracle",
        "k_best_oracle": "SMT-k-best-oracle",
        "full_information": "SMT-full-information",
        "continued_training": None,
    }
    assert [one["name"] for one in listed if one["oracle"]] == [
        "BNMT-oracle",
        "BNMT-k-best-oracle",
        "BNMT-full-information",
        "SMT-oracle",
        "SMT-k-best-oracle",
        "SMT-full-information",
    ]


def test_without_a_terminal_each_system_has_a_line(capsys):
    lines = printed(capsys, ["systems"]).out.splitlines()
    assert len(lines) == len(SYSTEMS) + 4  # three rules and the headings
    assert [cell.strip() for cell in lines[3].split("│")] == [
        "",
        "copy-source",
        "proposes the source: the floor",
        "Sokolov et al. 2017, Table 3",
        "-",
        "-",
        "",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["pretrain", "nope", "--task", "x"], 2, "banditmt: there is no system 'nope'; there are copy-source"),
        (["pretrain", "--task", "nowhere"], 1, "banditmt: nowhere is not a task"),
        (
            ["pretrain", "--task", "x", "--size", "huge"],
            2,
            "banditmt: Invalid value: --size is one of tiny, small, paper",
        ),
        (
            ["pretrain", "--task", "x", "--architecture", "lstm"],
            2,
            "banditmt: Invalid value: --architecture is one of gru, transformer",
        ),
        (["pretrain", "--task", "x", "--steps", "0"], 2, f"{WRONG_STEPS} greater than or equal to 1"),
        (["pretrain", "--task", "x", "--steps", "-5"], 2, f"{WRONG_STEPS} greater than or equal to 1"),
        (["pretrain", "--task", "x", "--steps", "many"], 2, f"{WRONG_STEPS} a valid integer"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(arguments, code, complaint, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert printed(capsys, arguments, code).err.startswith(complaint)
