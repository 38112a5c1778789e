"""What the tests take from npm, installed when it is first needed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "node"


def missing(reason: str) -> None:
    """Without a tool, a person may still run the other tests; continuous integration may not."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def install() -> None:
    """See that everything in package.json is there."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    if all((HERE / "node_modules" / name).is_dir() for name in wanted):
        return
    if not shutil.which("npm"):
        missing("npm is not installed")
    done = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        missing(f"npm ci failed: {done.stderr.strip().splitlines()[-1:]}")
