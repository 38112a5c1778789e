"""Rows for people: nothing is cut, however narrow the terminal."""

import pytest

from simulator.cli.row_tables import print_rows


@pytest.mark.parametrize("width", [40, 80])
def test_long_names_are_folded_not_cut(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    names = {"run": "jcr6ixy7neocleclt457v2gqti", "system": "BNMT-EL-VALUE-with-a-very-long-name" * 2, "rounds": 4_000}
    print_rows([names], list(names), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in "".join(lines)
    assert "".join(lines[1:]).replace(" ", "").count("BNMT-EL-VALUE") >= 1
