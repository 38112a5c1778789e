"""``banditmt systems`` and ``pretrain``: the list of systems, and the command line that trains their seed models."""

import io
import json

import pytest
from rich.console import Console

from learners.systems.registry import SYSTEMS
from simulator import cli
from simulator.cli.systems import _table

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
        "post_edits": "SMT-ADAPT-full-information",
        "continued_training": None,
    }
    assert [one["name"] for one in listed if one["oracle"]] == [
        "BNMT-oracle",
        "BNMT-k-best-oracle",
        "BNMT-full-information",
        "SMT-oracle",
        "SMT-k-best-oracle",
        "SMT-full-information",
        "SMT-SPLIT-oracle",
        "SMT-SPLIT-k-best-oracle",
        "SMT-SPLIT-full-information",
        "BNMT-ADAPT-full-information",
        "SMT-FG-UNFAIR",
        "SMT-ADAPT-full-information",
    ]


def test_on_a_narrow_terminal_no_name_is_cut_and_no_line_is_longer():
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(_table(list(SYSTEMS.values()), is_narrow=True))
    lines = console.export_text().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert all(any(f" {name} " in line for line in lines) for name in SYSTEMS)


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


def test_the_settings_of_a_system_are_printed_as_a_file(capsys):
    shown = printed(capsys, ["systems", "--show", "LIMSI-UCB1"]).out
    assert shown == (
        "# LIMSI-UCB1: a regression of the reward rescores the seed system's forest; UCB1 chooses which of both plays\n"
        "# From: Sokolov et al. 2017, section 5.4 (a reconstruction)\n"
        "# Change a setting with --set NAME=VALUE, or in a copy of this file with --config FILE.\n\n"
        "# (a number) as strong as this many observed rounds with reward 0\nridge_penalty = 1.0\n"
    )
    assert printed(capsys, ["systems", "--show", "copy-source"]).out.endswith("# It has no settings.\n")
    listed = json.loads(printed(capsys, ["systems", "--show", "BNMT-EL-VALUE", "--json"]).out)
    assert listed[0] == {
        "name": "batch",
        "default": "8",
        "values": "a whole number",
        "why": "rounds with the same parameters before a step along their mean gradient (ibid., section 7)",
    }
    assert printed(capsys, ["systems", "--show", "nope"], code=2).err.startswith("banditmt: there is no system 'nope'")


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
