"""The study of convergence: it trains a seed model and its control, and compares their rewards."""

import re
import sys
from unittest.mock import patch

import pytest

from benchmarks.studies import convergence
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    scale = SCALES[ScaleName.DEMO].resized(dev=2_803, training=1_211, out_of_domain=300)
    return synthesise_task(tmp_path_factory.mktemp("convergence") / "task", scale, seed=1, departments=3)


def run(task, folder, *options):
    arguments = ["convergence", "--task", str(task.path), "--folder", str(folder), *options]
    with patch.object(sys, "argv", arguments):
        convergence.main()


def test_the_table_has_the_seed_model_and_its_control_and_is_printed_again_without_training(task, tmp_path, capsys):
    options = ["--size", "tiny", "--rounds", "300", "--steps", "20"]
    run(task, tmp_path, *options)
    table = capsys.readouterr().out[-1_000:]
    bnmt, control = (line.split(" | ") for line in table.splitlines() if re.match(r"\| (bnmt|control) ", line))
    assert bnmt[1] == control[1] == "20"
    assert bnmt[3].endswith("not converged: stopped at the bound")
    assert control[3].endswith("all steps taken")
    assert float(bnmt[2]) == pytest.approx(0, abs=5)
    assert re.fullmatch(r"[+-]\d\.\d{4} \([+-]\d\.\d{4} to [+-]\d\.\d{4}\) \|", control[5])
    run(task, tmp_path, *options)
    assert capsys.readouterr().out == table[table.index("| model") :]
