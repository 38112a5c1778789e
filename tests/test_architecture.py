"""The packages depend on each other only as CONTRIBUTING.md shows, and document themselves."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PACKAGES = ["banditmt_client", "corpora", "lambdas", "leaderboard", "learners", "simulator", "task"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED_EXTRAS = ["learners", "figures", "parquet", "dev"]  # the others have lock files of their own
FOLDERS = ["corpora", "lambdas", "leaderboard", "learners", "simulator", "task", "client_sdk/banditmt_client"]


def test_packages_depend_only_on_what_the_contracts_allow():
    # in a separate process, because import-linter reconfigures logging
    linter = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert f"{len(PYPROJECT['tool']['importlinter']['contracts'])} kept, 0 broken" in checked.stdout


def test_every_package_is_under_a_contract():
    contracts = PYPROJECT["tool"]["importlinter"]
    bound = {module for c in contracts["contracts"] for module in c.get("source_modules", []) + c.get("modules", [])}
    assert contracts["root_packages"] == PACKAGES
    assert bound & set(PACKAGES) == set(PACKAGES) - {"simulator"}  # which may depend on all others


def imported(folder, without=()):
    """Return the names of the modules that the files of a folder import, without the files of these names."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        if path.name in without:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_learners_use_only_the_metrics_of_the_leaderboard():
    used = {name for name in imported("learners") if name.startswith("leaderboard")}
    assert all(name.startswith("leaderboard.metrics") for name in used), used


def test_the_kernel_needs_only_the_standard_library():
    packages = {name.partition(".")[0] for name in imported("task")}
    assert packages - sys.stdlib_module_names <= {"task"}


def test_the_sdk_needs_only_requests_and_its_dependencies():
    modules = imported("client_sdk/banditmt_client", without=["gymnasium.py"])  # which is behind an extra
    assert not any("gymnasium" in name for name in modules)
    packages = {name.partition(".")[0] for name in modules}
    assert packages - sys.stdlib_module_names <= {"banditmt_client", "requests", "urllib3"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_what_belongs_there_and_what_does_not(package):
    description = importlib.import_module(package).__doc__
    assert description
    assert len(description.split()) > 25


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_has_a_docstring(folder):
    for path in (ROOT / folder).rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path.relative_to(ROOT)} has no docstring"


def test_importing_the_sdk_imports_no_large_library():
    program = "import sys, banditmt_client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"torch", "boto3", "numpy", "lambdas", "leaderboard", "simulator", "learners", "corpora", "task"} & set(
        loaded
    )


def test_the_lock_pins_every_dependency_exactly_and_the_project_allows_a_range():
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    assert all(line.count("==") == 1 for line in lines)
    pinned = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    extras = PYPROJECT["project"]["optional-dependencies"]
    wanted = [*PYPROJECT["project"]["dependencies"], *(one for name in LOCKED_EXTRAS for one in extras[name])]
    for requirement in map(Requirement, wanted):
        if not requirement.name.startswith("banditmt"):
            assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement
        assert "==" not in str(requirement.specifier)
