"""The folders of seed models and runs, on the command line."""

from pathlib import Path

import pytest

from simulator import cli


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["play", "copy-source", "--phase", "mock"], "--runs"),
        (["compete", "copy-source", "--phase", "mock"], "--runs"),
        (["play", "copy-source", "--phase", "mock"], "--models"),
        (["pretrain", "--task", "x"], "--models"),
    ],
)
@pytest.mark.parametrize("below", ["", "deeper/down"])
def test_a_file_in_place_of_a_folder_is_refused(command, option, below, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").touch()
    assert cli.run([*command, option, str(Path("notes", below))]) == 2
    assert capsys.readouterr().err == (
        f"banditmt: Invalid value for '{option}': notes is a file; name a folder, which is created if it does not exist"
        f" (see: banditmt {command[0]} --help)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
