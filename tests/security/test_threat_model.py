"""Every row of docs/security.md names tests, and these tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from corpora.readers.gettext_catalogues import MAX_MESSAGE_CHARACTERS, MAX_SHARING
from corpora.readers.xml_events import MAX_TOKEN_BYTES
from lambdas.service import STALENESS_SECONDS
from simulator.cloud.http_server import ServerLimits
from task.bounded_gzip import MAX_COMPRESSION_RATIO, MIN_UNPACKED_BOUND
from task.layout import MAX_HELD_OUT_PASSES, MAX_ROUNDS
from tests.security.test_tampering import TAMPERINGS

ROOT = Path(__file__).parents[2]
LINES = [
    line
    for line in (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not re.match(r"\|[-| ]+\|$", line)
]
CLAIMS = [line for line in LINES if not line.endswith("| test |")]  # without the headings
NAMED = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")


@cache
def names_in(path):
    """The names of all tests in a file: functions, classes, and methods as Class::method."""
    return frozenset(_names_in(path))


def _names_in(path):
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
        assert name in names_in(path), f"{path} has no {name}"


SERVER = ServerLimits()


@pytest.mark.parametrize(
    "words",
    [
        f"a revoked key works for {STALENESS_SECONDS:.0f} more seconds at most",
        f"an address may open {SERVER.connections_per_address} at once and then "
        f"{SERVER.unsuccessful_connections_per_second:.0f} per second",
        f"names each of {len(TAMPERINGS)} changes",
        f"at most {MAX_HELD_OUT_PASSES:,} held-out passes and {MAX_ROUNDS:,} rounds",
        f"({MAX_COMPRESSION_RATIO} times its size, or {MIN_UNPACKED_BOUND >> 20} MiB)",
        f"a token has at most {MAX_TOKEN_BYTES >> 20} MiB",
        f"have at most {MAX_MESSAGE_CHARACTERS >> 20} MiB",
    ],
)
def test_numbers_are_those_of_the_code(words):
    assert any(words in claim for claim in CLAIMS)


def test_limits_that_are_said_in_words():
    """An address has at most half of all connections, and is read again a second after a 429."""
    assert SERVER.connections_per_address * 2 == SERVER.connections
    assert SERVER.throttled_seconds == 1
    assert MAX_SHARING == 2


def test_there_are_enough_claims():
    assert len(CLAIMS) > 70
