"""``make audit`` distinguishes no known vulnerability, a known one, and a database that cannot be reached."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("says", "exits", "code", "end"),
    [
        ("No known vulnerabilities found", 0, 0, "b.lock: No known vulnerabilities found"),
        ("Found 1 known vulnerability in 1 package", 1, 1, "a.lock: Found 1 known vulnerability in 1 package"),
        (
            "ConnectionError: no route to host",
            1,
            3,
            "not audited: the vulnerability database could not be reached",
        ),
    ],
)
def test_the_outcome_of_an_audit(tmp_path, says, exits, code, end):
    stand_in = tmp_path / "pip-audit"
    stand_in.write_text(f"#!/bin/sh\necho '{says}'\nexit {exits}\n")
    stand_in.chmod(0o755)
    done = subprocess.run(
        [ROOT / ".ci" / "audit", sys.executable, "a.lock", "b.lock"],
        cwd=tmp_path,
        env={**os.environ, "PIP_AUDIT": str(stand_in)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, end)
