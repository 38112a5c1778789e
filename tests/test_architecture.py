"""The rooms, and the arrows between them, are what CONTRIBUTING shows and pyproject.toml says."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ["banditmt_client", "corpora", "lambdas", "leaderboard", "learners", "simulator", "task"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = ["corpora", "lambdas", "leaderboard", "learners", "simulator", "task", "client_sdk/banditmt_client"]


def test_the_import_arrows_hold():
    # in a process of its own, because import-linter reconfigures logging for the whole process
    linter = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert f"{len(PYPROJECT['tool']['importlinter']['contracts'])} kept, 0 broken" in checked.stdout


def test_every_room_is_under_a_contract():
    contracts = PYPROJECT["tool"]["importlinter"]
    bound = {module for c in contracts["contracts"] for module in c.get("source_modules", []) + c.get("modules", [])}
    assert contracts["root_packages"] == ROOMS
    assert bound & set(ROOMS) == set(ROOMS) - {"simulator"}  # the only room that may know all others


def imported(folder):
    """The modules that the files of a folder name in their imports."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_learners_know_nothing_of_the_judge_but_its_metrics():
    known = {name for name in imported("learners") if name.startswith("leaderboard")}
    assert all(name.startswith("leaderboard.metrics") for name in known), known


def test_the_kernel_needs_the_standard_library_alone():
    packages = {name.partition(".")[0] for name in imported("task")}
    assert packages - sys.stdlib_module_names <= {"task"}


def test_the_sdk_needs_requests_and_what_comes_with_it():
    packages = {name.partition(".")[0] for name in imported("client_sdk/banditmt_client")}
    assert packages - sys.stdlib_module_names <= {"banditmt_client", "requests", "urllib3"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_lives_there_and_what_does_not(room):
    description = importlib.import_module(room).__doc__
    assert description
    assert len(description.split()) > 25


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_says_in_a_sentence_what_it_is(folder):
    for path in (ROOT / folder).rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path.relative_to(ROOT)} has no docstring"


def test_the_sdk_is_light_to_import():
    program = "import sys, banditmt_client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"torch", "boto3", "numpy", "lambdas", "leaderboard", "simulator", "learners", "corpora", "task"} & set(
        loaded
    )


def test_the_lock_pins_every_dependency_exactly():
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = PYPROJECT["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    names = {name.split("[")[0].split("=")[0].lower() for name in wanted} - {"banditmt-client"}
    assert all(line.count("==") == 1 for line in lines)
    assert names <= pinned
