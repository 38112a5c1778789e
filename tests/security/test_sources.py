"""The sources contain no secrets, and no calls that execute data."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("task", "lambdas", "leaderboard", "corpora", "learners", "simulator", "client_sdk/banditmt_client")

SECRETS = {
    "an AWS key": r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a banditmt API key": r"\bbmt_[A-Za-z0-9_-]{43}\b",
    "a token of a code host": r"\b(gh[pousr]_[A-Za-z0-9]{36}|glpat-[A-Za-z0-9_-]{20}|pypi-[A-Za-z0-9_-]{50,})",
    "a password in a URL": r"\b[a-z][a-z0-9+]*://[^\s/:@'\"{}<>]+:[^\s/:@'\"{}<>]+@[a-z0-9]",
}
MADE_UP = {*("bmt_" + letter * 43 for letter in "Ax0"), "http://user:pa55word@h"}  # as tests write them


def secrets_in(text):
    return [
        (kind, found[0])
        for kind, pattern in SECRETS.items()
        for found in re.finditer(pattern, text)
        if found[0] not in MADE_UP
    ]


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout, so the tracked files are unknown")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_no_tracked_file_contains_a_secret():
    found = {}
    for path in tracked():
        if path.is_file() and (secrets := secrets_in(path.read_bytes().decode("utf-8", "replace"))):
            found[str(path.relative_to(ROOT))] = [kind for kind, _ in secrets]
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "AKIA" + "J7" * 8,
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "bmt_" + "aB3" * 14 + "x",
        "ghp_" + "a1" * 18,
        "postgres://me:" + "secret@db",
    ],
)
def test_a_planted_secret_is_found(planted):
    assert len(secrets_in(f"before {planted} after")) == 1


# Names whose use would execute data or skip a verification.
FORBIDDEN = {
    *("pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "telnetlib"),
    *("eval", "exec", "os.system", "os.popen", "tempfile.mktemp"),
    *("torch.load", "torch.hub", "numpy.load", "np.load", "yaml.load", "yaml.unsafe_load", "yaml.full_load"),
    *("xml.etree", "xml.dom", "xml.sax", "lxml"),  # XML is read with expat, with entities refused
}
FORBIDDEN_ARGUMENTS = {("shell", True), ("verify", False), ("allow_pickle", True), ("weights_only", False)}


def uses(tree):
    """All names that are imported or called, and keyword arguments with constant values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            yield ast.unparse(node.func)
            yield from ((each.arg, each.value.value) for each in node.keywords if isinstance(each.value, ast.Constant))


def is_forbidden(use):
    if isinstance(use, tuple):
        return use in FORBIDDEN_ARGUMENTS
    return any(use == name or use.startswith(f"{name}.") for name in FORBIDDEN)


def test_no_shipped_code_executes_data_or_skips_verification():
    found = {}
    for package in SHIPPED:
        for path in (ROOT / package).rglob("*.py"):
            if bad := [use for use in uses(ast.parse(path.read_text(encoding="utf-8"))) if is_forbidden(use)]:
                found[str(path.relative_to(ROOT))] = bad
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "torch.load(x)",
        "eval(x)",
        "run(x, shell=True)",
        "get(x, verify=False)",
    ],
)
def test_a_forbidden_call_is_found(code):
    assert any(is_forbidden(use) for use in uses(ast.parse(code)))
