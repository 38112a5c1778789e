"""The example of a sweep runs as it stands, and its runs are those of ``banditmt play --set``."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from lambdas.registry import Registry
from lambdas.store import open_store
from learners.seed_models.catalogue import BNMT
from tests.simulator.small_task import make_competition

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.py"


def test_a_sweep_plays_a_run_for_each_choice_and_prints_the_best(tmp_path):
    make_competition(tmp_path / "made", [BNMT])
    places = [str(tmp_path / "made" / "task"), str(tmp_path / "made" / "models"), str(tmp_path / "sweep")]
    command = [sys.executable, str(EXAMPLE), *places, "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'optimiser.learning_rate': ")
    with closing(open_store(f"sqlite:{tmp_path / 'sweep' / 'store'}")) as store:
        names = {run.system for run in Registry(store).runs("dev")}
    assert len(names) == 3
    assert all(name.startswith("BNMT-EL-VALUE+") for name in names)
    again = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert again.stdout == done.stdout
