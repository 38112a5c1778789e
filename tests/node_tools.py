"""The npm packages that tests need, installed when first needed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "node"


def skip_or_fail(reason: str) -> None:
    """Skip the test because a tool is missing; fail it in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def install() -> None:
    """Install the packages of package.json that are missing."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    if all((HERE / "node_modules" / name).is_dir() for name in wanted):
        return
    if not shutil.which("npm"):
        skip_or_fail("npm is not installed")
    done = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        skip_or_fail(f"npm ci failed: {done.stderr.strip().splitlines()[-1:]}")
