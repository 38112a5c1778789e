"""Without extras: the command line starts, and a command that needs one says which."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from simulator.cli.extras import EXTRA_OF, describe_missing

# Runs the command line as if no package of an extra were installed.
PROGRAM = """
import sys
from simulator.cli import run
from simulator.cli.extras import EXTRA_OF
assert not EXTRA_OF.keys() & sys.modules.keys(), EXTRA_OF.keys() & sys.modules.keys()
sys.modules.update(dict.fromkeys(EXTRA_OF))
sys.exit(run(sys.argv[1:]))
"""


def command(*arguments, folder):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_command_line_loads_no_package_of_an_extra(tmp_path):
    assert command("--version", folder=tmp_path) == (0, "banditmt 0.1.0\n")


@pytest.mark.parametrize("arguments", [["systems"], ["play", "copy-source", "--phase", "dev"], ["demo"]])
def test_a_command_of_learners_names_their_extra(arguments, tmp_path):
    code, printed = command(*arguments, folder=tmp_path)
    assert (code, printed.startswith("banditmt: this needs ")) == (1, True), printed
    assert printed.endswith(": pip install 'banditmt[learners]'\n")


def test_any_other_missing_module_is_a_bug_and_stays_one():
    assert describe_missing(ModuleNotFoundError("No module named 'nowhere'", name="nowhere")) is None


def test_the_extras_are_those_of_the_distribution():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    for package, extra in EXTRA_OF.items():
        requirements = project["optional-dependencies"][extra]
        assert any(line.startswith(package.replace("_", "-")) for line in requirements), package
