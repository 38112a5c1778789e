"""What every command has in common: help, version, completion, and errors of one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from simulator import cli
from task.layout import LayoutError
from tests.client_sdk.fake_service import KEY, serving

BANDITMT = Path(sys.executable).with_name("banditmt")


def complaint(capsys):
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    return lines[0]


def test_alone_it_lists_the_commands(capsys):
    assert cli.run([]) == 0
    shown = capsys.readouterr().out
    assert "Usage: banditmt [OPTIONS] COMMAND" in shown
    assert "demo" in shown


def test_version(capsys):
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == "banditmt 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "banditmt: No such command 'nope'. (see: banditmt --help)"),
        (["demo", "--nope"], "banditmt: No such option: --nope (see: banditmt demo --help)"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert cli.run(arguments) == 2
    assert complaint(capsys) == message


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (FileNotFoundError(2, "No such file", "task"), 1, "banditmt: task: no such file"),
        (OSError("the network is down"), 1, "banditmt: the network is down"),
        (LayoutError("two\nlines"), 1, "banditmt: two lines"),
        (KeyboardInterrupt(), 130, "banditmt: interrupted"),
        (typer.BadParameter("7 is too many"), 2, "banditmt: Invalid value: 7 is too many"),
    ],
)
def test_what_a_user_can_mend_is_one_line(error, code, message, capsys, monkeypatch):
    def fail(*_arguments, **_options):
        raise error

    failing = typer.Typer(pretty_exceptions_enable=False)
    failing.command()(lambda: fail())
    monkeypatch.setattr(cli, "app", failing)
    assert cli.run(["--"]) == code
    assert complaint(capsys).startswith(message)


def test_a_bug_keeps_its_traceback(monkeypatch):
    def bug():
        raise ZeroDivisionError

    broken = typer.Typer(pretty_exceptions_enable=False)
    broken.command()(bug)
    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ZeroDivisionError):
        cli.run(["--"])


def test_the_console_script_exits_with_the_code():
    wrong = subprocess.run([BANDITMT, "nope"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "banditmt: No such command 'nope'. (see: banditmt --help)\n"


def test_shell_completion_knows_the_commands():
    asking = os.environ | {"_BANDITMT_COMPLETE": "complete_bash", "COMP_WORDS": "banditmt de", "COMP_CWORD": "1"}
    answer = subprocess.run([BANDITMT], env=asking, capture_output=True, text=True, check=True)
    assert "demo" in answer.stdout.split()


@pytest.mark.parametrize("group", ["admin", "corpus"])
def test_a_group_alone_shows_its_help_and_is_wrong_usage(group, capsys):
    assert cli.run([group]) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"Usage: banditmt {group} [OPTIONS] COMMAND [ARGS]..."


def test_a_terminal_without_unicode_is_served_too():
    plain = os.environ | {"PYTHONIOENCODING": "ascii"}
    shown = subprocess.run([BANDITMT, "systems"], env=plain, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_an_error_with_text_of_a_service_has_no_escape_sequences(monkeypatch, capsys):
    with serving(["eins"]) as server:
        phase = {**server.service.phase(), "phase": "\u202edev"}
        monkeypatch.setattr(server.service, "phase", lambda: phase)
        assert cli.run(["play", "copy-source", "--phase", "mock", "--url", server.url, "--api-key", KEY]) == 2
    assert "\\u202edev" in capsys.readouterr().err
    assert cli._print_error("\x1b[31mred\x1b]0;title\x07", 1) == 1
    assert capsys.readouterr().err == "banditmt: \\x1b[31mred\\x1b]0;title\\x07\n"
