"""Every row of docs/security.md names tests, and these tests exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = [
    line
    for line in (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not re.match(r"\|[-| ]+\|$", line)
]
CLAIMS = [line for line in LINES if not line.endswith("| test |")]  # without the headings
NAMED = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")


def names_in(path):
    """The names of all tests in a file: functions, classes, and methods as Class::method."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef))
        if isinstance(node, ast.Assign):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.split("|")[1].strip())
def test_a_claim_names_tests_that_exist(claim):
    named = NAMED.findall(claim.split("|")[3])
    assert named
    assert claim.split("|")[3].count("`") == 2 * len(named)
    for path, name in named:
        assert name in set(names_in(path)), f"{path} has no {name}"


def test_there_are_enough_claims():
    assert len(CLAIMS) > 35
